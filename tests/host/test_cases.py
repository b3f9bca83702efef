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
# On a busy machine an acknowledgement may be late, or the kernel skips a program. Without trampolines nothing then tells
# what became of the pages, and a watch says so in place of its answer.
DISTURBED = ("packets were dropped or sent again", "the kernel skipped a program")
TURNS = 6


def shape(line: str) -> str:
    """A line without what differs from run to run: numbers, and where the text is broken to fit."""
    return " ".join(BAR.sub("#", AMOUNT.sub("N", line)).split())


def test_there_are_five():
    assert len(CASES) == 5


def printed_by(command: str) -> str:
    """All that a command prints, in its shape."""
    done = subprocess.run([*shlex.split(command.removeprefix("sudo "))], cwd=records.ROOT, capture_output=True, text=True,
                          check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return shape(" ".join([*done.stdout.splitlines(), *done.stderr.splitlines()]))


@records.needs_root
@pytest.mark.parametrize("title", [pytest.param(title, marks=pytest.mark.long) if "--kernel " in CASES[title][0] else title
                                   for title in CASES])
def test_the_command_gives_the_answer(title):
    command, shown = CASES[title]
    printed = printed_by(command)
    turns = 1
    while any(disturbed in printed for disturbed in DISTURBED) and turns < TURNS:
        printed, turns = printed_by(command), turns + 1
    for line in shown:
        assert shape(line) in printed, f"{shape(line)!r} is not in: {printed}"
