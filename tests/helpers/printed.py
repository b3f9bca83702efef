# SPDX-License-Identifier: GPL-2.0
"""Holds the text that a watch printed against the text that is shown of its record."""
from __future__ import annotations

import difflib
import os
from unittest import mock

from copyscope.report import watch

# As wide as a watch prints to what is no terminal.
COLUMNS = {"COLUMNS": os.environ.get("COLUMNS", "80")}
# Each report has it, whatever was watched.
PART = "\noverhead  "


def shown(record: dict) -> str:
    """The report out of a record, without the line that names the file."""
    with mock.patch.dict(os.environ, COLUMNS):
        return "\n".join(watch.lines(record, watch.view_of(record)))


def differences(printed: str, record: dict) -> list[str]:
    """Lines that are told otherwise; none if what was printed has the whole report, to the letter."""
    report = shown(record)
    if report in printed:
        return []
    return list(difflib.unified_diff(printed.splitlines(), report.splitlines(), "printed", "shown", lineterm=""))


def check(printed: str, record: dict) -> None:
    """Fails with the lines that are told otherwise; what has no report, as with --quiet, is not held against it."""
    faults = differences(printed, record) if PART in printed else []
    assert not faults, "\n".join(faults)
