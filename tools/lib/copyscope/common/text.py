# SPDX-License-Identifier: GPL-2.0
"""Text that several commands write: CSV, the time in UTC, numbers and tables for people."""
from __future__ import annotations

import csv
import datetime
import difflib
import io
import math
import re
import shutil
import textwrap
from collections.abc import Collection, Iterable, Sequence
from typing import Any

# Longer lines are hard to read, however wide the terminal is.
MOST_COLUMNS = 120
# The last column of a table gets so much, even where the line is too long then.
LEAST_LAST = 20
# Least likeness of a word to one that is suggested: of two slips in six letters, not of three. Of a
# longer word only the beginning is looked at.
LIKENESS, MOST_LIKENED = 0.6, 40
# Of more names that a word may be, only the first ones are told.
MOST_TOLD = 16
# How people write units that records spell otherwise; words have an s behind other numbers than 1.
UNITS = {"Gbps": "Gbit/s", "Mbps": "Mbit/s", "us": "µs"}
COUNTED = {"call": "calls", "switch": "switches", "page": "pages", "message": "messages",
           "miss": "misses", "cycle": "cycles", "fault": "faults"}
NUMBER = r"-?[0-9][0-9.]*(?:e[+-]?[0-9]+)?"
QUANTITY = re.compile(rf"({NUMBER})( [A-Za-z^0-9 ]+)?")
RANGE = re.compile(r"(?:(.+) )?\[(.+), (.+)\]")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV; None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def laws_text(balanced: int, broken: int, untested: int, partly: int = 0) -> str:
    """What became of all laws, by their numbers; `partly`: not testable for some sockets."""
    def told(count: int, one: str, more: str) -> str:
        return f"{count or 'none'} {one if count < 2 else more}"
    return ", ".join([told(balanced, "balances to the byte", "balance to the byte"),
                      *[told(partly, "does where it is testable", "do where they are testable")]
                      * bool(partly), told(broken, "is broken", "are broken"),
                      *[told(untested, "is not testable", "are not testable")] * bool(untested)])


def now_utc() -> str:
    """The time as records have it: 2026-11-22T06:41:22Z."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def short(value: float, digits: int = 3) -> str:
    """A number with so many digits, and all that stand before the point: 0.523, 17.4, 1312."""
    if not value:
        return "0"
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"


def plain_number(text: str) -> str:
    """A number as a person says it: 3.0 for 3.000, 19.2 for 19.2125, 25,567."""
    value = float(text)
    if "." not in text and "e" not in text:
        return f"{int(text):,}" if abs(value) >= 10_000 else text
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    found = short(value)
    while found.endswith("0") and "." in found and not found.endswith(".0"):
        found = found[:-1]
    return found


def unit_words(unit: str, number: str) -> str:
    """A unit behind a number, its first word in the plural if the number asks for it."""
    first, *more = unit.split()
    first = COUNTED.get(first, first) if number not in ("1", "1.0") else first
    return " ".join([UNITS.get(first, first), *more])


def spoken(shown: str) -> str:
    """A number with its interval, "19.2125 ns [19.0467 ns, 19.3784 ns]", as a person says it:
    19.2 ns (19.0 to 19.4). What is no such text stays as it is."""
    interval = RANGE.fullmatch(shown)
    if interval:
        middle, low, high = (each and QUANTITY.fullmatch(each) for each in interval.groups())
        if not low or not high:
            return shown
        same = low[2] == high[2] and (not middle or middle[2] == low[2])
        ends = f"{plain_number(low[1]) if same and middle else spoken(low[0])} to " \
            f"{plain_number(high[1]) if same and middle else spoken(high[0])}"
        if low[2] == " B per message":
            # A size between those that were tried: its middle says nothing.
            return f"{plain_number(low[1])} to {plain_number(high[1])} bytes"
        # All three round to one number.
        alike = middle and same and len({plain_number(each[1]) for each in (middle, low, high)}) < 2
        return ends if not middle else spoken(middle[0]) + ("" if alike else f" ({ends})")
    found = QUANTITY.fullmatch(shown)
    if not found:
        return shown
    number = plain_number(found[1])
    return f"{number} {unit_words(found[2], number)}" if found[2] else number


def size_text(size: int) -> str:
    """A size as people write it, exact."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def memory_text(size_bytes: int) -> str:
    """Memory of a machine."""
    return f"{size_bytes / 2**30:.1f} GiB"


def nearest(word: str, known: Collection[str]) -> str:
    """The known word that is most like a mistyped one, whatever its case; "" if none is like it."""
    small = {each.lower(): each for each in known}
    near = difflib.get_close_matches(word[:MOST_LIKENED].lower(), small, 1, LIKENESS)
    return small[near[0]] if near else ""


def suggested(near: str, known: Collection[str]) -> str:
    """The end of a message about an unknown word: which one may be meant, or which there are."""
    if near:
        return f"did you mean {near}?"
    more = ["..."] if len(known) > MOST_TOLD else []
    return f"there is {', '.join([*list(known)[:MOST_TOLD], *more])}"


def meant(word: str, known: Collection[str]) -> str:
    """The same, with the known word that is most like it."""
    return suggested(nearest(word, known), known)


def listed(words: Sequence[str], last: str = "and") -> str:
    """Words in a sentence: a, b and c."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def columns() -> int:
    """How wide a line may be: as the terminal is, 80 columns where there is none."""
    return min(max(shutil.get_terminal_size((80, 24)).columns, 40), MOST_COLUMNS)


def wrapped(text: str, indent: str = "", width: int = 0) -> list[str]:
    """Text as lines that fit; `indent` begins all but the first."""
    return textwrap.wrap(text, width or columns(), subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False)


def laid_out(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Rows of cells as lines, each column as wide as its widest cell; `right` names the columns
    that end below each other. The last column goes on below itself where it is too long."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    before = sum(widths[:-1]) + 2 * (len(widths) - 1)
    lines = []
    for row in rows:
        *cells, last = (cell.rjust(width) if number in right else cell.ljust(width)
                        for number, (cell, width) in enumerate(zip(row, widths)))
        first, *more = wrapped(last, width=max(columns() - before, LEAST_LAST)) or [""]
        lead = last[:len(last) - len(last.lstrip())] if len(widths) - 1 in right else ""
        lines.append("  ".join([*cells, lead + first]).rstrip())
        lines += [" " * before + each for each in more]
    return lines


# Numbers as people read them, in the words of userspace/common/text.c.


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
