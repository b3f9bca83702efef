# SPDX-License-Identifier: GPL-2.0
"""Sums up the repeats of a point: median, mean, and Student's 95 % interval of the mean."""
from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Sequence

# Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom.
T_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179,
        2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
        2.060, 2.056, 2.052, 2.048, 2.045, 2.042)
Z_95 = 1.959964
INTERVAL = "Student's t, of the mean, two-sided"


@dataclass(frozen=True)
class Summary:
    """What n repeats come to; the interval is None for fewer than 2."""

    n: int
    median: float
    mean: float
    low: float | None
    high: float | None


def t_95(freedom: int) -> float:
    """Return the quantile; beyond the table by the first terms of its expansion around z."""
    if freedom <= len(T_95):
        return T_95[freedom - 1]
    return Z_95 + (Z_95 ** 3 + Z_95) / (4 * freedom)


def summarise(values: Sequence[float]) -> Summary | None:
    """Sum up; None without values."""
    if not values:
        return None
    n, mean = len(values), statistics.fmean(values)
    median = statistics.median(values)
    if n < 2:
        return Summary(n, median, mean, None, None)
    half = t_95(n - 1) * statistics.stdev(values) / math.sqrt(n)
    return Summary(n, median, mean, mean - half, mean + half)
