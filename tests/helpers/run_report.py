# SPDX-License-Identifier: GPL-2.0
"""The report of a run, as it is printed of its record."""
from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

from copyscope.records.run_record import Record
from copyscope.report import run
from copyscope.report.look import Look
from copyscope.report.page import joined


def printed(record: dict, columns: int = 80, colours: bool = False, **look: bool) -> str:
    """The text, without the line that names the file."""
    with mock.patch.dict(os.environ, {"COLUMNS": str(columns)}):
        return joined(run.lines(Record(record, Path("run.json")), Look(**look)), colours)
