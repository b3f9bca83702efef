# SPDX-License-Identifier: GPL-2.0
"""A search for a crossover finds it, says none where there is none, never more than it knows."""
from __future__ import annotations

import random
from itertools import count

import pytest

from copyscope.common.outcomes import spans
from copyscope.common.spread import Spread, spread
from copyscope.common.tables import VARIANTS
from copyscope_studies.crossover import command
from copyscope_studies.crossover.answer import sentence, what_decides, wide_sizes, width_text
from copyscope_studies.crossover.runs import Effort, Pairs, Side, Workload
from copyscope_studies.crossover.search import (
    ALIKE,
    FIRST,
    SECOND,
    UNDECIDED,
    Found,
    TimeUp,
    most_sizes,
    pairs_to_decide,
    search,
    verdict,
)

LOW, HIGH, NEAR = 64, 1 << 20, 1.1
NAMES, WHERE = ("A1", "A2"), "path lo, 1 connection"


def from_size(size: int, below=FIRST, above=SECOND):
    """A judge of which the winner changes at a size."""
    return lambda at: above if at >= size else below


@pytest.mark.parametrize("nearness", [1.01, 1.1, 2.0])
def test_a_crossover_anywhere_is_enclosed_as_closely_as_asked(nearness):
    chosen = random.Random(23)
    for _ in range(100):
        at = int(LOW * (HIGH / LOW) ** chosen.random()) + 1
        found = search(from_size(at), LOW, HIGH, nearness)
        assert (found.kind, found.below, found.above) == ("crossover", FIRST, SECOND)
        assert found.low < at <= found.high
        assert found.high <= found.low * nearness or found.high - found.low <= 16
        assert not found.undecided and not found.contrary


def judged_by(judge, low=LOW, high=HIGH):
    """What a search found, and the winner at each size that it looked at."""
    seen = {}

    def noted(size):
        seen[size] = judge(size)
        return seen[size]
    return search(noted, low, high, NEAR), seen


def said_of(judge):
    """The sentence of a search."""
    found, seen = judged_by(judge)
    return sentence(seen, NAMES, WHERE, found.time_up, "processor time")


def test_no_size_is_judged_twice():
    seen = []

    def judge(size):
        seen.append(size)
        return SECOND if size >= 5000 else FIRST
    search(judge, LOW, HIGH, NEAR)
    assert len(seen) == len(set(seen)) < 30


@pytest.mark.parametrize("winner", [FIRST, SECOND])
def test_where_one_side_always_wins_there_is_none(winner):
    found = search(lambda _: winner, LOW, HIGH, NEAR)
    assert found == Found("none", winner, winner, LOW, HIGH)


def test_none_names_the_sizes_that_are_undecided():
    found = search(lambda size: FIRST if size in (LOW, HIGH) else UNDECIDED, LOW, HIGH, NEAR)
    assert (found.kind, found.below, len(found.undecided)) == ("none", FIRST, 3)


@pytest.mark.parametrize("end", [LOW, HIGH])
def test_an_end_that_is_undecided_leaves_the_answer_open(end):
    found = search(lambda size: UNDECIDED if size == end else FIRST, LOW, HIGH, NEAR)
    assert (found.kind, found.below, found.undecided) == ("undecided", FIRST, (end,))
    assert f"is undecided at {end}" in said_of(lambda size: UNDECIDED if size == end else FIRST)


def test_nothing_decided_is_undecided_and_not_none():
    assert search(lambda _: UNDECIDED, LOW, HIGH, NEAR).kind == "undecided"


def test_an_undecided_band_is_the_interval():
    def judge(size):
        return FIRST if size < 1000 else SECOND if size > 9000 else UNDECIDED
    found = search(judge, LOW, HIGH, NEAR)
    assert found.kind == "crossover" and found.undecided
    assert 1000 / NEAR - 8 <= found.low < 1000 and 9000 < found.high <= 9000 * NEAR + 8


def test_a_win_that_is_taken_back_is_told():
    def judge(size):
        return SECOND if 2000 <= size < 400_000 else FIRST
    found, seen = judged_by(judge)
    assert found.low < 2000 <= found.high and HIGH in found.contrary and min(found.contrary) >= 400_000
    # How far it pays is enclosed as closely as from where.
    assert found.top < 400_000 <= min(size for size in seen if size > found.top) <= found.top * NEAR + 8
    assert f"it pays from {found.high} to {found.top}, costs from 64 to {found.low} and from " in said_of(judge)


