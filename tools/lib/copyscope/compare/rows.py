# SPDX-License-Identifier: GPL-2.0
"""How two sides of a comparison differ: settings, sites, causes and times of both."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from copyscope.common import spread
from copyscope.common.spread import Spread
from copyscope.common.tables import named
from copyscope.common.text import memory_text, size_text
from copyscope.records import copies
from copyscope.records.copies import Amount
from copyscope.records.reply import reply_alone
from copyscope.records.run_record import ENDS, Record
from copyscope.report.run import accepted
from copyscope.runs import pairs

from .sides import Match, in_turns

# What two sides differ in beside what was counted: machine, kernel, path, pass, workload.

Read = Callable[[Record], Any]


@dataclass(frozen=True)
class Difference:
    """One fact with the values that each side has."""

    what: str
    first: str
    second: str


def at(key: str) -> Read:
    """What lies at a key of a record."""
    return lambda record: record.at(key)


def of_path(key: str) -> Read:
    """What a record says of its path."""
    return at(f"experiment.path.{key}")


def memory(record: Record) -> str:
    """Memory of the machine."""
    return memory_text(record.at("machine.memory_bytes"))


def passes(record: Record) -> str:
    """The pass that times are from, and whether probes counted in another one."""
    counted = record.backend != "none"
    return ("timed with probes" if record.times.probed else
            "timed without probes" + ", counted in a pass of its own" * counted)


def length(record: Record) -> str:
    """What was asked for: seconds, or a number of messages."""
    seconds = record.workload("seconds")
    return f"{seconds:g} s" if seconds is not None else \
        f"{record.workload('messages_asked')} messages"


MACHINE: tuple[tuple[str, Read], ...] = (
    ("machine", at("machine.cpu_model")), ("CPUs", at("machine.cpus")), ("memory", memory),
    ("architecture", at("machine.arch")), ("virtualised", at("machine.virt")),
    ("emulated", at("machine.emulated")), ("kernel", at("machine.kernel")),
)
# In the order in which a difference matters: what decides speed and copies first.
FACTS: tuple[tuple[str, Read], ...] = (
    ("variant", lambda record: named(record.label, record.variant)),
    ("message", lambda record: size_text(record.bytes)),
    ("connections", lambda record: record.connections), *MACHINE,
    ("path", of_path("kind")), ("MTU", of_path("mtu")),
    ("scatter-gather", of_path("scatter_gather")), ("segmentation offload", of_path("tso")),
    ("DMA by a device", of_path("hardware_dma")), ("packet taps", of_path("taps")),
    ("IPv6", of_path("ipv6")), ("netem", of_path("netem")), ("qdisc", of_path("qdisc")),
    ("pass", passes), ("backend", at("backend.name")),
    ("pattern", at("experiment.workload.pattern")),
    ("receiver", at("experiment.workload.receiver")),
    ("readers", lambda record: record.readers),
    ("behaviours", lambda record: record.workload("behaviours") or "none"),
    ("asked for", length), ("commit", at("tool.commit")),
)
OF_WATCHES: tuple[tuple[str, Read], ...] = (
    ("who", lambda record: record.label),
    ("asked for", lambda record: f"{record.at('subject.kind')} {record.at('subject.asked') or ''}"
     .strip()),
    *MACHINE, ("books", at("books")), ("backend", at("backend.name")),
    ("commit", at("tool.commit")),
)
# What a sweep varies on purpose, and what its points name.
OF_POINTS = ("variant", "message", "connections")


def text(value: Any) -> str:
    """A value as a cell."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def values(records: list[Record], read: Read) -> str:
    """Each different value of a side once."""
    return "; ".join(dict.fromkeys(text(read(record)) for record in records))


def same_name(found: list[Match]) -> list[Difference]:
    """Labels that mean another variant on each side, of sweeps."""
    pairs = {(each.first[0].label, each.first[0].variant, each.second[0].variant)
             for each in found}
    return [Difference(f"what {label} is", *(named(each, each) for each in variants))
            for label, *variants in sorted(pairs) if len(set(variants)) > 1]


def differences(found: list[Match], points: bool) -> list[Difference]:
    """What differs; `points`: sides of several points, which tell these apart themselves."""
    first, second = ([run for each in found for run in runs(each)] for runs in
                     (lambda each: each.first, lambda each: each.second))
    facts = OF_WATCHES if first[0].watched else FACTS
    every = [Difference(what, values(first, read), values(second, read))
             for what, read in facts if not (points and what in OF_POINTS)]
    return [*(same_name(found) if points else ()),
            *(each for each in every if each.first != each.second)]


# What two groups of runs counted and how long they took: sites, causes and times of both.

# Less than this per payload byte is told as no difference between sites of sweeps.
SAME = 0.005


@dataclass(frozen=True)
class SiteRow:
    """Bytes per payload byte at one site."""

    site: str
    first: Amount
    second: Amount

    @property
    def seen(self) -> bool:
        """Anything passed it."""
        return self.first.seen or self.second.seen

    @property
    def differs(self) -> bool:
        """Both are known and apart, or one is known alone."""
        mine, other = self.first.value, self.second.value
        if mine is None or other is None:
            return mine is not other
        return abs(mine - other) > SAME


@dataclass(frozen=True)
class CauseRow:
    """Share of the payload that had one cause to be copied; None: it was not found there."""

    cause: str
    site: str
    remedy: str
    first: float | None
    second: float | None

    @property
    def differs(self) -> bool:
        """The shares are apart."""
        return abs((self.first or 0) - (self.second or 0)) > SAME


