# SPDX-License-Identifier: GPL-2.0
"""Says whether two runs of the suite agree: their intervals overlap, row by row."""
from __future__ import annotations

from dataclasses import dataclass

from .records import Baseline


@dataclass(frozen=True)
class Comparison:
    """One row of two records."""

    row: str
    unit: str
    agrees: bool
    sentence: str


def interval(row: dict) -> str:
    """Print an interval."""
    measured = row["measured"]
    return f"{measured['value']:.4g} ({measured['low']:.4g} to {measured['high']:.4g})"


def compare(first: Baseline, second: Baseline) -> list[Comparison]:
    """Compare the rows that both have numbers for."""
    found = []
    for name, one in first.rows.items():
        other = second.rows.get(name)
        if not other or not one["measured"] or not other["measured"]:
            continue
        a, b = one["measured"], other["measured"]
        agrees = a["low"] <= b["high"] and b["low"] <= a["high"]
        found.append(Comparison(name, one["unit"], agrees,
                                f"{interval(one)} and {interval(other)} {one['unit']}"))
    return found


def lines(found: list[Comparison]) -> list[str]:
    """Print every row that both have, and the sum."""
    agreeing = sum(each.agrees for each in found)
    return [f"{each.row:<22} {'agrees' if each.agrees else 'DISAGREES':<10} {each.sentence}"
            for each in found] + [
        f"{agreeing} of {len(found)} rows agree within their intervals"]