def test_a_win_is_told_only_as_far_as_it_was_measured():
    """As sendfile over lo: it wins from 64 KiB to 128 KiB, and at 1 MiB nobody knows."""
    def judge(size):
        return FIRST if size < 65536 else SECOND if size < 300_000 else UNDECIDED
    found = search(judge, LOW, HIGH, NEAR)
    assert found.kind == "crossover" and found.low < 65536 <= found.high <= found.top < 300_000
    assert HIGH in found.open and all(size > found.top for size in found.open)
    said = said_of(judge)
    assert f"it pays from {found.high} to {found.top}, costs from 64 to {found.low}, is undecided from" in said
    whole = search(from_size(65536), LOW, HIGH, NEAR)
    assert whole.top == HIGH and not whole.open


@pytest.mark.parametrize("judge, says", [
    (lambda _: SECOND, "A2 always pays in place of A1, 64 to 1048576 bytes on path lo, 1 connection, by processor time"),
    (lambda _: FIRST, "A2 never pays in place of A1, 64 to 1048576 bytes on path lo, 1 connection, by processor time"),
    (lambda _: ALIKE, "A2 is like A1, 64 to 1048576 bytes on path lo, 1 connection, by processor time"),
    (lambda size: FIRST if size < 9000 else ALIKE, "A2 never pays in place of A1, 64 to 1048576 bytes on path lo, "
     "1 connection, by processor time: it costs from 64 to 8192, is like it from 92680 to 1048576")])
def test_always_never_and_alike_are_answers(judge, says):
    assert said_of(judge) == says
    found = judged_by(judge)[0]
    assert found.kind == "none" and bool(found.alike) == ("like" in says)


def test_sizes_that_are_alike_end_what_pays_and_are_not_undecided():
    found, seen = judged_by(lambda size: FIRST if size < 1000 else SECOND if size < 9000 else ALIKE)
    assert found.kind == "crossover" and found.low < 1000 <= found.high and found.top < 9000 and not found.open
    assert HIGH in found.alike and not found.contrary
    assert spans(seen, SECOND) == [(found.high, found.top)]


def test_ends_that_are_undecided_do_not_hide_a_crossover():
    def judge(size):
        return UNDECIDED if size in (LOW, HIGH) else from_size(5000)(size)
    found = search(judge, LOW, HIGH, NEAR)
    assert found.kind == "crossover" and found.low < 5000 <= found.high


@pytest.mark.parametrize("nearness", [1.005, 1.1, 4.0])
def test_a_search_judges_no_more_sizes_than_it_says(nearness):
    chosen = random.Random(23)
    for _ in range(300):
        low, high = sorted(LOW * (HIGH / LOW) ** chosen.random() for _ in range(2))
        seen = []

        def judge(size, low=low, high=high, seen=seen):
            seen.append(size)
            return FIRST if size < low else SECOND if size > high else UNDECIDED
        search(judge, LOW, HIGH, nearness)
        assert len(seen) <= most_sizes(LOW, HIGH, nearness)


@pytest.mark.parametrize("looks", range(9))
def test_when_the_time_is_up_what_was_judged_is_the_answer(looks):
    seen = []

    def judge(size):
        if len(seen) == looks:
            raise TimeUp
        seen.append(size)
        return from_size(5000)(size)
    found = search(judge, LOW, HIGH, NEAR)
    sooner, later = [size for size in seen if size < 5000], [size for size in seen if size >= 5000]
    if sooner and later:
        assert (found.kind, found.low, found.high) == ("crossover", max(sooner), min(later))
    else:
        assert (found.kind, found.low, found.high) == ("undecided", LOW, HIGH)
    assert found.time_up
    assert not seen or sentence(dict.fromkeys(seen, FIRST), NAMES, WHERE, True, "time").endswith(
        "its time was up before it looked at more sizes")


@pytest.mark.parametrize("ratio, more", [
    (Spread(0.75, 0.5, 1.25, 8), 24), (Spread(1.25, 0.75, 1.5, 8), 24), (Spread(1.0, 0.9, 1.1, 8), None),
    (Spread(0.999, 0.9, 1.1, 8), None), (Spread(0.75, 0.5, 1.0, 8), 1)])
def test_pairs_that_would_decide_follow_from_the_root_of_their_number(ratio, more):
    assert pairs_to_decide(ratio, 1000) == more


def test_the_sentence_says_how_many_more_pairs_would_decide():
    said = what_decides({64: {"more_pairs": 24}, 96: {"more_pairs": 7}, 128: {"more_pairs": None}, 256: {}},
                        {64: UNDECIDED, 96: UNDECIDED, 128: UNDECIDED, 256: FIRST}, "pairs")
    assert said == "; about so many more pairs would decide: 24 at 64, 7 at 96 (--repeats); " \
                   "not even 1000 pairs would decide at 128"


