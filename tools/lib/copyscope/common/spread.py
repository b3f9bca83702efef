# SPDX-License-Identifier: GPL-2.0
"""Sums up repeats of a point: median, interval, and the sentence that says which interval."""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, median, median_low

CONFIDENCE = 0.95
# Of more values on a side of a ratio some are left out, and with so many the ranks are those of the
# normal distribution.
MOST_OF_A_SIDE, MOST_EXACT = 300, 50


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


def short_of(n: int) -> int:
    """How many values more give such an interval."""
    return next(more for more in range(n + 9) if rank_below(n + more) is not None)


def middle(values: Sequence[float], counts: bool = False) -> float:
    """The median; of counts the lower of the two in the middle, as there is no half of an event."""
    return median_low(values) if counts else median(values)


def spread(values: Sequence[float], counts: bool = False) -> Spread:
    """Median and interval; with fewer than 6 values the interval is their whole range."""
    ordered = sorted(values)
    cut = rank_below(len(ordered)) or 0
    return Spread(middle(ordered, counts), ordered[cut], ordered[-1 - cut], len(ordered))


def counts_below(n: int, m: int, most: int) -> list[int]:
    """In how many of all orders of n and m values u of the n * m couples have the first one ahead,
    for u from 0 to `most`: the distribution of Mann and Whitney's count."""
    ways = [1] + [0] * most
    for each in range(1, n + 1):
        for u in range(most, m + each - 1, -1):
            ways[u] -= ways[u - m - each]
        for u in range(each, most + 1):
            ways[u] += ways[u - each]
    return ways


def rank_of_ratios(n: int, m: int) -> int | None:
    """Ranks cut off at each end of the n * m ratios of two groups that are independent, so that
    what is left holds the true ratio with 95 %. It assumes that both groups scatter alike, in
    proportion, and nothing of the distribution. None: even all ratios do not hold it so."""
    if max(n, m) > MOST_EXACT:
        deviation = math.sqrt(n * m * (n + m + 1) / 12)
        return max(0, math.floor(n * m / 2 - NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
                                 * deviation) - 1)
    tail, cut, orders = 0, None, math.comb(n + m, n)
    for rank, ways in enumerate(counts_below(n, m, n * m // 2)):
        tail += ways
        if 2 * tail > (1 - CONFIDENCE) * orders:
            break
        cut = rank
    return cut


def thinned(values: Sequence[float]) -> Sequence[float]:
    """Every so many of many values, in the order of their runs."""
    return values[::-(-len(values) // MOST_OF_A_SIDE)]


def ratio(mine: Sequence[float], other: Sequence[float]) -> Spread:
    """How many times as large the values of `mine` are as those of `other`, which are independent
    of them: the median of all ratios, and its interval, or their range where these are too few."""
    mine, other = thinned(mine), thinned(other)
    ordered = sorted(a / b for a in mine for b in other)
    cut = rank_of_ratios(len(mine), len(other)) or 0
    return Spread(median(ordered), ordered[cut], ordered[-1 - cut], len(ordered))


def range_holds(n: int, m: int) -> float:
    """Chance that the range of all ratios of two groups holds the true one."""
    return 1 - 2 / math.comb(n + m, n)


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
