# SPDX-License-Identifier: GPL-2.0
"""Bisects message sizes by a judge that may also say "alike" or "undecided"; pure."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from copyscope.common import outcomes
from copyscope.common.outcomes import repeats_to_part, won_up_to
from copyscope.common.spread import Spread

FIRST, SECOND, ALIKE, UNDECIDED = "first", "second", outcomes.ALIKE, outcomes.UNDECIDED
# Of the ratio of first's cost to second's.
WINNERS = {outcomes.PAYS: FIRST, outcomes.COSTS: SECOND, ALIKE: ALIKE, UNDECIDED: UNDECIDED}
STEP_BYTES = 8              # a message has eight fields: all stay of one size
LOOKS_BETWEEN = 3           # where both ends agree, sizes looked at in between

Judge = Callable[[int], str]


class TimeUp(Exception):
    """A judge has no time left: what was judged before is all that is known."""


@dataclass(frozen=True)
class Found:
    """The result of a search. Of kind "crossover", `below` wins up to `low`, `above` from `high`
    to `top`, and what lies between `low` and `high` is closer than asked or undecided. Sizes at
    which both are alike count as first's: the second does not pay there."""

    kind: str                       # crossover, none or undecided
    below: str
    above: str
    low: int
    high: int
    undecided: tuple[int, ...] = ()  # sizes judged so within low to high
    contrary: tuple[int, ...] = ()   # sizes beyond, where the other side wins all the same
    time_up: bool = False            # it ended before it was as near as asked
    top: int = 0                     # `above` wins at each size that was judged, up to this one
    open: tuple[int, ...] = ()       # sizes beyond, undecided
    alike: tuple[int, ...] = ()      # sizes at which they are


def verdict(ratio: Spread) -> str:
    """Who wins, by the 95 % interval of the median ratio of first's cost to second's."""
    return WINNERS[outcomes.answer(ratio).outcome]


def pairs_to_decide(ratio: Spread, most: int) -> int | None:
    """About how many pairs more would leave 1 out of an interval that holds it. None: more than
    `most` in all."""
    needed = repeats_to_part(ratio)
    return None if needed > most else max(1, math.ceil(needed) - ratio.n)


def most_sizes(low: int, high: int, nearness: float) -> int:
    """How many sizes a search judges at most: both ends, looks in between and above, and three
    bisections."""
    halvings = math.ceil(math.log2(max(2, math.log(high / low) / math.log(nearness))))
    return 2 + 2 * LOOKS_BETWEEN + 3 * halvings


def middle(low: int, high: int) -> int:
    """The size halfway between two on a logarithmic scale."""
    return round(math.sqrt(low * high) / STEP_BYTES) * STEP_BYTES


def close(low: int, high: int, nearness: float) -> bool:
    """Tell whether no size is left to measure between two."""
    return high <= low * nearness or not low < middle(low, high) < high


def edge(judge: Judge, low: int, high: int, nearness: float) -> tuple[int, int]:
    """Between sizes that are judged differently, the nearest two that still are so: `low` judged
    as it was, `high` otherwise."""
    mine = judge(low)
    while not close(low, high, nearness):
        at = middle(low, high)
        low, high = (at, high) if judge(at) == mine else (low, at)
    return low, high


def between(low: int, high: int, count: int) -> list[int]:
    """Sizes that lie evenly between two, on a logarithmic scale."""
    ratio = (high / low) ** (1 / (count + 1))
    sizes = (round(low * ratio ** turn / STEP_BYTES) * STEP_BYTES for turn in range(1, count + 1))
    return [each for each in dict.fromkeys(sizes) if low < each < high]


def flank(judge: Judge, sizes: Iterable[int]) -> tuple[int, int] | None:
    """The first two neighbours of which different sides win, leaving out the undecided."""
    last = None
    for size in sizes:
        winner = judge(size)
        if winner == UNDECIDED:
            continue
        if last is not None and judge(last) != winner:
            return last, size
        last = size
    return None


