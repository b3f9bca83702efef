# SPDX-License-Identifier: GPL-2.0
"""Judges a size by variants that take turns in one connection, over several starts."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from copyscope.common.errors import Unusable
from copyscope.common.outcomes import inverse, sharp
from copyscope.common.spread import Spread
from copyscope.records import turns
from copyscope.runs import alternation, paths
from copyscope.runs.alternation import LEAST_STARTS, MOST_STARTS, Asked, blocks_of

from .runs import PROCESSOR_TIME, TIME, Effort, Judge, Side, Workload
from .search import TimeUp, verdict

COSTS = {PROCESSOR_TIME: turns.processor_ns, TIME: turns.wall_ns}
EFFORT = Effort(LEAST_STARTS, MOST_STARTS, 0.1)
# A start that tells whether two may share a connection.
PROBE_S = 0.02


class Turns(Judge):
    """Alternates two variants; `quantity` decides, and the other one is kept beside it."""

    method, repeats = "turns in one connection", "starts"

    def __init__(self, sides: tuple[Side, Side], workload: Workload, effort: Effort,
                 tell: Callable[[str], None], expected_s: float, quantity: str) -> None:
        super().__init__(sides, workload, effort, tell)
        self.quantity = quantity
        self.until = time.monotonic() + expected_s

    def asked(self, size: int, least: int, most: int, seconds: float) -> Asked:
        """Starts at a size."""
        first, second = self.sides
        alike = first.receiver == second.receiver
        names = [each.variant if alike else each.way for each in self.sides]
        words = first.words if alike else first.others
        return Asked(",".join(names), (*self.words(size), *words),
                     least, most, seconds, blocks_of(size), cost=COSTS[self.quantity])

    def why_not(self, size: int) -> str:
        """Why these two take no turns; "" if they do."""
        first, second = self.sides
        if first.others != second.others:
            return "each end has words of its own"
        if self.workload.pattern != "stream":
            return "each message waits for its answer"
        if paths.two_hosts(self.workload.path):
            return "the other end is on another host"
        try:
            made = alternation.make_starts(self.asked(size, 1, 1, PROBE_S), lambda line: None)
        except Unusable as error:
            return str(error).partition(": ")[2] or str(error)
        self.first_record = made.starts[0]
        return ""

    def judge(self, size: int) -> str:
        """Who takes less at a size."""
        if time.monotonic() > self.until:
            raise TimeUp
        made = alternation.make_starts(
            self.asked(size, self.effort.least, self.effort.most, self.workload.seconds),
            lambda line: None)
        self.others += [each.times.others_share for each in made.starts
                        if each.times.others_share is not None]
        starts = [each.at("experiment.alternation") for each in made.starts]
        found = {name: self.ratio(starts, name, size) for name in COSTS}
        ratio = found[self.quantity]
        return self.keep(size, ratio, sharp(ratio), {
            f"{side}_ns": self.of_messages(starts, way, size)
            for way, side in enumerate(("first", "second"))},
            {name.replace(" ", "_"): beside(each) for name, each in found.items()})

    def ratio(self, starts: list[turns.Start], quantity: str, size: int) -> Spread:
        """First's cost over second's, over starts."""
        found = turns.over_starts(starts, 1, COSTS[quantity])
        if found is None:
            raise Unusable(f"{size} bytes: no start has a whole round; raise --seconds")
        return inverse(found)

    def of_messages(self, starts: list[turns.Start], way: int, size: int) -> list[float]:
        """What a message of a side took in each start."""
        found = [turns.a_byte([start], way, COSTS[self.quantity]) for start in starts]
        return [each.middle * size for each in found if each]


def beside(ratio: Spread) -> dict[str, Any]:
    """The same of one quantity."""
    return {"winner": verdict(ratio), "ratio": ratio.middle, "ratio_low": ratio.low,
            "ratio_high": ratio.high}
