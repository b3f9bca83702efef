# SPDX-License-Identifier: GPL-2.0
"""Advice is held against runs: a wrong sign is found, and nothing else is called one."""
from __future__ import annotations

import pytest

from copyscope.common.spread import Spread
from copyscope.model.changes import Change
from copyscope.records.run_record import Point
from copyscope_studies.advised import command, truth
from copyscope_studies.advised.truth import OPEN, RIGHT, UNTOLD, WRONG, Row
from copyscope_studies.advised.workloads import GUEST, SERIES, WAYS
from helpers.pictures import as_records, made, modelled, two_passes

SERIES_LO = SERIES[0]
PAYS, COSTS, UNDECIDED = Change(-100, -150, -50), Change(100, 50, 150), Change(-10, -50, 50)
LESS, MORE, ANY = Spread(-80, -90, -70, 6), Spread(80, 70, 90, 6), Spread(-5, -30, 20, 6)


@pytest.mark.parametrize("change, measured, sign", [
    (PAYS, LESS, RIGHT), (COSTS, MORE, RIGHT), (PAYS, MORE, WRONG), (COSTS, LESS, WRONG),
    (UNDECIDED, LESS, OPEN), (UNDECIDED, MORE, OPEN), (PAYS, ANY, UNTOLD), (COSTS, ANY, UNTOLD),
    (PAYS, None, "")])
def test_a_sign_is_wrong_only_if_both_are_decided(change, measured, sign):
    assert Row(SERIES_LO, 4096, "A3-whole", change, 1000.0, measured).sign == sign


def test_errors_are_of_the_change_and_of_the_message():
    row = Row(SERIES_LO, 4096, "A3-whole", COSTS, 1000.0, MORE)
    assert row.error == pytest.approx(0.25) and row.error_of_whole == pytest.approx(1100 / 1080 - 1)
    said = " ".join(truth.summary([row, Row(SERIES_LO, 4096, "sendfile", PAYS, 1000.0, MORE)]))
    assert "2 pieces of advice: 1 with the right sign, 1 with a wrong one" in said
    assert "| +25% | right |" in "\n".join(truth.page([row]))
    assert truth.table([row]).splitlines()[1].endswith("0.250,0.019,right")


def test_rounds_are_paired_by_the_task_clocks_of_both_ends():
    records = []
    for variant, ms in (("A1-plain", 2), ("A3-whole", 5)):
        for repeat in range(1, 7):
            data = made("A1-host", workload__variant=variant, workload__bytes=4096,
                        workload__messages=1000)
            for end in ("sender", "receiver"):
                data["experiment"]["counters"][end]["task-clock"] = {
                    "value": ms * 10**6 + repeat, "why": None, "scaled": False}
            records += as_records([data])
            records[-1].point = truth_point(variant, repeat)
    rows = [Row(SERIES_LO, 4096, "A3-whole", COSTS)]
    found, = truth.found(rows, SERIES_LO, records)
    assert found.measured.middle == pytest.approx(6000) and found.measured.n == 6
    assert found.sign == RIGHT


def test_of_what_else_a_guest_does_softirqs_are_a_messages_and_its_idle_loop_is_not():
    data = modelled(two_passes(made("A1-host")))
    # 70,000 instructions in each of three contexts of both ends, and in the softirqs of others.
    record, = as_records([data])
    assert truth.message_cost(record, GUEST) == pytest.approx(7 * 70_000 / record.times.messages)


def truth_point(label, repeat):
    """The point of a run."""
    return Point(f"{label}_4096B_1T", label, 4096, 1, repeat, "none", "corrected")


def test_there_are_workloads_enough():
    assert sum(len(each.sizes) for each in SERIES) * len(WAYS) >= 12
    assert {each.path for each in SERIES} == {"lo", "veth", "nic"}
    assert {each.pattern for each in SERIES} == {"stream", "rr"}
    sizes = [size for each in SERIES for size in each.sizes]
    assert (min(sizes), max(sizes)) == (64, 1 << 20)


def test_bad_words_are_one_line_and_status_2(capsys):
    assert command.main(["--only", "moon", "--out", "x"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
