# SPDX-License-Identifier: GPL-2.0
"""Loads records of the machine baseline and answers questions about their rows."""
from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copyscope.errors import Unusable

SCHEMA = "copyscope.baseline/1"
PUBLISHED = tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf-8"))
NS_OF = {"ns": 1.0, "us": 1e3, "ms": 1e6}


class BadBaseline(Unusable):
    """A file that is no record of the baseline: one line that says so."""


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
        proof = self.rows.get(name, {}).get("proof", {"invariants": []})
        for each in proof["invariants"]:
            if each["counter"] == counter and each["counted"] is not None:
                return each["counted"] / proof["calls"]
        return None


def load(path: str | Path) -> Baseline:
    """Read one record."""
    source = Path(path)
    try:
        data = json.loads(source.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadBaseline(f"{source}: {error.strerror}") from error
    except ValueError as error:
        raise BadBaseline(f"{source}: is not JSON: {error}") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise BadBaseline(f"{source}: is no record of the machine baseline ({SCHEMA})")
    try:
        return Baseline(source, data, {row["row"]: row for row in data["rows"]})
    except (KeyError, TypeError) as error:
        raise BadBaseline(f"{source}: a row lacks {error}") from error
