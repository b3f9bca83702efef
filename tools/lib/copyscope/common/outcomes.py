# SPDX-License-Identifier: GPL-2.0
"""What a ratio of costs decides: pays, costs, alike; or why it is undecided, and what would do."""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from .spread import Spread, rank_below, short_of

PAYS, COSTS, ALIKE, UNDECIDED = "pays", "costs", "alike", "undecided"
# Less than this decides nothing that people do: two are alike if the whole interval lies within.
ALIKE_WITHIN = 0.03
MOST_ALIKE, LEAST_ALIKE = 1 + ALIKE_WITHIN, 1 / (1 + ALIKE_WITHIN)
# More repeats than this are not asked of anybody.
MOST_REPEATS = 1000


@dataclass(frozen=True)
class Answer:
    """What a ratio decides. Of one that is undecided the reason, and about how many repeats more
    would decide it if the median stays where it is; None: more than MOST_REPEATS in all."""

    outcome: str
    why: str = ""
    more: int | None = None


def repeats_to_part(ratio: Spread) -> float:
    """About how many repeats in all leave 1 out of the interval, if the median stays where it is:
    an interval narrows with their root. Infinite if the median is 1."""
    away = abs(ratio.middle - 1)
    reach = ratio.middle - ratio.low if ratio.middle > 1 else ratio.high - ratio.middle
    return ratio.n * (reach / away) ** 2 if away else math.inf


def repeats_to_decide(ratio: Spread) -> int | None:
    """About how many repeats in all would decide, either way."""
    above, below = ratio.high - ratio.middle, ratio.middle - ratio.low
    needed = repeats_to_part(ratio)
    if LEAST_ALIKE < ratio.middle < MOST_ALIKE:
        way = max(above / (MOST_ALIKE - ratio.middle), below / (ratio.middle - LEAST_ALIKE))
        needed = min(needed, ratio.n * way ** 2)
    # As many as were made did not decide it.
    return None if needed > MOST_REPEATS else max(math.ceil(needed), ratio.n + 1)


def side(ratio: Spread) -> str:
    """On which side of 1 an interval lies, whatever interval it is."""
    if ratio.low >= LEAST_ALIKE and ratio.high <= MOST_ALIKE:
        return ALIKE
    return PAYS if ratio.high < 1 else COSTS if ratio.low > 1 else UNDECIDED


def answer(ratio: Spread) -> Answer:
    """What the 95 % interval of a ratio decides: what the one costs, over what the other does."""
    if rank_below(ratio.n) is None:
        return Answer(UNDECIDED, f"{ratio.n} repeats give no 95 % interval", short_of(ratio.n))
    if side(ratio) != UNDECIDED:
        return Answer(side(ratio))
    needed = repeats_to_decide(ratio)
    return Answer(UNDECIDED, "the interval holds 1, and is wider than what is alike",
                  None if needed is None else needed - ratio.n)


def sharp(ratio: Spread) -> bool:
    """Whether an interval is narrow enough: no wider than what is alike, so that it decides
    whatever it holds, or than half of what it tells."""
    width = math.log(ratio.high / ratio.low)
    return width <= max(math.log(MOST_ALIKE), abs(math.log(ratio.middle)) / 2)


def won_up_to(judged: Mapping[int, str], first: int, winner: str) -> int:
    """The last size from `first` on up to which one side wins at each that was judged."""
    top = first
    for size in sorted(each for each in judged if each >= first):
        if judged[size] != winner:
            break
        top = size
    return top


def spans(judged: Mapping[int, str], outcome: str) -> list[tuple[int, int]]:
    """From which size to which an outcome holds at each that was judged."""
    found: list[tuple[int, int]] = []
    sizes = sorted(judged)
    for before, size in zip([0, *sizes], sizes):
        if judged[size] != outcome:
            continue
        if judged.get(before) == outcome:
            found[-1] = (found[-1][0], size)
        else:
            found.append((size, size))
    return found


def inverse(ratio: Spread) -> Spread:
    """The same told the other way round: of time as of throughput."""
    return Spread(1 / ratio.middle, 1 / ratio.high, 1 / ratio.low, ratio.n)
