# SPDX-License-Identifier: GPL-2.0
"""A sweep counts no run that other programs disturbed while its patience lasts, and then it counts all."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from copyscope.common.errors import Unusable
from copyscope.records.check import check
from copyscope.records.passes import COUNTED
from copyscope.records.run_record import Record
from copyscope.runs import launch, plan as plans, profile as profiles, quiet, sweep, tables
from helpers.pictures import made, two_passes


def run_of(others, stolen=0.0):
    """A record whose timed pass shared the CPUs so."""
    data = two_passes(made("A1-host"))
    data["experiment"]["passes"]["timed"]["cpu_shares"] = {"others": others, "stolen": stolen, "why":
                                             None if others is not None else "no /proc/stat"}
    return data


def plan_of(**options):
    """A plan of one run."""
    return plans.make(profiles.load("standard"), [64], [1], ["A1"], 0.1, 1,
                      options.pop("kernel", "host"), **options)


def record_of(data):
    """As readers see it."""
    return Record(data, Path("run.json"))


@pytest.mark.parametrize("others, most, disturbed", [
    (0.2, 0.05, True), (0.05, 0.05, False), (0.0, 0.05, False), (None, 0.05, False),
    (0.2, None, False), (1.0, 1.0, False)])
def test_a_run_is_disturbed_if_others_used_more_than_the_bound(others, most, disturbed):
    data = run_of(others)
    check(data, "run.json")
    why = quiet.disturbed(record_of(data), most)
    assert bool(why) == disturbed
    assert not why or "20.0%" in why and "5.0%" in why


def test_only_runs_that_are_timed_here_have_a_bound():
    assert plan_of()["most_others"] == plans.MOST_OTHERS
    assert plan_of(most_others=0.5)["most_others"] == 0.5
    assert plan_of(most_others=0.0)["most_others"] == 0.0
    assert "most_others" not in plan_of(kernel="6.12")
    assert "most_others" not in plan_of(passes=COUNTED)


class Machine:
    """Makes runs whose disturbance is given, and is as busy as it is told."""

    def __init__(self, monkeypatch, shares, busy=()):
        self.shares, self.busy, self.clock = list(shares), list(busy), 0.0
        monkeypatch.setattr(launch, "make", self.make)
        monkeypatch.setattr(launch, "check_built", lambda _: None)
        monkeypatch.setattr(quiet, "busy_share", self.look)
        monkeypatch.setattr(quiet.time, "monotonic", lambda: self.clock)

    def make(self, run, record, *_):
        """As launch.make."""
        data = run_of(self.shares.pop(0))
        data["experiment"]["workload"].update(variant=run.arguments[0], bytes=int(run.arguments[1]),
                                threads=int(run.arguments[2]))
        record.write_text(json.dumps(data))
        return launch.Outcome(0, "", ["build/trace_run"])

    def look(self, over_s):
        """As quiet.busy_share."""
        self.clock += over_s
        return self.busy.pop(0) if self.busy else 0.0


def test_a_disturbed_run_is_made_again_once_the_machine_is_quiet(monkeypatch, tmp_path, capfd):
    machine = Machine(monkeypatch, [0.3, 0.2, 0.01], busy=[0.9, 0.4, 0.01])
    result = sweep.conduct(tmp_path / "out", plan_of(), [], quiet=False)
    assert not result.failures and not machine.shares and not machine.busy
    kept = json.loads((tmp_path / "out/runs/A1_64B_1T.r1.json").read_text())
    assert kept["experiment"]["passes"]["timed"]["cpu_shares"]["others"] == 0.01
    told = capfd.readouterr().err
    assert told.count("it is made again") == 2 and "waiting, as other programs use 90.0%" in told
    assert "made again" in (tmp_path / "out/PROVENANCE.md").read_text()


def test_on_a_machine_that_stays_busy_the_sweep_ends_with_all_runs(monkeypatch, tmp_path, capfd):
    machine = Machine(monkeypatch, [0.3, 0.4], busy=[0.5] * 10000)
    result = sweep.conduct(tmp_path / "out", plan_of(), [], quiet=False)
    assert not result.failures and not machine.shares and machine.clock < quiet.LEAST_PATIENCE_S + 2
    told = capfd.readouterr().err
    assert "1 runs, about 1 s, and at most 1 min 00 s more" in told and "does not get quiet" in told
    assert "1 of them count, as the machine did not get quiet" in (tmp_path / "out/PROVENANCE.md").read_text()


def test_runs_that_are_disturbed_each_time_do_not_go_on_for_ever(monkeypatch, tmp_path):
    # Each look finds the machine quiet, and each run finds it busy.
    machine = Machine(monkeypatch, [0.3] * 100)
    assert not sweep.conduct(tmp_path / "out", plan_of(), [], quiet=True).failures
    assert machine.clock <= quiet.LEAST_PATIENCE_S and 100 - len(machine.shares) == quiet.LEAST_PATIENCE_S + 1


def test_provenance_says_who_else_used_the_machine():
    records = [record_of(run_of(each, 0.001)) for each in (0.01, 0.02, 0.03)]
    said = tables.others_text(plan_of(), records)
    assert "2.0% of the CPUs' time beside the run in the middle, 3.0% at most" in said
    assert "the hypervisor took 0.1%" in said and "made again" in said
    old = [record_of(made("A1-host"))]
    assert tables.others_text({"kernel": "host"}, old) == "not recorded"


@pytest.mark.parametrize("text", ["2", "-1", "a", "", "1.01", "0x1"])
def test_a_share_that_is_none_is_refused(text):
    from copyscope import sweep
    with pytest.raises((Unusable, SystemExit)):
        sweep.build_parser().parse_args(["--profile", "model", "--others-at-most", text])
