# SPDX-License-Identifier: GPL-2.0
"""Each command of docs/CASES.md prints the answer that stands below it, whatever its numbers are."""
from __future__ import annotations

import re
import shlex
import subprocess

import pytest

from helpers import records
from helpers.oneliners import oneliners

CASES = oneliners("docs/CASES.md")
AMOUNT = re.compile(r"\b\d[\d,.]*( [kMG]?B| [mu]?s)?\b")
BAR = re.compile(r"#+")


def shape(line: str) -> str:
    """A line without what differs from run to run: numbers, and where the text is broken to fit."""
    return " ".join(BAR.sub("#", AMOUNT.sub("N", line)).split())


def test_there_are_five():
    assert len(CASES) == 5


@records.needs_root
@pytest.mark.parametrize("title", CASES)
def test_the_command_gives_the_answer(title):
    command, shown = CASES[title]
    done = subprocess.run([*shlex.split(command.removeprefix("sudo "))], cwd=records.ROOT, capture_output=True, text=True,
                          check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    printed = shape(" ".join([*done.stdout.splitlines(), *done.stderr.splitlines()]))
    for line in shown:
        assert shape(line) in printed, f"{shape(line)!r} is not in: {printed}"
