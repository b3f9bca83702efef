# SPDX-License-Identifier: GPL-2.0
"""A sweep ends in ratios of runs of the same round, told in a table and in sentences."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from copyscope import sweep
from copyscope.common.errors import Unusable
from copyscope.common.outcomes import ALIKE, UNDECIDED
from copyscope.common.tables import VARIANTS, call_of, named
from copyscope.files.output_folder import OutputFolder
from copyscope.records.run_record import Point, Record
from copyscope.runs import answer, pairs, plan as plans, tables
from helpers import plans as made_plans
from helpers.pictures import made, two_passes

FOLDER = Path("results/mine")
# How much faster the machine was in each round: a drift of all variants alike.
DRIFT = (1.0, 0.7, 1.4, 0.9, 2.0, 1.1)


def records_of(gbps: dict[tuple[str, int], tuple[float, ...]], kinds=("timed", "counted")):
    """A plan and its records: by label and size, what each round reached."""
    points, found = [], []
    for (label, size), rounds in gbps.items():
        name = f"{label}_{size}B_1T"
        points.append(made_plans.point(name, label, size))
        for number, value in enumerate(rounds, 1):
            data = two_passes(made(workload__variant=label, workload__bytes=size), kinds=kinds)
            data["experiment"]["passes"][kinds[0]]["throughput_gbps"] = value
            found.append(Record(data, Path(f"{name}.r{number}.json"), Point(
                name, label, size, 1, number, "mine", "corrected")))
    return made_plans.plan(points, 6), found


def drifting(*ratios: float) -> tuple[float, ...]:
    """Rounds of the drift, each times one of these ratios."""
    return tuple(drift * ratio for drift, ratio in zip(DRIFT, ratios))


def lines_of(plan, found) -> list[str]:
    """The whole answer of these records."""
    return answer.lines(plan, found, pairs.paired(plan, found), FOLDER, "")


def said(gbps, **more) -> str:
    """The whole answer on one line."""
    plan, found = records_of(gbps, **more)
    return " ".join(" ".join(lines_of(plan, found)).split())


SIX = {("A1", 64): drifting(*[1.0] * 6), ("A2", 64): drifting(1.31, 1.24, 1.38, 1.31, 1.3, 1.32),
       ("A1", 65536): drifting(*[1.0] * 6), ("A2", 65536): drifting(1.1, .98, 1.02, .97, 1.0, 1.01)}


def test_rounds_are_paired_so_that_a_drift_of_the_machine_is_no_difference():
    plan, found = records_of(SIX)
    by_size = {pair.size: pair for pair in pairs.paired(plan, found) if pair.ratio}
    assert (by_size[64].ratio.low, by_size[64].ratio.high) == pytest.approx((1.24, 1.38))
    assert by_size[64].verdict == pairs.FASTER and by_size[65536].verdict == UNDECIDED
    # By themselves their ranges overlap.
    alone = {pair.label: pair.gbps for pair in pairs.paired(plan, found) if pair.size == 64}
    assert alone["A1"].high > alone["A2"].low


def test_the_answer_reads_as_a_sentence():
    text = said(SIX)
    assert "A2 is 1.31 times (1.24 to 1.38) as fast as A1 at 64 B; undecided at 64 KiB." in text
    assert "A2, sendmsg()" in text and "95% interval" in text and "n = 6" in text
    assert re.search(r"where A1, send\(\) 2\.00 +\d+\.\d late_copy 1\.00, rx_copy 1\.00 A2, ", text), text
    assert "At least so many, as reshape was not measured: no tracepoint sees it." in text
    assert "throughput_gbps-by-size: ./tools/plot results/mine --out results/mine/figures" in text


def test_only_what_is_near_enough_is_alike_and_the_rest_says_what_would_decide_it():
    same = {**SIX, ("A2", 65536): drifting(1.01, .99, 1.0, 1.02, 1.0, 1.01)}
    plan, found = records_of(same)
    assert {pair.size: pair.verdict for pair in pairs.paired(plan, found) if pair.ratio} == {64: pairs.FASTER, 65536: ALIKE}
    assert "; alike at 64 KiB." in said(same) and "would decide" not in said(same)
    wide = {**SIX, ("A2", 65536): drifting(1.1, .6, 1.3, 1.04, 1.2, 1.4)}
    assert "; undecided at 64 KiB." in said(wide) and re.search(r"About --repeats \d+ would decide", said(wide))


def test_its_lines_fit_80_columns():
    plan, found = records_of(SIX)
    assert max(map(len, lines_of(plan, found))) <= 80


def test_few_rounds_are_a_range_and_one_is_no_interval():
    few = {key: rounds[:3] for key, rounds in SIX.items()}
    assert "too few for 95%" in said(few) and "--repeats 6 is the fewest" in said(few)
    one = said({key: rounds[:1] for key, rounds in SIX.items()})
    assert "A2 is 1.31 times as fast as A1 at 64 B, 1.10 times at 64 KiB." in one
    slow = said({("A1", 64): (1.4,), ("A2", 64): (.2,), ("A1", 4096): (1.0,), ("A2", 4096): (2.0,)})
    assert "A2 is 7.00 times as slow as A1 at 64 B, 2.00 times as fast as A1 at 4 KiB." in slow
    assert "no error bars" in one and "no difference" not in one


def test_a_round_that_lacks_one_of_two_runs_pairs_nothing():
    plan, found = records_of(SIX)
    kept = [each for each in found if not (each.label == "A2" and each.point.repeat < 5)]
    assert {pair.ratio.n for pair in pairs.paired(plan, kept) if pair.ratio} == {2}
    plan, lone = records_of({("A1", 64): (1.0, 1.0)})
    assert all(pair.ratio is None for pair in pairs.paired(plan, lone))
    assert not pairs.rows(pairs.paired(plan, lone))


def test_times_with_probes_or_of_an_emulator_compare_nothing():
    text = said(SIX, kinds=("counted",))
    assert "latency are not compared: they were timed with probes" in text and "times A1" not in text
    plan, found = records_of(SIX)
    found[0].data["experiment"]["timing"].update(comparable=False, why="times of an emulated machine mean nothing")
    assert not pairs.paired(plan, found)
    assert "emulated" in " ".join(lines_of(plan, found))
    assert "no run succeeded" in " ".join(lines_of(plan, []))


def test_pairs_are_a_table_beside_the_others(tmp_path):
    plan, found = records_of(SIX)
    with OutputFolder.at(tmp_path) as folder:
        assert pairs.FILE in tables.write_all(folder, plan, found, pairs.paired(plan, found))
    head, first, _ = (tmp_path / pairs.FILE).read_text().splitlines()
    assert head == ",".join(pairs.HEAD)
    assert first.startswith("A2,A1,64,1,6,") and first.endswith(
        ",1.31,1.24,1.38,95 % interval of the median,faster")


def profile_of(*words):
    """What a profile would say of a sweep's words."""
    return sweep.profile_of(sweep.build_parser().parse_args(list(words)))


