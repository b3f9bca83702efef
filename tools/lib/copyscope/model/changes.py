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

# Where packets end: a receiver on this machine, or a device that takes pages as they are.
LOCAL, AWAY = "local", "away"
PLACES = (LOCAL, AWAY)
ZEROCOPY, FILE = "MSG_ZEROCOPY", "sendfile"
# In place of a read() and a send: what a file server spares.
FILE_READ = "sendfile for read()"
OF_FILES = (FILE, FILE_READ)
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
        "away-copy", "away-cold", "away-reference", "away-file", "alone-copy", "alone-reference")
# Those of a ring, which a kernel may refuse.
RING_ROWS = ("cpu-ring", "cpu-ring-reference", "turn-ring", "turn-ring-reference", "away-ring",
             "away-ring-reference", "alone-ring-reference")
# A send of what was read from the page cache before; a record of before has no such row.
READ = "read"
READ_ROW = f"{PREFIX[STREAM]}-{READ}"
OPTIONAL_ROWS = (*RING_ROWS, READ_ROW)
# The longest send of rows away-*: what one acknowledgement covers, and notifies at once.
PACKET_BYTES = 65536
# And of rows alone-*, the only one.
ALONE_BYTES = 4096
# What a packet of a device carries of TCP, with an MTU of 1500.
SEGMENT_BYTES = 1448
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


def alone(costs: Costs, row: str) -> float:
    """A send of rows alone-*, where each connection has one and each notification is read apart.
    What is not notified has no such row: it takes as much more there as a copy does."""
    if row in (ROW_OF[ZEROCOPY], ROW_OF[RING_ZEROCOPY]):
        return at(costs, f"alone-{row}", ALONE_BYTES)
    return at(costs, f"away-{row}", ALONE_BYTES) + at(costs, "alone-copy", ALONE_BYTES) - \
        at(costs, "away-copy", ALONE_BYTES)


def away_between(costs: Costs, size: float, row: str, base: str) -> float:
    """What a way takes more than another in the queue of a socket, where no byte is copied late.
    Beyond a packet each byte takes what it takes within one; the call and the notification do not
    grow: rows alone-* and the longest of away-* have one of each."""
    within = min(size, PACKET_BYTES)
    longest, shortest = (
        [at(costs, f"away-{each}", PACKET_BYTES) for each in (row, base)],
        [alone(costs, each) for each in (row, base)])
    grows = (longest[0] - longest[1] - shortest[0] + shortest[1]) / (PACKET_BYTES - ALONE_BYTES)
    return at(costs, f"away-{row}", within) - at(costs, f"away-{base}", within) + \
        grows * (size - within)


def own_packet(costs: Costs, pattern: str, size: float, row: str, base: str) -> float:
    """What a short send by reference adds in a stream, as it shares no packet with its neighbours:
    on this machine it adds more to a stream than where each send has a packet of its own anyway."""
    if pattern != STREAM or row not in (ROW_OF[ZEROCOPY], ROW_OF[RING_ZEROCOPY]):
        return 0.0
    stream, turns = (costs.curve(f"{each}-{row}")[0][1] - costs.curve(f"{each}-{base}")[0][1]
                     for each in PREFIX.values())
    return max(0.0, stream - turns) * max(0.0, 1 - size / SEGMENT_BYTES)


def to_device(costs: Costs, pattern: str, size: float, row: str, base: str) -> Change:
    """A way to a device that takes pages as they are, less the copied send there."""
    more = away_between(costs, size, row, base)
    packet = own_packet(costs, pattern, size, row, base)
    within = min(size, PACKET_BYTES)
    off = MOST_ERROR * (abs(more) + packet) + \
        ERROR_OF_WHOLE * at(costs, f"{PREFIX[pattern]}-{base}", size) + \
        sum(scatter(costs, f"away-{each}", within) * at(costs, f"away-{each}", size)
            for each in (row, base))
    # The copy of a program whose memory is in no near cache saves more.
    colder = max(0.0, at(costs, "away-cold", within) - at(costs, "away-copy", within))
    deeper = 0.0 if row == ROW_OF[RING] else colder * size / within
    return Change(more + packet, more + packet - off - deeper, more + packet + off)


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
    if way == FILE_READ:
        return of_file_read(costs, place, pattern, size)
    row = ROW_OF[way]
    if place == AWAY:
        return to_device(costs, pattern, size, row, base)
    if way in (FILE, RING):
        return between(costs, pattern, row, size, base)
    return at_least(between(costs, pattern, row, size, base),
                    between(costs, pattern, row, 0, base).low)


def of_file_read(costs: Costs, place: str, pattern: str, size: float) -> Change:
    """What sendfile changes where each send has a read() before it. That takes the same wherever
    packets go, and has a row for a stream here."""
    if (place, pattern) == (LOCAL, STREAM):
        return between(costs, pattern, ROW_OF[FILE], size, READ)
    return of_send(costs, FILE, place, pattern, size) + \
        between(costs, STREAM, READ, size).times(-1)
