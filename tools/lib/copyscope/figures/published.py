# SPDX-License-Identifier: GPL-2.0
"""What a report published at the points of its profile, out of the tables that stand there."""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from copyscope.runs.summaries import QUANTITY

from .metrics import METRICS

# As reports print numbers: 8.1B, 5.2M.
NUMBER = re.compile(r"(\d+(?:\.\d+)?)([KMB]?)")
TIMES = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9}


@dataclass(frozen=True)
class Published:
    """One number: the metric, the point by label, size and threads, and the value."""

    y: str
    point: tuple[Any, ...]
    value: float


def number(cell: Any) -> float | None:
    """A cell as a number; None if it is a word."""
    found = NUMBER.fullmatch(str(cell))
    return float(found[1]) * TIMES[found[2]] if found else None


def row_values(columns: list[Any], row: dict[str, Any]) -> list[Published]:
    """The numbers of a row that are of one point, and no ratio of two."""
    found = []
    cells = iter(row.get("published", []))
    for _, what in columns:
        if what in ("label", "size", "threads"):
            continue
        quantity, value = QUANTITY.fullmatch(what), number(next(cells, None))
        if not quantity or quantity["how"] or quantity["what"] not in METRICS or value is None:
            continue
        at = {key: quantity[key] and (quantity[key] if key == "label" else int(quantity[key]))
              or row.get(key) for key in ("label", "size", "threads")}
        if None not in at.values():
            found.append(Published(quantity["what"], tuple(at.values()), value))
    return found


def published(profile: dict[str, Any]) -> tuple[Published, ...]:
    """All that the tables of a profile say; what is not as tools/sweep wants it says nothing."""
    found: dict[Published, None] = {}
    tables = profile.get("summaries")
    for table in tables if isinstance(tables, list) else ():
        if not isinstance(table, dict) or not isinstance(table.get("columns"), list):
            continue
        columns = [each for each in table["columns"] if isinstance(each, list) and len(each) == 2
                   and all(isinstance(word, str) for word in each)]
        rows = table.get("rows")
        for row in rows if isinstance(rows, list) and len(columns) == len(table["columns"]) else ():
            if isinstance(row, dict) and isinstance(row.get("published", []), list):
                found |= dict.fromkeys(row_values(columns, row))
    return tuple(found)
