# SPDX-License-Identifier: GPL-2.0
"""Numbers as people read them, in the words of userspace/common/text.c."""
from __future__ import annotations

from collections.abc import Sequence


def three_digits(number: float, units: Sequence[str]) -> str:
    """Three digits of a number in the first unit; each unit is 1000 of the one before."""
    unit = 0
    # What would be printed as 1000 is 1.00 of the next unit.
    while number >= 999.5 and unit < len(units) - 1:
        number, unit = number / 1e3, unit + 1
    digits = 2 if number < 9.995 else 1 if number < 99.95 else 0
    return f"{number:.{digits}f} {units[unit]}"


def bytes_text(count: int) -> str:
    """5.59 GB, 950 B."""
    return f"{count} B" if count < 1000 else \
        three_digits(count / 1e3, ("kB", "MB", "GB", "TB", "PB", "EB"))


def duration_text(ns: float) -> str:
    """1.50 s, 13.1 us, 312 ns."""
    return f"{ns:.0f} ns" if ns < 999.5 else three_digits(ns / 1e3, ("us", "ms", "s"))


def rate_text(gbps: float) -> str:
    """17.4 Gbit/s, of Gbit/s."""
    bits = gbps * 1e9
    return f"{bits:.0f} bit/s" if bits < 999.5 else \
        three_digits(bits / 1e3, ("kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"))


def share_text(part: int, whole: int) -> str:
    """98.2 %; 100 % only if it is all and 0.0 % only if it is nothing."""
    if not whole:
        return "-"
    percent = 100 * part / whole
    if part and percent < 0.05:
        return "< 0.1 %"
    if part < whole and percent >= 99.95:
        return "> 99.9 %"
    return f"{percent:.0f} %" if part == whole else f"{percent:.1f} %"