@dataclass(frozen=True)
class TimeRow:
    """A time, or a rate; None where it was not measured."""

    what: str
    unit: str
    first: Spread | None
    second: Spread | None
    ratio: Spread | None        # second over first; None: one is missing, or there is a reason
    paired: bool = False        # the ratio is of runs that were made in turns
    against: str = ""           # why no ratio may be given

    @property
    def interval(self) -> str:
        """What the ends of the ratio are; "" of one run each."""
        if not self.ratio or not self.first or not self.second or \
                self.first.n == self.second.n == 1:
            return ""
        if self.paired:
            return spread.kind(self.ratio.n)
        exact = spread.rank_of_ratios(self.first.n, self.second.n) is not None
        return "95 % interval of the ratio" if exact else "range of all ratios"


def row(what: str, unit: str, first: list[float | None], second: list[float | None],
        paired: bool = False, against: str = "") -> TimeRow:
    """A time of both sides; None in a list is a run that lacks it."""
    known = [[each for each in side if each is not None] for side in (first, second)]
    mine, other = (spread.spread(each) if each else None for each in known)
    ratio = None
    couples = [(a, b) for a, b in zip(first, second) if a and b is not None] if paired else []
    if mine and other and mine.low > 0 and not against:
        ratio = spread.spread([b / a for a, b in couples]) if couples else \
            spread.ratio(known[1], known[0])
    return TimeRow(what, unit, mine, other, ratio, bool(couples), against)


def sites(match: Match) -> list[SiteRow]:
    """Every site; where both ends send, of the replies alone."""
    first, second = (copies.amounts([reply_alone(each) for each in runs])
                     for runs in (match.first, match.second))
    return [SiteRow(site, first[site], second[site]) for site in first]


def shares(runs: list[Record]) -> dict[tuple[str, str, str], float]:
    """By cause, site and remedy: bytes per byte that send accepted, as their reports have it."""
    whole = sum(accepted(record) for record in runs)
    found: dict[tuple[str, str, str], float] = {}
    for record in runs:
        # A send that was refused has no bytes: see refused().
        for cause in (each for each in record.at("causes") if each["bytes"] is not None):
            key = cause["cause"], cause["site"], cause["remedy"] or ""
            found[key] = found.get(key, 0.0) + cause["bytes"] / (whole or 1)
    return found


def refused(runs: list[Record]) -> int:
    """Sends that got ENOBUFS."""
    return sum(record.at("counts.enobufs") or 0 for record in runs)


def causes(match: Match) -> list[CauseRow]:
    """Every cause of either side, the largest first."""
    first, second = shares(match.first), shares(match.second)
    keys = dict.fromkeys([*first, *second])
    found = [CauseRow(*key, first.get(key), second.get(key)) for key in keys]
    return sorted(found, key=lambda each: -max(each.first or 0, each.second or 0))


def cpu_us(record: Record) -> float | None:
    """Processor time of both ends a message."""
    values = [record.counter(end, "task-clock") for end in ENDS]
    messages = record.times.messages
    return None if None in values or not messages else \
        sum(value for value in values if value is not None) / messages / 1e3


def latency(which: str) -> Callable[[Record], float | None]:
    """Reads a latency."""
    return lambda record: record.latency_us(which)


TIMES: tuple[tuple[str, str, Callable[[Record], float | None]], ...] = (
    ("throughput", "Gbit/s", lambda record: record.throughput_gbps),
    ("latency, mean", "us", latency("mean")), ("latency, p50", "us", latency("p50")),
    ("latency, p99", "us", latency("p99")), ("CPU time a message", "us", cpu_us),
)


MODELLED = (("instructions", "instructions"), ("L1d load misses", "L1-dcache-load-misses"),
            ("LLC misses", "cache-misses"))


def modelled(match: Match) -> list[TimeRow]:
    """What an emulator's model counted of a message, where both sides have it."""
    sides = [[each.modelled for each in runs] for runs in (match.first, match.second)]
    if not all(any(side) for side in sides):
        return []
    caches = list(dict.fromkeys(each.caches for side in sides for each in side if each))
    against = f"other {' and '.join(caches)}" if len(caches) > 1 else ""

    def of(record: Record, event: str) -> float | None:
        found, messages = record.modelled, record.times.messages
        if not found or not messages:
            return None
        known = [each for end in ENDS if (each := found.counter(end, event)) is not None]
        return sum(known) / messages if len(known) == len(ENDS) else None

    return [row(f"modelled {what} a message", "", *([of(record, event) for record in runs]
                for runs in (match.first, match.second)), False, against)
            for what, event in MODELLED]


def rates(match: Match) -> list[TimeRow]:
    """What was sent and received in a second of each watch."""
    def rate(record: Record, key: str) -> float | None:
        value, span = record.at(f"counts.{key}"), record.at("window.seconds")
        return value / 1e6 / span if value is not None and span else None

    return [row(what, "MB/s", *([rate(record, key) for record in runs]
                                for runs in (match.first, match.second)))
            for what, key in (("sent", "accepted_bytes"), ("received", "returned_bytes"))]


def times(match: Match) -> list[TimeRow]:
    """Every time that one of both has; of watches what they moved in a second."""
    if match.first[0].watched:
        return rates(match)
    against = next(filter(None, map(pairs.reason_against, (match.first, match.second))), "")
    turns = in_turns(match)
    sides = turns or (match.first, match.second)
    every = (row(what, unit, *([read(record) if record.at("experiment.timing.comparable") else None
                                for record in runs] for runs in sides), bool(turns), against)
             for what, unit, read in TIMES)
    return [*(each for each in every if each.first or each.second), *modelled(match)]
