# SPDX-License-Identifier: GPL-2.0
"""Reads what lmbench's programs print; pure. Its megabytes are millions of bytes in rates."""
from __future__ import annotations

import re

MIB = 1 << 20
NUMBER = r"([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)"


class NoResult(ValueError):
    """The output contains no result."""

    def __init__(self, wanted: str, text: str) -> None:
        shown = " ".join(text.split())[:60]
        super().__init__(f"{shown!r} is no {wanted}" if shown else f"it printed no {wanted}")


def find(pattern: str, text: str, wanted: str) -> re.Match[str]:
    """The one match, of numbers above 0."""
    found = re.search(pattern, text, re.M)
    if not found or float(found.group(found.lastindex or 0)) <= 0:
        raise NoResult(wanted, text)
    return found


def microseconds(text: str) -> float:
    """`Simple syscall: 0.1697 microseconds`"""
    return float(find(rf": {NUMBER} microseconds$", text, "time in microseconds")[1])


def rate(text: str) -> float:
    """`128.00 24251.61` or `0.065536 1363.86 MB/sec`: megabytes, and megabytes a second."""
    return float(find(rf"^{NUMBER} {NUMBER}(?: MB/sec)?$", text, "rate")[2])


def switch(text: str) -> float:
    """`"size=0k ovr=0.69` and `2 11.41`: processes, and microseconds a switch, less the overhead of
    the pipe."""
    return float(find(rf"^2 {NUMBER}$", text, "context switch")[1])


def switch_with_pipe(text: str) -> float:
    """The same with the overhead of the pipe, which is what a byte through one takes."""
    return switch(text) + float(find(rf"^\"size=0k ovr={NUMBER}$", text, "overhead")[1])


def latencies(text: str) -> dict[int, float]:
    """`"stride=64` and rows `0.01562 1.613`: MiB, cut after five digits, and nanoseconds a load."""
    found = {round(float(size) * MIB): float(ns) for size, ns in
             re.findall(rf"^{NUMBER} {NUMBER}$", text, re.M)}
    if not found or '"stride=' not in text:
        raise NoResult("table of latencies", text)
    return found


def latency_at(text: str, size: int) -> float:
    """Nanoseconds a load from a working set."""
    found = latencies(text)
    nearest = min(found, key=lambda each: abs(each - size))
    if abs(nearest / size - 1) > 0.01:
        raise NoResult(f"latency at {size} bytes", text)
    return found[nearest]
