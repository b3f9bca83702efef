# SPDX-License-Identifier: GPL-2.0
"""docs/REPORTS.md: each line has a command that is there, or a reason; files that it names are there."""
from __future__ import annotations

import re

import pytest

from copyscope_studies.published import programs
from helpers.records import ROOT

ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in
        (ROOT / "docs/REPORTS.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("|") and not line.startswith(("|---", "| report |"))]
COMMAND = re.compile(r"`((?:tools/|make)[^`]*)`")


def test_each_line_has_a_command_or_a_reason():
    for _, what, here, by in ROWS:
        tools = [each.split()[0] for each in COMMAND.findall(by)]
        assert what and here in ("yes", "modelled", "no") and by, what
        assert all((ROOT / each).exists() or each == "make" for each in tools), by
        assert here != "yes" or tools or by.startswith(("the same sweep", "the same plot")), what
        assert here != "modelled" or by.startswith("no PMU"), what


def test_its_profiles_files_and_folders_are_there():
    names = {path.stem for path in (ROOT / "results").rglob("*") if path.suffix in (".svg", ".csv")}
    for _, _, _, by in ROWS:
        for name in re.findall(r"--profile ([\w-]+)", by):
            assert (ROOT / f"studies/profiles/{name}.toml").exists(), by
        for name in re.findall(r"`((?:MT\d+_[A-Z]\w+|fig\d-[\w-]+|copymap-\w+))`", by):
            assert name in names, name
        for place in re.findall(r"`(results/[^`]+)`", by):
            assert (ROOT / place).exists(), place


@pytest.mark.parametrize("report", programs.NAMES)
def test_the_programs_of_each_report_are_typed_as_they_are_read(report):
    line = next(by for _, _, _, by in ROWS if f"tools/published {report} \"" in by)
    for typed in re.findall(r'"([^"]+)"', line):
        name, *words = typed.partition("./")[2].split()
        assert programs.read(report, name, words)
