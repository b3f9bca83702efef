# SPDX-License-Identifier: GPL-2.0
"""What two groups of runs counted and how long they took: sites, causes and times of both."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from copyscope.common.spread import Spread, spread
from copyscope.records import copies
from copyscope.records.copies import Amount
from copyscope.records.reply import reply_alone
from copyscope.records.run_record import ENDS, Record
from copyscope.runs import pairs

from .sides import Match

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
    against: str = ""           # why no ratio may be given

    @property
    def ratio(self) -> Spread | None:
        """Second over first: of the medians, and of the ends of both intervals; None if it may not
        be given."""
        mine, other = self.first, self.second
        if self.against or not mine or not other or not mine.low:
            return None
        return Spread(other.middle / mine.middle, other.low / mine.high, other.high / mine.low,
                      min(mine.n, other.n))


def sites(match: Match) -> list[SiteRow]:
    """Every site; where both ends send, of the replies alone."""
    first, second = (copies.amounts([reply_alone(each) for each in runs])
                     for runs in (match.first, match.second))
    return [SiteRow(site, first[site], second[site]) for site in first]


def shares(runs: list[Record]) -> dict[tuple[str, str, str], float]:
    """By cause, site and remedy: bytes per byte that the senders' calls accepted."""
    accepted = sum(record.at("workload.accepted_bytes") or record.at("counts.accepted_bytes") or 0
                   for record in runs)
    found: dict[tuple[str, str, str], float] = {}
    for record in runs:
        for cause in record.at("causes"):
            key = cause["cause"], cause["site"], cause["remedy"] or ""
            found[key] = found.get(key, 0.0) + (cause["bytes"] or 0) / (accepted or 1)
    return found


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


def rates(match: Match) -> list[TimeRow]:
    """What was sent and received in a second of each watch."""
    found = []
    for what, key in (("sent", "accepted_bytes"), ("received", "returned_bytes")):
        values = [record.at(f"counts.{key}") for record in (match.first[0], match.second[0])]
        spans = [record.at("window.seconds") for record in (match.first[0], match.second[0])]
        found.append(TimeRow(what, "MB/s", *(
            spread([value / 1e6 / span]) if value is not None and span else None
            for value, span in zip(values, spans))))
    return found


def times(match: Match) -> list[TimeRow]:
    """Every time that one of both has; of watches what they moved in a second."""
    if match.first[0].watched:
        return rates(match)
    against = next(filter(None, map(pairs.reason_against, (match.first, match.second))), "")
    found = []
    for what, unit, read in TIMES:
        known = [[value for record in runs if record.at("timing.comparable")
                  and (value := read(record)) is not None]
                 for runs in (match.first, match.second)]
        if any(known):
            first, second = (spread(each) if each else None for each in known)
            found.append(TimeRow(what, unit, first, second, against))
    return found