@pytest.mark.parametrize("ratios, winner", [
    ([0.8, 0.9, 0.85, 0.7, 0.99, 0.95], FIRST), ([1.2, 1.1, 1.3, 1.4, 1.01, 1.5], SECOND), ([0.99, 1.01] * 3, ALIKE),
    ([0.8, 0.9, 0.85, 0.7, 0.99, 1.05], UNDECIDED), ([0.5] * 5, UNDECIDED)])
def test_a_verdict_needs_an_interval_that_leaves_out_one(ratios, winner):
    assert verdict(spread(ratios)) == winner


def pairs_of(effort: Effort, scatter: float) -> tuple[Pairs, list[str]]:
    """Pairs of a first side that takes 0.5 of second's time, or more by up to a share of it."""
    said: list[str] = []
    sides = (Side("first", "A1"), Side("second", "A2"))
    pairs, turns = Pairs(sides, Workload("lo", 8, 0.3, "stream"), effort, said.append, 60.0), count()
    pairs.time_ns = lambda side, _: 1000.0 if side is sides[1] else \
        500.0 * (1 + scatter * (next(turns) % 6) / 5)
    return pairs, said


@pytest.mark.parametrize("scatter, most, made, reached", [
    (0.05, 40, 8, True), (0.5, 40, 40, False), (0.5, 8, 8, False), (0.5, 15, 8, False)])
def test_pairs_are_made_until_the_interval_is_narrow_or_told_to_be_wide(scatter, most, made, reached):
    pairs, said = pairs_of(Effort(8, most, 0.1), scatter)
    assert pairs.judge(64) == FIRST
    found = pairs.sizes[64]
    assert (found["pairs"], len(found["first_ns"]), found["width_reached"]) == (made, made, reached)
    assert ("wide after" in said[0]) != reached and (found["width"] <= 0.1) == reached
    assert wide_sizes(pairs) == ([] if reached else [64])


def test_the_answer_names_sizes_whose_interval_stayed_wide():
    pairs, _ = pairs_of(Effort(8, 8, 0.1), 0)
    assert width_text([], pairs) == ""
    assert "of 10 % is wider than wanted at 64, 512 bytes" in width_text([64, 512], pairs)


BAD = {
    "no variant": "", "one variant": "A1", "three variants": "A1 A2 A3", "unknown": "A1 A9",
    "itself": "A2 A2", "low above high": "A1 A2 --low 4k --high 64", "low 4": "A1 A2 --low 4",
    "high above the limit": "A1 A2 --high 65M", "nearness 1": "A1 A2 --nearness 1",
    "nearness nan": "A1 A2 --nearness nan", "too few pairs": "A1 A2 --repeats 5",
    "pairs without end": "A1 A2 --repeats 1001", "fewer at most": "A1 A2 --most-repeats 7",
    "too many at most": "A1 A2 --most-repeats 1001", "interval 2": "A1 A2 --interval 2", "threads 0": "A1 A2 --threads 0",
    "threads above the limit": "A1 A2 --threads 1025", "seconds 0": "A1 A2 --seconds 0",
    "seconds nan": "A1 A2 --seconds nan", "unknown path": "A1 A2 --path tunnel",
    "path of two hosts": "A1 A2 --path peer", "host of no peer": "A1 A2 --host lab2",
    "cards not named": "A1 A2 --path nic", "unknown option": "A1 A2 --fast",
    "record into no folder": "A1 A2 --json /nowhere/x.json",
    "record instead of a folder": "A1 A2 --json /", "record of no name": "A1 A2 --json=",
    "baseline that is none": "A1 A2 --baseline /nowhere/x.json",
    "by what is no quantity": "A1 A2 --by speed",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_usage_is_one_line_and_status_2(name, capsys, monkeypatch):
    monkeypatch.setattr(command.launch, "make", lambda *_: pytest.fail("something was run"))
    assert command.main(BAD[name].split()) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith("crossover: ")
    # The one word that is not known is beside all names that are.
    assert shown.err.count("\n") == 1 and len(shown.err) < 250 + len(" ".join(VARIANTS)) * (name == "unknown")


def test_without_root_it_says_what_to_type(capsys, monkeypatch):
    monkeypatch.setattr(command.launch.os, "geteuid", lambda: 65534)
    monkeypatch.setattr(command.launch.sys, "argv", ["./tools/crossover"])
    assert command.main(["A1", "A2"]) == 3
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1 and "sudo ./tools/crossover" in shown
