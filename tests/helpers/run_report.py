# SPDX-License-Identifier: GPL-2.0
"""The report of a run, as it is printed of its record."""
from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

from copyscope.records.run_record import Record
from copyscope.report import run
from copyscope.report.look import Look


def printed(record: dict, columns: int = 80, **look: bool) -> str:
    """The text, without the line that names the file."""
    with mock.patch.dict(os.environ, {"COLUMNS": str(columns)}), \
            mock.patch("os.get_terminal_size", side_effect=OSError):
        return "\n".join([*run.lines(Record(record, Path("run.json")), Look(**look)), ""])
