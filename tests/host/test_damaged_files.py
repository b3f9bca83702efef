# SPDX-License-Identifier: GPL-2.0
"""Hundreds of damaged records and plans: each reader refuses in one line that names the file."""
from __future__ import annotations

import json

import pytest

from copyscope.common.errors import CommandError
from copyscope.model.costs import Costs
from copyscope.model.terms import Fit, predict
from copyscope.records.load import load_record, load_sweep
from copyscope.records.run_record import Point
from copyscope.runs import tables
from copyscope_studies.baseline import command as baseline
from helpers import baselines, damage, plans
from helpers.pictures import DATA, REAL

SEED, COUNT = 9, 60
BASELINE = json.loads((DATA / "baseline-host.json").read_text())
PLAN = plans.plan([plans.point("p")], figures_of="first")
PLAN["tables"] = [{"file": "t.csv", "columns": [[each, each] for each in (
    "label", "throughput_gbps", "latency_us", "total_bytes", "duration_s", "cycles")]}]


class Nowhere:
    """A folder that takes what a sweep writes; it must be text that can be written."""

    path = "nowhere"

    @staticmethod
    def write(_: str, text: str) -> None:
        """Take a file."""
        text.encode("utf-8")


def use_run(file) -> None:
    """What a sweep does with a record."""
    record = load_record(file, Point("p", "A3", 4096, 1, 1, "mine", "corrected", True))
    tables.write_all(Nowhere, PLAN, [record, record], [])
    tables.write_provenance(Nowhere, PLAN, [record], {}, ["--out", "x"], [])


def use_plan(file) -> None:
    """What plot does with a plan before it draws."""
    file.rename(file.with_name("plan.json"))
    load_sweep(file.parent)


def use_costs(file) -> None:
    """What a prediction takes from a baseline."""
    fit = Fit(Costs.load(file), {64: 1e3, 4096: 2e3}, {64: 0.1, 4096: 0.1})
    for variant in ("A1", "A2", "A3"):
        predict(fit, variant, 4096)


def use_baseline(word: str):
    """What a command of tools/baseline does with a record; it prints and returns its status."""
    def use(file) -> None:
        words = [word, str(file)] + ([str(DATA / "baseline-host.json")] if word == "agree" else [])
        assert baseline.main(words) in (0, 1, 2)
    return use


READERS = {"run": (REAL["A3-guest"], use_run), "plan": (PLAN, use_plan),
           "costs": (baselines.baseline(), use_costs),
           "mistakes": (BASELINE, use_baseline("mistakes")),
           "agree": (BASELINE, use_baseline("agree"))}


def said_of(use, file, capsys) -> str:
    """The line that refused it, "" if it was read."""
    try:
        use(file)
    except CommandError as error:
        assert error.status == 2
        return str(error)
    return capsys.readouterr().err.removesuffix("\n")


@pytest.mark.parametrize("reader", READERS)
def test_damage_is_refused_in_one_line_or_does_no_harm(reader, tmp_path, capsys):
    document, use = READERS[reader]
    refused = 0
    for each in damage.damages(document, SEED, COUNT):
        file = tmp_path / "damaged.json"
        file.write_bytes(each.data)
        said = said_of(use, file, capsys)
        assert "\n" not in said and len(said) < 1000, each.what
        assert not said or str(tmp_path) in said, (each.what, said)
        refused += bool(said)
    assert refused > COUNT / 2


@pytest.mark.parametrize("reader", [each for each in READERS if each != "plan"])
def test_what_is_no_readable_file_is_refused_and_not_waited_for(reader, tmp_path, capsys):
    for name, file in damage.place_odd(tmp_path / "odd").items():
        said = said_of(READERS[reader][1], file, capsys)
        assert str(file) in said and "\n" not in said, name
