# SPDX-License-Identifier: GPL-2.0
"""What a report published at the points of its profile, out of the table that the profile names."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copyscope.records.documents import BadRecord, read_toml
from copyscope.runs.summaries import QUANTITY, WORDS

from .metrics import METRICS

KEYS = {"file", "table", "columns"}
ADVICE = "write { file, table, columns = { COLUMN = \"throughput_gbps\" } }, as in mt25064.toml"


@dataclass(frozen=True)
class Published:
    """One number: the metric; the point by label, size and threads, None of what the report does
    not tell; and the value."""

    y: str
    point: tuple[Any, ...]
    value: float


def cells(table: dict[str, Any], columns: dict[str, str]) -> Iterator[Published]:
    """The numbers of a table; a column may name a label that its rows do not."""
    keys, names = list(table["keys"]), list(table["columns"])
    for row in table["rows"]:
        at = dict(zip(keys, row))
        for name, value in zip(names, row[len(keys):]):
            quantity = QUANTITY.fullmatch(columns.get(name, ""))
            if quantity and value != "":
                point = {"label": quantity["label"], **at}
                yield Published(quantity["what"], tuple(map(point.get, WORDS)), float(value))


def cycles_per_byte(found: list[Published], seconds: float) -> Iterator[Published]:
    """Cycles over the bytes that the published throughput moves in the seconds of a run."""
    cycles = {each.point: each.value for each in found if each.y == "cycles"}
    for each in found:
        moved_bytes = each.value * 1e9 / 8 * seconds
        if each.y == "throughput_gbps" and each.point in cycles and moved_bytes:
            yield Published("cycles_per_byte", each.point, cycles[each.point] / moved_bytes)


def published(source: Path, profile: dict[str, Any]) -> tuple[Published, ...]:
    """All that the table has which a profile names; its file lies where the profile says."""
    asked = profile.get("published")
    if asked is None:
        return ()
    if not isinstance(asked, dict) or set(asked) != KEYS or \
            not all(isinstance(asked[key], str) for key in ("file", "table")):
        raise BadRecord(source, "published", "it names no table", ADVICE)
    columns = asked["columns"]
    for what in columns.values() if isinstance(columns, dict) else [columns]:
        quantity = QUANTITY.fullmatch(what) if isinstance(what, str) else None
        if not quantity or quantity["how"] or quantity["what"] not in METRICS:
            raise BadRecord(source, "published.columns", f"{what!r} is no quantity", ADVICE)
    file = source.parent / asked["file"]
    tables = [each for each in read_toml(file, file.parent).get("tables", [])
              if each["name"] == asked["table"]]
    if not tables:
        raise BadRecord(file, "tables", f"none is called {asked['table']}", "name one of them")
    found = list(cells(tables[0], columns))
    return (*found, *cycles_per_byte(found, float(profile.get("seconds", 0))))
