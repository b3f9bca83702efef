# SPDX-License-Identifier: GPL-2.0
"""What turns decide, on turns that are made up: three outcomes, what decides the rest, and how often an interval is
wrong."""
from __future__ import annotations

import json
import math
import random
from statistics import median
from types import SimpleNamespace

import pytest

from copyscope.alternate import command
from copyscope.common.outcomes import ALIKE, COSTS, PAYS, UNDECIDED, answer, inverse, sharp
from copyscope.common.spread import Spread, spread
from copyscope.records import turns
from copyscope.report import alternation
from copyscope.runs import alternation as runs, alternation_document as document
from helpers import schemas
from helpers.records import ROOT

SCHEMA = ROOT / "docs" / "alternation.schema.json"
# As turns scatter on a machine of two processors at load 13, within a start and between starts.
WITHIN, BETWEEN = 0.11, 0.01


def made_start(chance, true, pairs=100, within=WITHIN, between=BETWEEN, asked_ms=3):
    """A start of two variants: the second takes `true` times as much as the first, but for what this start has of its
    own, and what each turn has; one in twenty was interrupted."""
    own = true * math.exp(chance.gauss(0, between))
    columns = {key: [] for key in ("way", "wall_ns", "sender_ns", "receiver_ns", "machine_ns", "ksoftirqd_ns", "lost_bytes")}
    for _ in range(pairs):
        common = math.exp(chance.gauss(0, 0.3))
        for way in chance.sample((0, 1), 2):
            ns = 3e6 * common * (own if way else 1) * math.exp(chance.gauss(0, within))
            if chance.random() < 0.05:
                ns *= 3
            for key, value in (("way", way), ("wall_ns", ns), ("sender_ns", ns * 0.6), ("receiver_ns", ns * 0.4),
                               ("machine_ns", 10_000_000 * (chance.random() < ns / 1e7)), ("ksoftirqd_ns", 0),
                               ("lost_bytes", 0)):
                columns[key].append(int(value))
    return {"variants": ["A1", "A3"], "asked_ms": asked_ms, "block_bytes": 1 << 20, "why": None, **columns}


def ratio_of(chance, true, starts=6, **more):
    """The ratio of processor time over some starts."""
    return turns.over_starts([made_start(chance, true, **more) for _ in range(starts)], 1, turns.processor_ns)


@pytest.mark.parametrize("low, middle, high, outcome", [
    (0.5, 0.6, 0.7, PAYS), (0.9, 0.95, 0.999, PAYS), (1.2, 1.4, 1.5, COSTS), (1.01, 1.1, 1.2, COSTS),
    (0.98, 1.0, 1.02, ALIKE), (1.001, 1.01, 1.029, ALIKE), (0.972, 0.98, 0.99, ALIKE),
    (0.9, 1.0, 1.1, UNDECIDED), (0.225, 1.04, 2.69, UNDECIDED), (0.96, 1.0, 1.01, UNDECIDED)])
def test_an_interval_decides_in_one_of_three_ways_or_is_undecided(low, middle, high, outcome):
    found = answer(Spread(middle, low, high, 6))
    assert found.outcome == outcome and bool(found.why) == (outcome == UNDECIDED)
    # Told the other way round, as throughput, it decides the opposite.
    opposite = {PAYS: COSTS, COSTS: PAYS}.get(outcome, outcome)
    assert answer(inverse(Spread(middle, low, high, 6))).outcome == opposite


def test_what_is_undecided_says_what_would_decide_it():
    # It reaches twice as far as 1 is away: four times as many.
    assert answer(Spread(1.1, 0.9, 1.2, 6)).more == 18
    # Whichever comes first: alike.
    assert answer(Spread(1.001, 0.96, 1.041, 6)).more == 6
    assert answer(Spread(1.0001, 0.2, 4, 6)).more is None
    assert answer(Spread(0.5, 0.4, 0.6, 4)).more == 2


def asked_of(least, most):
    """What asks for so many starts."""
    return runs.Asked("A1,A3", (), least, most, 1.0, (1, 3))


