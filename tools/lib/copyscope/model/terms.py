# SPDX-License-Identifier: GPL-2.0
"""The composite model: the terms that each variant's time per message is made of; pure.

A1-plain is fitted: what its messages take beyond the baseline's prices is fixed or grows with size.
Every other variant is that, and what it does differently, at the baseline's prices. Nothing
measured of another variant enters.
"""
from __future__ import annotations

from statistics import linear_regression

from copyscope.model.costs import Costs, straight

FITTED = "A1-plain"
PREDICTED = ("A1", "A1-8send", "A2", "A3")
FIELDS = 8
PAGE_BYTES = 4096
# Rows of the baseline that prices are taken from.
ROWS = ("syscall", "switch-process", "memory-copy", "send-copy", "zerocopy-pieces", "write-pieces",
        "write-whole")

# Name of a term and its meaning, in the order of tables and figures.
TERMS = {
    "syscall": "entering and leaving the kernel to send",
    "switch": "context switches of whichever end has more, as counted in A1-plain's runs",
    "copy": "copying payload into the kernel and out of it",
    "fixed": "all else of the shortest message of A1-plain: TCP, wake-ups, the workload itself",
    "size": "all else that A1-plain's longer messages take: packets, memory",
    "gather": "copying the fields into one buffer",
    "pieces": "importing and walking eight pieces instead of one",
    "reference": "sending pages by reference: pins, packets, notifications, pages for late copies",
}

Terms = dict[str, float]


def copies_ns(costs: Costs, size: float) -> float:
    """In at the sender and out at the receiver: two copies on each path within one machine. One by
    reference is copied late instead of in."""
    return 2 * costs.copy_ns(size)


class Fit:
    """A1-plain's time and context switches per message, by size."""

    def __init__(self, costs: Costs, times: dict[int, float], switches: dict[int, float]) -> None:
        self.costs = costs
        self.times = sorted((float(size), time) for size, time in times.items())
        self.switches = sorted((float(size), count) for size, count in switches.items())
        self.fixed_ns = max(0.0, self.times[0][1] - self.priced(self.times[0][0]))

    @property
    def sizes(self) -> tuple[int, int]:
        """Smallest and largest size that it holds for."""
        return int(self.times[0][0]), int(self.times[-1][0])

    def prices(self, size: float) -> Terms:
        """What the baseline has a price for."""
        costs = self.costs
        return {"syscall": costs.ns("syscall"),
                "switch": straight(self.switches, size) * costs.ns("switch-process"),
                "copy": copies_ns(costs, size)}

    def priced(self, size: float) -> float:
        """Sum of the prices, in nanoseconds."""
        return sum(self.prices(size).values())

    def terms(self, size: float) -> Terms:
        """One send of so many bytes and all that follows from it. What grows with size is below
        nothing where both ends work at once: each is priced, but time passes once."""
        return {**self.prices(size), "fixed": self.fixed_ns,
                "size": straight(self.times, size) - self.priced(size) - self.fixed_ns}


def frags(size: int) -> float:
    """Pages that eight fields touch, each in memory that begins anywhere in a page."""
    return FIELDS * pages_of(size / FIELDS)


def aligned_frags(size: int) -> int:
    """Pages that eight fields touch, each on a page boundary."""
    return FIELDS * -(-size // FIELDS // PAGE_BYTES)


def line(points: list[tuple[float, float]], x: float) -> float:
    """Read a curve that is straight by nature on the line through its points, also beyond them."""
    slope, intercept = linear_regression(*zip(*points))
    return intercept + slope * x


def reference_ns(costs: Costs, pieces: float) -> float:
    """Sending so many pieces by reference, less the shortest copied send."""
    return line(costs.curve("zerocopy-pieces"), pieces) - costs.curve("send-copy")[0][1]


def pages_of(size: float) -> float:
    """Pages that one piece of memory touches, which begins anywhere in a page."""
    return 1 + max(0.0, size - 1) / PAGE_BYTES


def referenced(fit: Fit, size: int, pages: float) -> Terms:
    """The terms of a message of so many pages that are sent by reference."""
    return {**fit.terms(size), "reference": reference_ns(fit.costs, pages)}


def predict(fit: Fit, variant: str, size: int) -> Terms:
    """The terms of a variant's time per message; their sum is the prediction."""
    costs = fit.costs
    if variant == "A1-8send":
        # Eight sends of a field each: what A1-plain takes for messages as long as a field.
        return {name: FIELDS * ns for name, ns in fit.terms(size / FIELDS).items()}
    terms = fit.terms(size)
    if variant == "A1":
        terms["gather"] = costs.copy_ns(size)
    elif variant == "A2":
        terms["pieces"] = line(costs.curve("write-pieces"), FIELDS) - costs.ns("write-whole")
    elif variant == "A3":
        terms["reference"] = reference_ns(costs, frags(size))
    elif variant != FITTED:
        raise KeyError(variant)
    return terms


def total(terms: Terms) -> float:
    """Nanoseconds a message."""
    return sum(terms.values())


def dominant(terms: Terms) -> str:
    """The term that takes most."""
    return max(terms, key=lambda name: terms[name])
