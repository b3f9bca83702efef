# SPDX-License-Identifier: GPL-2.0
"""Least squares: a straight line, one in the logarithm, and the law of a fixed and a byte cost."""
from __future__ import annotations

import math
from collections.abc import Sequence

from .values import Missing


def line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Intercept and slope of the straight line with the least squares."""
    n, mean_x, mean_y = len(xs), sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    if n < 3 or spread <= 0:
        raise Missing("three points that differ")
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / spread
    return mean_y - slope * mean_x, slope


def share(ys: Sequence[float], fitted: Sequence[float]) -> float:
    """R squared: the share of the values' variance that a fit explains; below 0 if the mean
    explains more."""
    mean = sum(ys) / len(ys)
    whole = sum((y - mean) ** 2 for y in ys)
    if whole <= 0:
        raise Missing("values that differ")
    return 1 - sum((y - f) ** 2 for y, f in zip(ys, fitted)) / whole


def fit(function: str, xs: Sequence[float], ys: Sequence[float]) -> float:
    """One of parse.FITS. law_r2 is of y = x / (a + b x): a throughput whose message costs a, and b
    a byte."""
    try:
        if function == "law_r2":
            below, rise = line(xs, [x / y for x, y in zip(xs, ys)])
            found = share(ys, [x / (below + rise * x) for x in xs])
        elif function == "log_r2":
            logs = [math.log(x) for x in xs]
            below, rise = line(logs, ys)
            found = share(ys, [below + rise * x for x in logs])
        else:
            below, rise = line(xs, ys)
            found = rise if function == "slope" else share(ys, [below + rise * x for x in xs])
    except (ZeroDivisionError, OverflowError, ValueError):
        raise Missing("values above zero, to fit a law to") from None
    if not math.isfinite(found):
        raise Missing("values of sensible size, to fit a law to")
    return found
