# SPDX-License-Identifier: GPL-2.0
"""Compares the variants of a sweep: ratios of throughput between runs of the same round.

A round is a repeat. In it the variants ran one after the other at each size and number of threads,
so what changed slowly on the machine changed for all of them, and leaves the ratio alone.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from copyscope.common import outcomes
from copyscope.common.spread import Spread, kind, spread
from copyscope.records.passes import TIMED
from copyscope.records.run_record import Record

FILE = "pairs.csv"
HEAD = ("label", "compared_with", "size_bytes", "threads_setting", "n", "gbps_median", "gbps_low",
        "gbps_high", "ratio_median", "ratio_low", "ratio_high", "interval", "verdict")
FASTER, SLOWER = "faster", "slower"
# By round, what a label reached at one size and number of threads.
Rounds = dict[int, float]


@dataclass(frozen=True)
class Pair:
    """One label at one size and number of threads, beside the label that all are compared with."""

    label: str
    other: str                  # the label that it is compared with; its own, for that one
    size: int
    threads: int
    gbps: Spread
    ratio: Spread | None        # to the other; None: no round has both, or it is the other

    @property
    def verdict(self) -> str:
        """Faster or slower than the other, alike, or undecided: the interval holds 1 and is wider
        than that. "" of one pair, as it has no interval."""
        if self.ratio is None or self.ratio.n < 2:
            return ""
        # Of speed, not of cost.
        found = outcomes.side(self.ratio)
        return {outcomes.COSTS: FASTER, outcomes.PAYS: SLOWER}.get(found, found)


def reason_against(records: list[Record]) -> str:
    """Why the times of these runs compare nothing; "" if they do."""
    if not records:
        return "no run succeeded"
    if any(record.times.kind != TIMED for record in records):
        return "they were timed with probes attached, which slow each variant by another share"
    odd = next((each for each in records if not each.at("experiment.timing.comparable")), None)
    return (odd.at("experiment.timing.why") or "their times mean nothing") if odd else ""


def by_cell(records: list[Record]) -> dict[tuple[int, int], dict[str, Rounds]]:
    """What each label reached in each round, by size and threads."""
    cells: dict[tuple[int, int], dict[str, Rounds]] = {}
    for record in records:
        if record.point and record.throughput_gbps:
            cells.setdefault((record.size, record.setting), {}).setdefault(
                record.label, {})[record.point.repeat] = record.throughput_gbps
    return cells


def ratio(mine: Rounds, other: Rounds) -> Spread | None:
    """The ratios of the rounds that both have."""
    both = [mine[each] / other[each] for each in sorted(mine.keys() & other.keys())]
    return spread(both) if both else None


def paired(plan: dict[str, Any], records: list[Record]) -> list[Pair]:
    """Every label at every size and number of threads beside the plan's first label; none if the
    times compare nothing. In the order of the plan."""
    if reason_against(records):
        return []
    cells = by_cell(records)
    points = plan["points"]
    labels = list(dict.fromkeys(each["label"] for each in points))
    found = []
    for size, threads in dict.fromkeys((each["size"], each["threads"]) for each in points):
        rounds = cells.get((size, threads), {})
        first = rounds.get(labels[0], {})
        found += [Pair(label, labels[0], size, threads, spread(list(rounds[label].values())),
                       ratio(rounds[label], first) if label != labels[0] else None)
                  for label in labels if label in rounds]
    return found


def rows(found: list[Pair]) -> list[list[str | float | int | None]]:
    """The rows of pairs.csv: a row a label, size and number of threads that was compared."""
    made: list[list[str | float | int | None]] = []
    for each in found:
        if each.ratio:
            gbps, by = each.gbps, each.ratio
            bar = [by.low, by.high] if by.n > 1 else [None, None]
            made.append([each.label, each.other, each.size, each.threads, by.n, gbps.middle,
                         gbps.low, gbps.high, by.middle, *bar, kind(by.n) or None,
                         each.verdict or None])
    return made