def answered(chance, true, least=6, most=30):
    """The ratio after as many starts as an alternation makes of it."""
    starts = []
    while not runs.enough(starts, asked_of(least, most)):
        starts.append(Told(made_start(chance, true)))
    return turns.over_starts([each.start for each in starts], 1, turns.processor_ns)


@pytest.mark.parametrize("true, outcome", [(1, ALIKE), (0.9, PAYS)])
def test_of_a_hundred_answers_95_are_right_and_none_is_the_opposite(true, outcome):
    """A beside A is alike."""
    chance = random.Random(43)
    found = [answer(answered(chance, true)) for _ in range(100)]
    outcomes = [each.outcome for each in found]
    assert outcomes.count(outcome) >= 95
    assert set(outcomes) <= {outcome, UNDECIDED} | ({COSTS, PAYS} if outcome == ALIKE else set())
    assert all(each.more for each in found if each.outcome == UNDECIDED)


@pytest.mark.parametrize("least, most", [(6, 6), (6, 30), (12, 12)])
def test_of_twenty_intervals_18_cover_the_grand_median(least, most):
    chance = random.Random(44)
    found = [answered(chance, 1.4, least, most) for _ in range(20)]
    grand = median(each.middle for each in found)
    assert sum(each.low <= grand <= each.high for each in found) >= 18


def test_an_interval_is_sharp_if_it_decides_or_tells_much_more_than_its_width():
    assert sharp(Spread(1, 0.99, 1.015, 6)) and not sharp(Spread(1, 0.95, 1.05, 6))
    assert sharp(Spread(1.9, 1.8, 2.0, 6)) and not sharp(Spread(1.05, 1.01, 1.1, 6))


def test_rounds_alone_would_be_overconfident():
    """The interval over all rounds of one start leaves the truth out more often than it may: so it is over starts."""
    chance = random.Random(44)
    missed = 0
    for _ in range(20):
        rounds = spread(turns.ratios(made_start(chance, 1.4, between=0.05), 1, turns.processor_ns))
        missed += not rounds.low <= 1.4 <= rounds.high
    assert missed >= 6


def test_a_round_that_lost_datagrams_is_left_out():
    start = made_start(random.Random(1), 1.2, pairs=10)
    start["lost_bytes"][3] = 8192
    assert len(turns.rounds(start)) == 9
    assert all(3 not in each and 2 not in each for each in turns.rounds(start))


def test_ticks_are_summed_and_unknown_ones_stay_unknown():
    chance = random.Random(2)
    starts = [made_start(chance, 1.5, pairs=400) for _ in range(6)]
    assert 1.2 < turns.machine_over_starts(starts, 1).middle < 1.9
    assert turns.machine_over_starts([*starts, {**starts[0], "machine_ns": None}], 1) is None
    # What threads of the kernel did counts where it is known.
    assert turns.processor_ns({**starts[0], "ksoftirqd_ns": None}, 0) == turns.processor_ns(starts[0], 0)


class Told:
    """A record of a start, as far as a document asks for it."""

    def __init__(self, start):
        self.data = {"tool": {"version": "1"}, "machine": {"kernel": "6.12"}}
        self.id, self.bytes, self.threads, self.asked_s = "20261127T000000", 65536, 1, 1.0
        self.times = type("Times", (), {"others_share": 0.5})
        self.start, self.cpus = start, None

    def at(self, key):
        return {"experiment.alternation": self.start, "experiment.path": {"kind": "lo"}}[key]

    def workload(self, key):
        return self.cpus if key == "cpus" else "recv"


def document_of(true, starts=6, **more):
    """The document of such starts, of which every other one had longer turns."""
    chance = random.Random(5)
    made = document.Made([Told(made_start(chance, true, asked_ms=(3, 9)[number % 2], **more)) for number in range(starts)],
                         {"A1": "no probes here", "A3": "no probes here"}, 1.5)
    return document.document(made, "2026-11-27T20:00:00Z", ["./tools/trace_run", "--alternate", "A1,A3", "64k", "1"])


