# SPDX-License-Identifier: GPL-2.0
"""Loads records of the machine baseline and answers questions about their rows."""
from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copyscope.common.errors import Unusable
from copyscope.model.costs import NS_OF
from copyscope.records import documents

PUBLISHED = tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf-8"))


class BadBaseline(Unusable):
    """Records of the baseline that do not go together: one line that says so."""


@dataclass(frozen=True)
class Baseline:
    """One record, by the names of its rows."""

    source: Path
    data: dict[str, Any]
    rows: dict[str, dict[str, Any]]

    def value(self, name: str) -> float | None:
        """The median of a row in its own unit; None if the record has no such number."""
        measured = self.rows.get(name, {}).get("measured")
        return measured["value"] if measured else None

    def nanoseconds(self, name: str) -> float | None:
        """The median of a row of time."""
        value = self.value(name)
        return None if value is None else value * NS_OF[self.rows[name]["unit"]]

    def counted(self, name: str, counter: str) -> float | None:
        """What the counting pass of a row counted, for a call; None if nothing looked."""
        proof = self.rows.get(name, {}).get("proof", {"calls": 0, "invariants": []})
        for each in proof["invariants"] if proof["calls"] else ():
            if each["counter"] == counter and each["counted"] is not None:
                return each["counted"] / proof["calls"]
        return None


def load(path: str | Path) -> Baseline:
    """Read one record."""
    source = Path(path)
    data = documents.load(source, "baseline", "run tools/baseline again")
    return Baseline(source, data, documents.by_name(data["rows"], "row", source, "rows"))
