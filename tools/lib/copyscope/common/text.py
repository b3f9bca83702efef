# SPDX-License-Identifier: GPL-2.0
"""Text that several commands write: tables as CSV, the time in UTC."""
from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Iterable, Sequence
from typing import Any


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV; None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def now_utc() -> str:
    """The time as records have it: 2026-11-22T06:41:22Z."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
