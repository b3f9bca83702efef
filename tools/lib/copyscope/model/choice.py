# SPDX-License-Identifier: GPL-2.0
"""From which size on a way pays, for sends of some sizes: each threshold, and the best; pure."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .changes import (
    AWAY,
    COPY,
    GB,
    LOCAL,
    NOTHING,
    RING,
    RING_ZEROCOPY,
    ROW_OF,
    ZEROCOPY,
    Change,
    of_send,
)
from .costs import Costs

PAYS, LEAVE, UNDECIDED = "pays", "leave", "undecided"
PLAIN = "plain"


@dataclass(frozen=True)
class Sends:
    """Sends of about one size."""

    from_bytes: int
    mean_bytes: float
    calls: int


@dataclass(frozen=True)
class Route:
    """Which share of the bytes ends on this machine: what is not known lies between two ends."""

    local_low: float
    local_high: float


@dataclass(frozen=True)
class Option:
    """All sends from a size on by another way, the others as they are."""

    from_bytes: int
    change: Change          # of all sends together
    per_gb: Change          # of each GB that is sent, the others' too


@dataclass(frozen=True)
class Choice:
    """What is known of one way for these sends."""

    way: str
    verdict: str
    options: tuple[Option, ...]
    best: Option            # what the verdict is about


def gb_of(sends: Sequence[Sends]) -> float:
    """What all sends together moved."""
    return sum(send.calls * send.mean_bytes for send in sends) / GB


def of_route(costs: Costs, way: str, route: Route, pattern: str, size: float, base: str = COPY
             ) -> Change:
    """What one send changes by, where its packets go both ways."""
    local, away = (of_send(costs, way, place, pattern, size, base) for place in (LOCAL, AWAY))
    ends = [local.times(share) + away.times(1 - share)
            for share in (route.local_low, route.local_high)]
    return Change(sum(each.ns for each in ends) / 2, min(each.low for each in ends),
                  max(each.high for each in ends))


def decided(way: str, each: Sequence[Change], options: Sequence[Option]) -> Choice:
    """The best option; it pays if all that is not known could not turn it round."""
    sure = [option for option in options if option.change.high < 0]
    best = min(sure or options, key=lambda option: option.change.ns)
    verdict = PAYS if sure else LEAVE if all(change.low > 0 for change in each) else UNDECIDED
    return Choice(way, verdict, tuple(options), best)


def choose(costs: Costs, way: str, route: Route, pattern: str,
           sends: Sequence[Sends]) -> Choice:
    """Try each size as the threshold from which plain sends go that way."""
    each = [of_route(costs, way, route, pattern, send.mean_bytes).times(send.calls)
            for send in sends]
    gb = gb_of(sends)
    return decided(way, each, [
        Option(send.from_bytes, change, change.times(1 / gb)) for number, send in enumerate(sends)
        for change in [sum(each[number:], NOTHING)]])


def back(costs: Costs, route: Route, pattern: str, sends: Sequence[Sends], by_ring: bool = False
         ) -> Choice:
    """The same of sends that go by reference now: copied again below a size, 0 for all of them; by
    a ring if they use one."""
    way, base = (RING_ZEROCOPY, ROW_OF[RING]) if by_ring else (ZEROCOPY, COPY)
    each = [of_route(costs, way, route, pattern, send.mean_bytes, base).times(-send.calls)
            for send in sends]
    gb, until = gb_of(sends), [*(send.from_bytes for send in sends[1:]), 0]
    return decided(PLAIN, each, [
        Option(size, change, change.times(1 / gb)) for number, size in enumerate(until)
        for change in [sum(each[:number + 1], NOTHING)]])
