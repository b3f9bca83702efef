# SPDX-License-Identifier: GPL-2.0
"""Sums up repeats of a point: median, interval, and the sentence that says which interval."""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, median_low

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Spread:
    """The median of n repeats and the ends of its error bar."""

    middle: float
    low: float
    high: float
    n: int


def rank_below(n: int) -> int | None:
    """Ranks cut off at each end so that what is left holds the true median with 95 %: a binomial
    count that assumes nothing of the distribution. None: even all n values do not hold it so."""
    tail, cut = 0.0, None
    for rank in range(n // 2):
        tail += math.comb(n, rank) / 2 ** n
        if 2 * tail > 1 - CONFIDENCE:
            break
        cut = rank
    return cut


def middle(values: Sequence[float], counts: bool = False) -> float:
    """The median; of counts the lower of the two in the middle, as there is no half of an event."""
    return median_low(values) if counts else median(values)


def spread(values: Sequence[float], counts: bool = False) -> Spread:
    """Median and interval; with fewer than 6 values the interval is their whole range."""
    ordered = sorted(values)
    cut = rank_below(len(ordered)) or 0
    return Spread(middle(ordered, counts), ordered[cut], ordered[-1 - cut], len(ordered))


def kind(n: int) -> str:
    """Name what lies between low and high of n repeats."""
    if n < 2:
        return ""
    return "range of repeats" if rank_below(n) is None else "95 % interval of the median"


def sentence(counts: Iterable[int]) -> str:
    """Say what the error bars are, for points of these many repeats."""
    seen = sorted(set(counts))
    if not seen:
        return ""
    n = f"n = {seen[0]}" if len(seen) == 1 else f"n = {seen[0]} to {seen[-1]}"
    if seen[-1] == 1:
        return "one run a point (n = 1): no error bars"
    few = [each for each in seen if each > 1 and rank_below(each) is None]
    if not few:
        return f"median and its 95 % interval over repeats, {n}"
    # Chance that the range of the fewest repeats holds the true median.
    held = 1 - 0.5 ** (few[0] - 1)
    if len(few) == len([each for each in seen if each > 1]):
        return (f"median and range of repeats, {n}: too few for 95 %, the range holds the true "
                f"median with {held * 100:.0f} %")
    return f"median and 95 % interval over repeats (range where n < 6), {n}"
