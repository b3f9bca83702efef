# SPDX-License-Identifier: GPL-2.0
"""What each service of two sides of watches moved, copied and took of the CPU, by its name."""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from copyscope.common.spread import Spread
from copyscope.records.run_record import Record
from copyscope.report import cpu, figures
from copyscope.report.rows import grouped

from .rows import TimeRow, row

Document = dict[str, Any]
GB = 1e9
SAMPLED = "95 % interval by samples"


@dataclass(frozen=True)
class Sampled:
    """Samples of the clock: how many, and what one of them is worth of a quantity."""

    samples: int
    each: float

    @property
    def value(self) -> float:
        """The quantity."""
        return self.samples * self.each

    @property
    def interval(self) -> Spread:
        """With the 95 % interval of a number of samples that come by chance (Poisson; square
        roots, which scatter alike)."""
        low, high = ((math.sqrt(self.samples + 3 / 8) + part * cpu.Z / 2) for part in (-1, 1))
        return Spread(self.value, max(low, 0) ** 2 * self.each, high ** 2 * self.each, 1)

    @property
    def noise(self) -> float:
        """The variance of the logarithm."""
        return 1 / self.samples


@dataclass(frozen=True)
class Share:
    """Percent of samples that were of one kind."""

    samples: int
    whole: int

    @property
    def value(self) -> float:
        """The percentage."""
        return 100 * self.samples / self.whole

    @property
    def interval(self) -> Spread:
        """With its 95 % interval, as in reports."""
        found = cpu.interval(self.samples, self.whole)
        return Spread(self.value, 100 * found["share_low"], 100 * found["share_high"], 1)

    @property
    def noise(self) -> float:
        """The variance of the logarithm."""
        return 1 / self.samples - 1 / self.whole


Value = float | Sampled | Share | None


@dataclass(frozen=True)
class Quantity:
    """A number of a service on both sides."""

    row: TimeRow
    sampled: bool = False   # of one watch each: the intervals are those of samples


class Service:
    """One service of one watch."""

    def __init__(self, data: Document, parts: list[Document]) -> None:
        self.data, self.parts = data, parts
        self.sum = figures.added([each["sum"] for each in parts])
        self.moved = figures.moved(self.sum)

    def rate(self, name: str) -> Value:
        """MB/s of a count of bytes."""
        count, seconds = self.sum["counts"][name], self.data["window"]["seconds"]
        return None if count is None or not seconds else count / 1e6 / seconds

    def per_moved(self, value: int | None) -> Value:
        """Bytes for each byte that it sent or received."""
        return None if value is None or not self.moved else value / self.moved

    def samples(self, kind: str) -> int | None:
        """Samples of its CPU time; None if none were taken."""
        if not (self.data.get("cpu") or {}).get("clock"):
            return None
        return sum(use["samples"] if kind == "samples" else use[kind]["samples"]
                   for each in self.parts if (use := each.get("cpu")))

    def cpu_of(self, kind: str) -> Value:
        """CPU seconds for each GB that it moved."""
        samples = self.samples(kind)
        if samples is None or not self.moved:
            return None
        return Sampled(samples, GB / self.data["cpu"]["hz"] / self.moved)

    def share(self) -> Value:
        """Percent of its samples that copied payload."""
        whole, part = self.samples("samples"), self.samples("copies")
        return None if not whole or part is None else Share(part, whole)

    def size(self, direction: str) -> Value:
        """Mean bytes of a call."""
        buckets = [bucket for each in self.parts for way in each.get("sizes") or ()
                   if way["direction"] == direction for bucket in way["buckets"]]
        calls = sum(each["calls"] for each in buckets)
        return sum(each["bytes"] for each in buckets) / calls if calls else None

    def held(self) -> Value:
        """Microseconds below which half of its zero-copy sends were notified: the end of a bucket
        of a histogram in powers of two."""
        found: dict[int, int] = {}
        for each in self.parts:
            for bucket in ((each.get("holds") or {}).get("notified") or {}).get("buckets", ()):
                below = bucket["below_ns"]
                found[below] = found.get(below, 0) + bucket["sends"]
        half, below = sum(found.values()) / 2, 0
        for end, sends in sorted(found.items()):
            below += sends
            if below >= half:
                return end / 1e3
        return None

    def cause(self, cause: str, site: str) -> Value:
        """Bytes that a cause had copied for each byte that it sent."""
        sent = self.sum["counts"]["accepted_bytes"]
        counts = [found["bytes"] for each in self.parts for found in each.get("causes", ())
                  if (found["cause"], found["site"]) == (cause, site)]
        return None if not sent or None in counts else sum(counts) / sent

    def causes(self) -> set[tuple[str, str]]:
        """Causes of its copies, with their sites."""
        return {(found["cause"], found["site"]) for each in self.parts
                for found in each.get("causes", ()) if found["bytes"]}