def narrow(judge: Judge, low: int, high: int, nearness: float) -> Found:
    """Bring two ends that different sides win as near to each other as the judge allows."""
    below, above = judge(low), judge(high)
    seen: list[int] = []
    while not close(low, high, nearness):
        at = middle(low, high)
        winner = judge(at)
        if winner == UNDECIDED:
            seen.append(at)
            break
        low, high = (at, high) if winner == below else (low, at)
    if seen:
        low, _ = edge(lambda size: below if judge(size) == below else UNDECIDED,
                      low, seen[0], nearness)
        high = mirrored(judge, seen[0], high, above, nearness)
    return Found("crossover", below, above, low, high, tuple(seen))


def mirrored(judge: Judge, low: int, high: int, above: str, nearness: float) -> int:
    """The smallest size found that `above` still wins, coming down from `high`."""
    _, first = edge(lambda size: UNDECIDED if judge(size) != above else above, low, high, nearness)
    return first


def look(judge: Judge, low: int, high: int, nearness: float) -> Found:
    """Look at both ends, at sizes in between if the ends do not differ, then as near as asked."""
    ends = judge(low), judge(high)
    if UNDECIDED not in ends and ends[0] != ends[1]:
        return narrow(judge, low, high, nearness)
    looks = [low, *between(low, high, LOOKS_BETWEEN), high]
    pair = flank(judge, looks)
    if pair is not None:
        return narrow(judge, *pair, nearness)
    winner = next((judge(size) for size in looks if judge(size) != UNDECIDED), UNDECIDED)
    # What an end that is undecided hides may lie beyond the sizes that are decided.
    return Found("undecided" if UNDECIDED in ends else "none", winner, winner, low, high)


def look_above(judge: Judge, judged: dict[int, str], found: Found, high: int,
               nearness: float) -> None:
    """What wins at some size need not at each larger one: look there, and how far it does."""
    for size in between(found.high, high, LOOKS_BETWEEN):
        judge(size)
    if found.kind != "crossover":
        return
    top = won_up_to(judged, found.high, found.above)
    if top < high:
        edge(lambda size: found.above if judge(size) == found.above else UNDECIDED,
             top, min(size for size in judged if size > top), nearness)


def so_far(judged: dict[int, str], low: int, high: int) -> Found:
    """What is known of a search that ended early."""
    pair = flank(judged.__getitem__, sorted(judged))
    if pair is not None:
        return Found("crossover", judged[pair[0]], judged[pair[1]], *pair, time_up=True)
    winner = next((who for who in judged.values() if who != UNDECIDED), UNDECIDED)
    return Found("undecided", winner, winner, low, high, time_up=True)


def search(judge: Judge, low: int, high: int, nearness: float) -> Found:
    """Find where the winner changes between two sizes; each size is judged once."""
    judged: dict[int, str] = {}
    alike: list[int] = []

    def once(size: int) -> str:
        if size not in judged:
            winner = judge(size)
            if winner == ALIKE:
                alike.append(size)
            judged[size] = FIRST if winner == ALIKE else winner
        return judged[size]

    try:
        found = look(once, low, high, nearness)
        look_above(once, judged, found, high, nearness)
    except TimeUp:
        found = so_far(judged, low, high)
    within = tuple(sorted(size for size, who in judged.items()
                          if who == UNDECIDED and found.low <= size <= found.high))
    contrary = tuple(sorted(size for size, who in judged.items() if found.kind == "crossover" and
                            size not in alike and
                            (size < found.low and who == found.above
                             or size > found.high and who == found.below)))
    beyond = tuple(sorted(size for size, who in judged.items() if who == UNDECIDED
                          and not found.low <= size <= found.high))
    top = won_up_to(judged, found.high, found.above) if found.kind == "crossover" else 0
    return replace(found, undecided=within, contrary=contrary, top=top, open=beyond,
                   alike=tuple(sorted(alike)))
