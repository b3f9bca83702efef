# SPDX-License-Identifier: GPL-2.0
"""A comparison as JSON, by docs/compare.schema.json."""
from __future__ import annotations

from typing import Any

from copyscope.common.spread import Spread, kind
from copyscope.records.copies import Amount
from copyscope.records.run_record import Record

from .differences import Difference
from .rows import TimeRow, causes, sites, times
from .sides import Match, Side, only_in

SCHEMA = "copyscope.compare/1"


def side(mine: Side, runs: list[Record], other: Side) -> dict[str, Any]:
    """One side: where it is from, which runs of it are compared, and what the other lacks."""
    return {"source": mine.source, "records": [each.id for each in runs],
            "alone": only_in(mine, other)}


def point(runs: list[Record]) -> dict[str, Any]:
    """What some runs sent."""
    first = runs[0]
    return {"label": first.label, "variant": None if first.watched else first.variant,
            "size_bytes": None if first.watched else first.size,
            "threads": None if first.watched else first.setting, "runs": len(runs)}


def amount(value: Amount) -> dict[str, Any]:
    """Bytes per payload byte, or why they are not known."""
    return {"bytes_per_payload_byte": value.value, "how": value.how, "why": value.why or None}


def interval(value: Spread | None) -> dict[str, Any] | None:
    """A median with its interval."""
    return None if value is None else {
        "median": value.middle, "low": value.low, "high": value.high, "n": value.n,
        "interval": kind(value.n) or None}


def ratio(row: TimeRow) -> dict[str, Any] | None:
    """Second over first."""
    return None if row.ratio is None else {
        "median": row.ratio.middle, "low": row.ratio.low, "high": row.ratio.high,
        "n": row.ratio.n, "interval": row.interval or None, "in_turns": row.paired}


def compared(match: Match) -> dict[str, Any]:
    """All of one match."""
    return {
        "first": point(match.first), "second": point(match.second),
        "sites": [{"site": row.site, "first": amount(row.first), "second": amount(row.second)}
                  for row in sites(match)],
        "causes": [{"cause": row.cause, "site": row.site, "remedy": row.remedy or None,
                    "first_share": row.first, "second_share": row.second}
                   for row in causes(match)],
        "times": [{"what": row.what, "unit": row.unit, "first": interval(row.first),
                   "second": interval(row.second), "ratio": ratio(row),
                   "why": row.against or (None if row.ratio else "not measured on both sides")}
                  for row in times(match)]}


def document(first: Side, second: Side, differing: list[Difference],
             found: list[Match]) -> dict[str, Any]:
    """The whole comparison."""
    return {
        "schema": SCHEMA,
        "first": side(first, [run for each in found for run in each.first], second),
        "second": side(second, [run for each in found for run in each.second], first),
        "differs": [{"what": each.what, "first": each.first, "second": each.second}
                    for each in differing],
        "points": [compared(each) for each in found]}
