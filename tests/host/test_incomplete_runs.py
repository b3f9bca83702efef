# SPDX-License-Identifier: GPL-2.0
"""A run that failed, was interrupted or was not seen whole is used by no reader, and each says so."""
from __future__ import annotations

import copy
import json

import pytest

from attacks import scripts
from copyscope.records.check import check, check_complete
from copyscope.records.documents import BadRecord
from copyscope.records.run_record import Record
from copyscope.runs import plan as sweep_plans
from copyscope.runs.folder import Folder
from copyscope_studies.matrix import cells, rows, runs, table
from helpers import plans
from helpers.pictures import REAL

STATUSES = ("failed", "interrupted", "blind")
WELL = {"exit_status": 0, "signal": None, "why": None}


def ended(status: str) -> dict:
    """A run of A3 that ended so."""
    data = copy.deepcopy(REAL["A3-host"])
    killed = {"exit_status": None, "signal": 9, "why": "killed by signal 9"}
    data["experiment"]["outcome"] = {"status": status, "sender": killed if status == "failed" else WELL,
                       "reason": None if status == "complete" else "made so", "receiver": WELL}
    return data


def of_old_killed() -> dict:
    """A record of before there were outcomes, of a run whose sender was killed."""
    data = copy.deepcopy(REAL["A3-host"])
    data.pop("outcome", None)
    data["experiment"]["workload"].update(accepted_bytes=None, why="the sender ended early")
    return data


INCOMPLETE = {**{status: ended(status) for status in STATUSES}, "old": of_old_killed()}


def write(folder, *documents) -> None:
    """Puts records into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(documents):
        (folder / f"{number}.json").write_text(json.dumps({**data, "id": f"{data['id']}{number}"}))


def test_complete_and_older_runs_are_read():
    for data in (ended("complete"), REAL["A3-guest"]):
        check(data, "run.json")
        check_complete(Record(data, "run.json"))


@pytest.fixture(name="plot", scope="module")
def fixture_plot(tmp_path_factory):
    """Runs tools/plot in a fork of this process, which has loaded it."""
    scripts.load()
    place = tmp_path_factory.mktemp("place")
    return lambda *words: scripts.completed("plot", *words, place=place)


@pytest.mark.parametrize("how", INCOMPLETE)
def test_plot_refuses_a_run_that_is_named(how, tmp_path, plot):
    write(tmp_path, INCOMPLETE[how])
    done = plot(tmp_path / "0.json", "--out", tmp_path / "out")
    assert done.returncode == 2 and not (tmp_path / "out").exists()
    assert done.stderr.count("\n") == 1 and "0.json: outcome: the run is not complete" in done.stderr


def test_plot_leaves_out_and_counts_those_of_a_folder(tmp_path, plot):
    write(tmp_path / "in", *INCOMPLETE.values(), ended("complete"))
    done = plot(tmp_path / "in", "--out", tmp_path / "out")
    assert done.returncode == 0 and "4 of 5 runs are left out" in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1
    write(tmp_path / "all", *INCOMPLETE.values())
    done = plot(tmp_path / "all", "--out", tmp_path / "none")
    assert done.returncode == 2 and not (tmp_path / "none").exists()


@pytest.mark.parametrize("how", INCOMPLETE)
def test_a_cell_of_the_matrix_says_so_and_shows_no_number(how, tmp_path):
    cell = cells.Cell("veth", "A3")
    (tmp_path / f"{cell.name}.json").write_text(json.dumps(INCOMPLETE[how]))
    (tmp_path / f"{cell.name}.status").write_text("1\n")
    row = rows.row(runs.Outcome("6.12", tmp_path), cell)
    assert row.record is None and not row.fine and "not complete" in table.line(row)[-1]


@pytest.mark.parametrize("how", INCOMPLETE)
def test_a_sweep_sets_it_aside_and_makes_it_again(how, tmp_path):
    data = INCOMPLETE[how]
    work = data["experiment"]["workload"]
    plan = plans.plan([{**plans.point("p"), "arguments": [
        work["variant"], str(work["bytes"]), str(work["threads"])]}], repeats=2) | {"pass": "counted"}
    with Folder(tmp_path / "out", plan) as folder:
        for name, one in (("p.r1", data), ("p.r2", ended("complete"))):
            (folder.runs / f"{name}.json").write_text(json.dumps(one))
        assert list(folder.take_stock(sweep_plans.runs(plan))) == ["p.r2"]
        assert folder.failures() == ["p.r1"] and not (folder.runs / "p.r1.json").exists()
        failure = json.loads((folder.failed / "p.r1.json").read_text())
        assert failure["record"] == "p.r1.record"
        assert failure["stderr"].startswith("failed" if how == "old" else how)


@pytest.mark.parametrize("damage, key", [
    ({"outcome": {}}, "outcome.status"), ({"outcome": None}, "outcome"),
    ({"outcome": {"status": "fine", "reason": None}}, "outcome")])
def test_an_outcome_that_says_nothing_is_damage(damage, key):
    with pytest.raises(BadRecord, match=key):
        check({**REAL["A3-host"], "experiment": {**REAL["A3-host"]["experiment"], **damage}}, "run.json")