def test_a_plan_of_words_is_a_plan():
    profile = profile_of("--variants", "A3-unreaped,A1", "--sizes", "64,4k", "--path", "lo", "--pattern", "rr")
    plan = plans.make(profile, None, [1, 2], None, None, 6, "host")
    words = [each["arguments"] for each in plan["points"]]
    assert len(words) == 8 and words[0] == ["A3-unreaped", "64", "1", "--path", "lo", "--pattern",
                                           "rr", "--receiver", "recv"]
    assert plan["points"][0]["label"] == "A3-unreaped" and plan["title"].startswith("A3-unreaped and A1")


def test_a_folder_that_nobody_named_is_new_and_dated(tmp_path, monkeypatch):
    monkeypatch.setenv("COPYSCOPE_RUNS", str(tmp_path))
    monkeypatch.setattr(sweep, "now_utc", lambda: "2026-11-22T17:06:20Z")
    for name in ("20261122T170620-sweep", "20261122T170620-sweep-2"):
        folder = sweep.new_folder()
        assert folder == tmp_path / name
        folder.mkdir()


@pytest.mark.parametrize("names, meant", [
    (["a3"], "did you mean A3?"), (["A1-plian"], "did you mean A1-plain?"), (["A9x"], "there is A1, A1-plain"),
    (["A1", "A1"], "twice"), ([], "--variants A1,A2,A3")])
def test_a_variant_that_there_is_not_is_refused(names, meant):
    with pytest.raises(Unusable) as caught:
        profile_of(*(["--variants", ",".join(names)] if names else []))
    assert meant in str(caught.value)


def test_every_variant_has_a_call_beside_its_name():
    assert named("A3", "A3") == "A3, MSG_ZEROCOPY" and named("ZeroCopy", "A3-reuse") == \
        "ZeroCopy, MSG_ZEROCOPY"
    assert named("A1", "A1") == "A1, send()" and call_of("A3-unset").endswith("without SO_ZEROCOPY")
    assert all(map(call_of, VARIANTS)) and named("mine", "no such") == "mine"
