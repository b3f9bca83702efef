# SPDX-License-Identifier: GPL-2.0
"""What changes if a send goes another way than a plain one: what it adds, less what it saves, in
processor time of the baseline; pure.

It is the law of the composite model: a way is the plain send, and what it does otherwise, at the
baseline's prices. Times are of the processor's here, so that both ends add up and a busy machine
lengthens none.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .costs import Costs, straight
from .terms import PAGE_BYTES, line, pages_of

# Where packets end: a receiver on this machine, or a device that takes pages as they are.
LOCAL, AWAY = "local", "away"
PLACES = (LOCAL, AWAY)
ZEROCOPY, FILE = "MSG_ZEROCOPY", "sendfile"
# By io_uring, one request at a time.
RING, RING_ZEROCOPY = "io_uring SEND", "io_uring SEND_ZC"
BY_RING = (RING, RING_ZEROCOPY)
# How the rows of each end; a send as it is.
COPY = "copy"
ROW_OF = {ZEROCOPY: "reference", FILE: "file", RING: "ring", RING_ZEROCOPY: "ring-reference"}
# Sends in a stream, or each with an answer: how the rows of either begin.
STREAM, TURNS = "stream", "rr"
PREFIX = {STREAM: "cpu", TURNS: "turn"}
# How far off a price may be: tools/predict says of more than that in the median that the model does
# not hold.
MOST_ERROR = 0.25
# And how far off its totals are in the median (results/model): less of a whole message than that is
# not told apart from what the model leaves out, such as how many packets form a batch.
ERROR_OF_WHOLE = 0.06
# The rows of the baseline that prices are taken from.
ROWS = ("cpu-copy", "cpu-reference", "cpu-file", "turn-copy", "turn-reference", "turn-file",
        "away-copy", "away-cold", "away-reference")
# Those of a ring, which a kernel may refuse.
RING_ROWS = ("cpu-ring", "cpu-ring-reference", "turn-ring", "turn-ring-reference")
NS = 1e-9
GB = 1e9


@dataclass(frozen=True)
class Change:
    """Nanoseconds of processor time that are added, and the ends between which they lie."""

    ns: float
    low: float
    high: float

    def __add__(self, other: Change) -> Change:
        """Both: what one price is off, the other is, too."""
        return Change(self.ns + other.ns, self.low + other.low, self.high + other.high)

    def times(self, count: float) -> Change:
        """So many of it; less than none turns it round."""
        ends = sorted((self.low * count, self.high * count))
        return Change(self.ns * count, *ends)

    @property
    def verdict(self) -> str:
        """Whether it pays: less time, more time, or nobody knows."""
        return "pays" if self.high < 0 else "costs" if self.low > 0 else "undecided"


NOTHING = Change(0.0, 0.0, 0.0)


def at(costs: Costs, row: str, x: float) -> float:
    """A row's curve at some size; beyond its end each byte takes what it takes there."""
    points = costs.curve(row)
    return straight(points, x) * max(1.0, x / points[-1][0])


def scatter(costs: Costs, row: str, x: float) -> float:
    """How far repeats of a row lie from its curve: a share, of the wider of the points around."""
    points: list[dict[str, Any]] = costs.row(row)["curve"]["points"]
    below = [each for each in points if each["x"] <= x][-1:]
    above = [each for each in points if each["x"] >= x][:1]
    return max((each["high"] - each["low"]) / 2 / each["value"] for each in below + above)


def unpriced(costs: Costs) -> dict[str, str]:
    """Ways that have no number, and why."""
    for row in RING_ROWS:
        if why := costs.lacking(row):
            return {"io_uring": f"row {row} of the baseline: {why}"}
    return {}


def away_terms(costs: Costs, pattern: str, size: float, row: str, base: str
               ) -> tuple[float, float]:
    """By reference to a device: what a packet of its own, its notification and its pages add, and
    the copy that is saved. The shortest send tells the first two: hardly a byte of it is copied."""
    plain, reference = (costs.curve(f"{PREFIX[pattern]}-{each}") for each in (base, row))
    fixed = reference[0][1] - plain[0][1]
    return (fixed + slope(costs, "away-reference") * (pages_of(size) - 1),
            slope(costs, "away-copy") * size / PAGE_BYTES)


def slope(costs: Costs, row: str) -> float:
    """What a page more takes."""
    points = costs.curve(row)
    return line(points, 1) - line(points, 0)


def between(costs: Costs, pattern: str, way: str, size: float, base: str = COPY) -> Change:
    """A way over loopback, less the copied send there: what both do cancels out."""
    plain_row, row = f"{PREFIX[pattern]}-{base}", f"{PREFIX[pattern]}-{way}"
    plain, other = at(costs, plain_row, size), at(costs, row, size)
    off = MOST_ERROR * abs(other - plain) + ERROR_OF_WHOLE * plain + \
        scatter(costs, plain_row, size) * plain + scatter(costs, row, size) * other
    return Change(other - plain, other - plain - off, other - plain + off)


def at_least(change: Change, floor: float) -> Change:
    """On this machine each byte is copied late instead of in, so a longer send adds no less than
    the shortest: where that is more than nothing, it bounds what noise hides."""
    if floor <= 0:
        return change
    return Change(*(max(each, floor) for each in (change.ns, change.low, change.high)))


def of_send(costs: Costs, way: str, place: str, pattern: str, size: float, base: str = COPY
            ) -> Change:
    """What one send of so many bytes changes by, if it goes that way instead of as it does."""
    row = ROW_OF[way]
    if way in (FILE, RING):
        # A file's pages go to a receiver on this machine as to a device; a ring copies the same.
        return between(costs, pattern, row, size, base)
    if place == LOCAL:
        return at_least(between(costs, pattern, row, size, base),
                        between(costs, pattern, row, 0, base).low)
    added, saved = away_terms(costs, pattern, size, row, base)
    off = MOST_ERROR * (abs(added) + abs(saved)) + \
        ERROR_OF_WHOLE * at(costs, f"{PREFIX[pattern]}-{base}", size)
    # The copy of a program whose memory is in no near cache saves more.
    colder = max(0.0, slope(costs, "away-cold") - slope(costs, "away-copy")) * size / PAGE_BYTES
    return Change(added - saved, added - saved - off - colder, added - saved + off)