# In the order in which they are told; what neither side measured is left out.
QUANTITIES: tuple[tuple[str, str, Callable[[Service], Value]], ...] = (
    ("sent", "MB/s", lambda each: each.rate("accepted_bytes")),
    ("received", "MB/s", lambda each: each.rate("returned_bytes")),
    ("copied", "bytes a byte moved",
     lambda each: each.per_moved(figures.copied(each.sum)[0])),
    ("copied at least", "bytes a byte moved",
     lambda each: each.per_moved(figures.copied(each.sum)[1])),
    ("avoidable", "bytes a byte moved", lambda each: each.per_moved(figures.needless(each.sum))),
    ("CPU time", "s a GB moved", lambda each: each.cpu_of("samples")),
    ("CPU time of copying", "s a GB moved", lambda each: each.cpu_of("copies")),
    ("CPU share of copying", "%", Service.share),
    ("mean send", "bytes", lambda each: each.size("send")),
    ("mean receive", "bytes", lambda each: each.size("recv")),
    ("half of holds below", "us", Service.held),
)


def of_record(record: Record) -> dict[str, Service]:
    """The services of a watch that moved payload, by name."""
    found = {name: Service(record.data, parts)
             for name, parts in grouped(record.data, "service").items()}
    return {name: each for name, each in found.items() if each.moved}


def ratio_of_samples(first: Sampled | Share, second: Sampled | Share) -> Spread | None:
    """Second over first, with the 95 % interval of a ratio of two numbers of samples."""
    if not first.samples or not second.samples:
        return None
    middle = second.value / first.value
    reach = math.exp(cpu.Z * math.sqrt(first.noise + second.noise))
    return Spread(middle, middle / reach, middle * reach, 1)


def quantity(what: str, unit: str, sides: list[list[Value]]) -> Quantity | None:
    """One number of all watches of both sides; None if no watch has it."""
    flat = [[each.value if isinstance(each, Sampled | Share) else each for each in side]
            for side in sides]
    if all(each is None for side in flat for each in side):
        return None
    first, second = (side[0] if len(side) == 1 else None for side in sides)
    if isinstance(first, Sampled | Share) and isinstance(second, Sampled | Share):
        return Quantity(TimeRow(what, unit, first.interval, second.interval,
                                ratio_of_samples(first, second)), True)
    return Quantity(row(what, unit, *flat))


def quantities(first: list[Service], second: list[Service]) -> list[Quantity]:
    """All numbers of a service."""
    causes = sorted(set().union(*(each.causes() for each in (*first, *second))))
    asked = [*QUANTITIES, *((f"{cause}, {site}", "bytes a byte sent",
                             lambda each, cause=cause, site=site: each.cause(cause, site))
                            for cause, site in causes)]
    known = all(figures.copied(each.sum)[0] is not None for each in (*first, *second))
    found = [quantity(what, unit, [[read(each) for each in side] for side in (first, second)])
             for what, unit, read in asked if not (known and what == "copied at least")]
    return [each for each in found if each]


@dataclass(frozen=True)
class Compared:
    """A service of both sides."""

    name: str
    quantities: list[Quantity]


def sides_of(runs: list[Record]) -> dict[str, list[Service]]:
    """The services of some watches; of one in which it moved nothing it has no entry."""
    found: dict[str, list[Service]] = {}
    for record in runs:
        for name, each in of_record(record).items():
            found.setdefault(name, []).append(each)
    return found


def compared(first: list[Record], second: list[Record]) -> tuple[list[Compared], list[list[str]]]:
    """Services of both sides, those first that copied most; and those that one side has alone."""
    mine, other = sides_of(first), sides_of(second)

    def copied(name: str) -> int:
        return -sum(figures.copied(each.sum)[1] for each in (*mine[name], *other[name]))

    both = sorted(set(mine) & set(other), key=lambda name: (copied(name), name))
    return [Compared(name, quantities(mine[name], other[name])) for name in both], \
        [sorted(set(mine) - set(other)), sorted(set(other) - set(mine))]

