# SPDX-License-Identifier: GPL-2.0
"""Reads the machine baseline and answers what single things cost there."""
from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from copyscope.records import documents
from copyscope.records.documents import BadRecord
from copyscope.records.run_record import Record

NS_OF = {"ns": 1.0, "us": 1e3, "ms": 1e6}
# What must agree for a baseline to say anything of a run.
SAME = ("cpu_model", "cpus", "kernel", "arch")


def straight(points: list[tuple[float, float]], x: float) -> float:
    """Read a curve between its points, straight on logarithmic axes; flat beyond its ends."""
    if x <= points[0][0]:
        return points[0][1]
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if x <= x1:
            share = math.log(x / x0) / math.log(x1 / x0)
            return y0 * (y1 / y0) ** share
    return points[-1][1]


class Costs:
    """One baseline record; only rows that proved what they measure are used."""

    def __init__(self, data: dict[str, Any], source: object) -> None:
        self.data, self.source = data, source
        self.rows = documents.by_name(data["rows"], "row", source, "rows")

    @classmethod
    def load(cls, source: Path) -> Costs:
        """Load a record; raise BadRecord if it is none."""
        return cls(documents.load(source, "baseline", "run tools/baseline again"), source)

    @property
    def id(self) -> str:
        """Name of the record."""
        return self.data["id"]

    def check_machine(self, record: Record | None) -> None:
        """Refuse a baseline of another machine or kernel than a run's."""
        for key in SAME if record else ():
            here, there = record.at(f"machine.{key}"), self.data["machine"][key]
            if here != there:
                raise BadRecord(self.source, f"machine.{key}", f"it is {there!r}, the runs have "
                                f"{here!r}", "run tools/baseline on this machine")

    def lacking(self, name: str) -> str:
        """Why a row has no value that holds; "" if it has one."""
        row = self.rows.get(name)
        status = row["status"] if row else "not in the record"
        if row and status in ("valid", "unchecked") and row.get("measured"):
            return ""
        why = f" ({row['why']})" if row and row.get("why") else ""
        return f"it is {status.replace('_', ' ')}{why}"

    def row(self, name: str) -> dict[str, Any]:
        """A row that was measured and whose invariants held."""
        if why := self.lacking(name):
            raise BadRecord(self.source, f"rows.{name}", why,
                            f"run tools/baseline with the row {name}")
        found: dict[str, Any] = self.rows[name]
        return found

    def ns(self, name: str) -> float:
        """What a row costs, in nanoseconds."""
        row = self.row(name)
        return row["measured"]["value"] * NS_OF[row["unit"]]

    def curve(self, name: str) -> list[tuple[float, float]]:
        """Points of a row's curve, in the row's unit."""
        row = self.row(name)
        if not row.get("curve"):
            raise BadRecord(self.source, f"rows.{name}.curve", "it is missing",
                            f"run tools/baseline with the row {name}")
        return [(point["x"], point["value"]) for point in row["curve"]["points"]]

    def copy_ns(self, size: float) -> float:
        """Copying so many bytes once, from and to memory of that size. GB/s are bytes a ns."""
        return size / straight(self.curve("memory-copy"), size)
