# SPDX-License-Identifier: GPL-2.0
"""What variants took that took turns in one connection: ratios of rounds, and over starts."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from copyscope.common.spread import Spread, spread

# A start: experiment.alternation of a record.
Start = dict[str, Any]
Cost = Callable[[Start, int], float]


def wall_ns(start: Start, turn: int) -> float:
    """Time of a turn."""
    return start["wall_ns"][turn]


def processor_ns(start: Start, turn: int) -> float:
    """Processor time of both ends, and of the kernel's softirq threads where it is known."""
    threads = start["ksoftirqd_ns"]
    return start["sender_ns"][turn] + start["receiver_ns"][turn] + (threads[turn] if threads else 0)


def rounds(start: Start) -> list[list[int]]:
    """The turns of each round, by variant; without rounds that lost bytes, or took no time."""
    ways, found = len(start["variants"]), []
    for at in range(0, len(start["way"]) - ways + 1, ways):
        turns = sorted(range(at, at + ways), key=start["way"].__getitem__)
        if [start["way"][turn] for turn in turns] == list(range(ways)) and not any(
                start["lost_bytes"][turn] or not processor_ns(start, turn) for turn in turns):
            found.append(turns)
    return found


def ratios(start: Start, way: int, cost: Cost, base: int = 0) -> list[float]:
    """What a variant took over what another one took, the first if none is named, round by
    round."""
    return [cost(start, turns[way]) / cost(start, turns[base]) for turns in rounds(start)]


def medians(starts: Sequence[Start], way: int, cost: Cost, base: int = 0) -> list[float]:
    """The median of each start that has a whole round."""
    return [median(each) for start in starts if (each := ratios(start, way, cost, base))]


def over_starts(starts: Sequence[Start], way: int, cost: Cost, base: int = 0) -> Spread | None:
    """The median over starts of each start's median, with its interval. What lies where in memory
    differs between starts and not between rounds, so the interval is of starts; that of rounds
    alone would leave it out. None: no start has a whole round."""
    found = medians(starts, way, cost, base)
    return spread(found) if found else None


def machine_over_starts(starts: Sequence[Start], way: int) -> Spread | None:
    """The same of the time of all processors: they are counted in ticks, which only sums of a start
    tell. None: a start does not know them."""
    found = []
    for start in starts:
        ticks, kept = start["machine_ns"], rounds(start)
        sums = [sum(ticks[turns[each]] for turns in kept) for each in (0, way)] if ticks else [0, 0]
        if not all(sums):
            return None
        found.append(sums[1] / sums[0])
    return spread(found) if found else None


def a_byte(starts: Sequence[Start], way: int, cost: Cost) -> Spread | None:
    """What a variant took for each byte of payload, over starts, in ns."""
    found = [median(cost(start, turns[way]) for turns in kept) / start["block_bytes"]
             for start in starts if (kept := rounds(start))]
    return spread(found) if found else None


def length_ms(start: Start) -> float | None:
    """How long turns of the first variant really were, in the middle."""
    kept = rounds(start)
    return median(wall_ns(start, turns[0]) for turns in kept) / 1e6 if kept else None


def by(starts: Sequence[Start], key: str, way: int, cost: Cost) -> dict[Any, Spread]:
    """The same for each value of a key of starts: asked_ms, as it moves where turns are short
    against what each leaves behind for the next one; ends, where both run."""
    values = dict.fromkeys(each for start in starts if (each := start.get(key)) is not None)
    found = {value: over_starts([each for each in starts if each.get(key) == value], way, cost)
             for value in values}
    return {value: each for value, each in found.items() if each}