def test_the_document_is_by_its_schema_and_the_report_says_what_it_decides():
    data = json.loads(json.dumps(document_of(1.4)))
    assert not schemas.faults(SCHEMA, data)
    text = " ".join("\n".join(alternation.lines(data)).split())
    assert data["comparisons"][0]["processor_time"]["outcome"] == COSTS
    assert "A1 and A3 in turns: 64 KiB, 1 connection, to recv, path lo, kernel 6.12" in text
    assert  "Copies of A1 and A3 are not counted: no probes here" in text


def test_a_report_of_what_is_undecided_gives_reason_and_time():
    data = document_of(1.04, between=0.06)
    found = data["comparisons"][0]["processor_time"]
    assert found["outcome"] == UNDECIDED and found["more_s"] == math.ceil(found["more_starts"] * 1.5)
    text = " ".join(" ".join(alternation.lines(data)).split())
    assert f"(--starts {6 + found['more_starts']})" in text and "no difference" not in text


def test_two_starts_decide_nothing():
    data = document_of(1.4, starts=2)
    found = data["comparisons"][0]["processor_time"]
    assert found["outcome"] == UNDECIDED and found["more_starts"] == 4 and "2 repeats give no" in found["why"]


def test_an_answer_that_moves_with_the_length_of_turns_is_told():
    data = document_of(1.4)
    longer = data["comparisons"][0]["processor_time"]["by_length"][1]["ratio"]

    def tells():
        return "moves with the length of turns" in " ".join(" ".join(alternation.lines(data)).split())
    # A median that lies elsewhere is no news where the starts of both lengths reach as far.
    longer |= {"median": longer["median"] * 1.1, "low": 1.0, "high": 2.0}
    assert not tells()
    longer |= {"median": 1.8, "low": 1.7}
    assert tells()


def test_an_answer_that_moves_with_where_both_ends_run_is_told():
    data = document_of(1.2)
    together, apart = ({"ends": ends, "ratio": {"median": at, "low": at, "high": at, "n": 3}}
                       for ends, at in (("together", 1.1), ("apart", 1.3)))
    data["comparisons"][0]["processor_time"]["by_place"] = [together, apart]
    assert not schemas.faults(SCHEMA, json.loads(json.dumps(data)))
    assert "moves with where both ends run: +10 % (+10 to +10) on one processor and +30 % (+30 to +30) on two." in \
        " ".join(" ".join(alternation.lines(data)).split())


def test_starts_are_apart_in_time(monkeypatch):
    now, began = [0.0], []

    def one(_asked, _number):
        began.append(now[0])
        now[0] += 1
        return Told(made_start(random.Random(len(began)), 1.4))
    monkeypatch.setattr(runs, "start", one)
    monkeypatch.setattr(runs.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(runs.time, "sleep", lambda s: now.__setitem__(0, now[0] + s))
    runs.make_starts(runs.Asked("A1,A3", (), 3, 3, 1.0, (1, 3), every_s=4), lambda _: None)
    runs.make_starts(runs.Asked("A1,A3", (), 2, 2, 1.0, (1, 3)), lambda _: None)
    assert began == [0, 4, 8, 9, 10]


@pytest.mark.parametrize("size, blocks", [(65536, [2, 2, 6]), (262144, [20, 20, 40])])
def test_blocks_of_large_messages_are_long(monkeypatch, size, blocks):
    made = []

    def run(_name, words, seconds):
        made.append((int(words[words.index("--block") + 1]), seconds))
        return SimpleNamespace(bytes=size, at=lambda _key: False)
    monkeypatch.setattr(runs, "run", run)
    monkeypatch.setattr(runs, "check_complete", lambda _record: None)
    runs.make_starts(runs.Asked("A1,A3", ("--ipv6", str(size), "1"), 3, 3, 1.0), lambda _: None)
    assert made == [(2, runs.LEAST_S), *((block, 1.0) for block in blocks)]


def test_words_of_each_run_are_passed_on_and_others_are_not():
    options, rest = command.build_parser().parse_known_args(
        ["--alternate", "A1,A3", "64k", "--starts", "7", "1", "--path", "lo", "--json=-", "--pass", "timed", "-q"])
    assert (options.starts, options.json, options.alternate) == (7, "-", "A1,A3")
    assert rest == ["64k", "1", "--path", "lo"]
