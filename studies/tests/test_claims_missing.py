# SPDX-License-Identifier: GPL-2.0
"""`claims check --missing`: what undecided claims wait for, and which runs may decide the most."""
from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from copyscope_studies.claims import command, missing, needs
from copyscope_studies.claims.judge import CONFIRMED, UNDECIDED, Verdict
from copyscope_studies.claims.missing import Machine, Wait
from helpers.records import ROOT

HERE = Machine(2, False, frozenset({"6.1"}))
SWEEP, MODEL = "sweep mt25064 as-published", "sweep mt25064 as-published modelled"


def verdict(name, why, runs=(SWEEP,), given="", word=UNDECIDED):
    claim = next(iter(FOUND.values()))
    return Verdict(replace(claim, id=name, runs=runs, given=given), word, (why,))


FOUND = {each.id: each for each in
         command.files.read_all(command.claim_files(None), command.World())}


def test_the_plan_takes_runs_first_that_decide_the_most_for_each():
    waits = [Wait("a", "", ("x",)), Wait("b", "", ("y", "z")), Wait("c", "", ("y", "z")), Wait("d", "", ("z",)),
             Wait("e", "", ()), Wait("f", "", ("y", "z")), Wait("g", "", ("v", "w"))]
    assert missing.plan(waits) == [("y", []), ("z", ["b", "c", "d", "f"]), ("x", ["a"]), ("v", []), ("w", ["g"])]


@pytest.mark.parametrize("why, runs, given, machine, lacks", [
    ("missing: a machine where A.cpus >= 8", (SWEEP,), "A.cpus >= 8", HERE, ["8 processors"]),
    ("missing: a machine where A.cpus >= 8", (SWEEP,), "A.cpus >= 8", replace(HERE, cpus=8), []),
    ("missing: this machine has no such hardware counter (no PMU)", (SWEEP,), "", HERE, ["a PMU"]),
    ("missing: this machine has no such hardware counter (no PMU)", (SWEEP,), "", replace(HERE, pmu=True), []),
    ("the interval is too wide: 2 against 3", (MODEL,), "", HERE, ["the kernel of a guest, 6.12"]),
    ("the interval is too wide: 2 against 3", (SWEEP,), "A.cpus >= 8", HERE, [])])
def test_a_claim_waits_for_what_this_machine_lacks(why, runs, given, machine, lacks):
    assert missing.wait_of(verdict("one", why, runs, given)).lacks(machine) == lacks


def test_the_list_names_each_undecided_claim_and_its_command_once():
    whys = {"wide": "the interval is too wide: 2 against 3", "cpus": "missing: a machine where A.cpus >= 8",
            "pmu": "missing: this machine has no such hardware counter", "none": "missing: a link"}
    verdicts = [verdict(name, why, () if name == "none" else (SWEEP,), "A.cpus >= 8" if name == "cpus" else "")
                for name, why in whys.items()] + [verdict("fine", "", word=CONFIRMED)]
    said = "\n".join(missing.lines(verdicts, HERE, Path("DIR"), "results"))
    line = "./" + " ".join(needs.command(SWEEP, Path("DIR")))
    assert "wide: the interval is too wide: 2 against 3\n    " + line in said and "fine" not in said
    assert f"8 processors: cpus\n    {line}" in said and f"a PMU: pmu\n    {line}" in said
    assert "none: a link\n    no command makes it" in said and "4 claims are undecided." in said
    assert f"  1  {line}\n     1: wide" in said and "  2  " not in said
    assert "no run that one of them waits for" in "\n".join(missing.lines(verdicts[1:], HERE, Path("DIR"), "results"))


def test_kernels_are_those_that_are_here():
    assert missing.kernels("5.10\tcan be fetched from x\tnot here\n6.1\tcan be\there: 6.1.0-56-cloud-amd64\n") == {"6.1"}


def test_the_page_names_all_that_wait_for_processors():
    page = (ROOT / "docs/CLAIMS.md").read_text(encoding="utf-8")
    part = page.partition("## What is undecided")[2].partition("\n## ")[0]
    record = json.loads((ROOT / "results/claims/verdicts.json").read_text(encoding="utf-8"))
    for each in record["verdicts"]:
        asked = missing.CPUS.search(each["given"] or "") if missing.MACHINE in " ".join(each["why"]) else None
        if each["verdict"] == UNDECIDED and asked:
            number = each["id"].partition("-")[2]
            row = next(row for row in part.splitlines() if re.search(rf"\b{number}(?![-\w])", row)
                       and all(run.split()[2] in row for run in FOUND[each["id"]].runs[-1:] if run.startswith("sweep")) and
                       f"--profile {each['id'].partition('-')[0].lower()} " in row)
            assert f"| {asked[1]} |" in row, each["id"]
