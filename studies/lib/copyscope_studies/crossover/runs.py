# SPDX-License-Identifier: GPL-2.0
"""Makes the runs of a crossover: pairs of whole runs for the times, one run with probes."""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copyscope.common.errors import CommandError, Refused
from copyscope.common.spread import Spread, spread
from copyscope.common.tables import SITES
from copyscope.records.check import check_complete
from copyscope.records.load import record_of
from copyscope.records.run_record import Record
from copyscope.runs import launch
from copyscope.runs.launch import Run
from copyscope.runs.quiet import Quiet, disturbed

from .search import FIRST, SECOND, UNDECIDED, TimeUp, pairs_to_decide, verdict

MOST_PAIRS = 1000
# What a size is decided by.
PROCESSOR_TIME, TIME = "processor time", "wall time"


@dataclass(frozen=True)
class Side:
    """One of the two that are compared: its name in the answer, what trace_run is told, and what
    the record calls it: its variant, with a receiver that was named beside it."""

    name: str
    variant: str
    receiver: str = ""              # where one is named
    others: tuple[str, ...] = ()    # what trace_run is told besides
    said: str = ""

    @property
    def told(self) -> str:
        """What the record calls it."""
        return self.said or self.variant

    @property
    def way(self) -> str:
        """As --alternate has it: the variant, with the receiver that is named."""
        return f"{self.variant}:{self.receiver}" if self.receiver else self.variant

    @property
    def words(self) -> tuple[str, ...]:
        """What trace_run is told beside the variant."""
        return (*(("--receiver", self.receiver) if self.receiver else ()), *self.others)


def side_of(word: str) -> Side:
    """VARIANT, or VARIANT:RECEIVER."""
    variant, _, receiver = word.partition(":")
    return Side(word, variant, receiver, said=word)


@dataclass(frozen=True)
class Workload:
    """What both variants have in common."""

    path: str
    threads: int
    seconds: float
    pattern: str
    most_others: float = 1.0    # share of the CPUs' time that other programs may use beside a run
    between: tuple[str, ...] = ()   # words for trace_run: addresses, devices, the other host


@dataclass(frozen=True)
class Effort:
    """How many pairs a size gets: at least so many, and as many again until the interval of their
    ratios is no wider than a share of their median, or the most are made."""

    least: int
    most: int
    width: float

    def enough(self, ratios: Sequence[float]) -> bool:
        """Whether no more pairs are made. Who is faster has no say: else the interval would lie."""
        return len(ratios) >= self.least and (self.reached(ratios) or
                                              len(ratios) + self.least > self.most)

    def reached(self, ratios: Sequence[float]) -> bool:
        """Whether the interval is as narrow as it should be."""
        return width_of(spread(ratios)) <= self.width


def width_of(ratio: Spread) -> float:
    """How wide an interval is, as a share of the median."""
    return (ratio.high - ratio.low) / ratio.middle


class Judge:
    """Keeps what was measured of two sides at each size; how it is measured differs."""

    method, quantity, repeats = "", "", ""

    def __init__(self, sides: tuple[Side, Side], workload: Workload, effort: Effort,
                 tell: Callable[[str], None]) -> None:
        self.sides, self.workload, self.effort = sides, workload, effort
        self.tell = tell
        self.others: list[float] = []   # shares of the CPUs' time, beside each run that counts
        self.sizes: dict[int, dict[str, Any]] = {}
        self.first_record: Record | None = None

    def judge(self, size: int) -> str:
        """Who wins at a size."""
        raise NotImplementedError

    def keep(self, size: int, ratio: Spread, narrow: bool, costs: dict[str, list[float]],
             more: dict[str, Any]) -> str:
        """Keep and tell what was measured at a size: the ratio of first's cost to second's, and
        what each message of both took in each repeat; who wins."""
        winner = verdict(ratio)
        self.sizes[size] = {
            "bytes": size, "winner": winner, "ratio": ratio.middle, "ratio_low": ratio.low,
            "ratio_high": ratio.high, "pairs": ratio.n, "width": width_of(ratio),
            "width_reached": narrow, **costs, **more}
        if winner == UNDECIDED:
            self.sizes[size]["more_pairs"] = pairs_to_decide(ratio, MOST_PAIRS)
        who = {FIRST: f"{self.sides[0].name} takes less",
               SECOND: f"{self.sides[1].name} takes less"}.get(winner, winner)
        wide = "" if narrow else \
            f"; {width_of(ratio) * 100:.0f} % wide after {ratio.n} {self.repeats}"
        self.tell(f"{size:>9} bytes: {self.sides[0].name} takes {ratio.middle:.3f} "
                  f"[{ratio.low:.3f}, {ratio.high:.3f}] of {self.sides[1].name}'s "
                  f"{self.quantity}: {who}{wide}")
        return winner

    def run(self, side: Side, size: int, *more: str) -> Record:
        """Make one run; a failed one ends everything, because a gap would bias the pairs."""
        run = Run(f"{side.name}_{size}B", (
            side.variant, *self.words(size), "--pattern", self.workload.pattern, *side.words,
            *more))
        record = record_of(launch.record_of(run, self.workload.seconds), Path(run.name))
        check_complete(record)
        if self.first_record is None:
            self.first_record = record
            if record.at("machine.emulated"):
                raise Refused("this machine is emulated: times mean nothing here")
        return record

    def words(self, size: int) -> list[str]:
        """What trace_run is told of both sides alike."""
        work = self.workload
        return [str(size), str(work.threads), "--path", work.path, *work.between]

    def prove(self, size: int) -> list[dict[str, Any]]:
        """Run each side once with probes, to show that its laws balance at this size."""
        proofs = []
        for side in self.sides:
            record = self.run(side, size, "--pass", "counted")
            proofs.append({
                "variant": side.told, "bytes": size, "record": record.id,
                "backend": record.backend, "messages": record.messages,
                "laws": {law["law"]: law["status"] for law in record.data["laws"]},
                "sites_bytes": {site: record.site_bytes(site) for site in SITES}})
        return proofs


class Pairs(Judge):
    """Runs two variants one after the other, for sides that cannot share a connection."""

    method, quantity, repeats = "pairs of runs", TIME, "pairs"

    def __init__(self, sides: tuple[Side, Side], workload: Workload, effort: Effort,
                 tell: Callable[[str], None], expected_s: float) -> None:
        super().__init__(sides, workload, effort, tell)
        self.quiet = Quiet(workload.most_others, expected_s, tell)
        self.until = time.monotonic() + expected_s + self.quiet.left_s

    def undisturbed(self, side: Side, size: int) -> Record:
        """Make a run without probes, again while other programs disturb it."""
        def once(most: float) -> tuple[Record, str]:
            record = self.run(side, size, "--no-probes")
            return record, disturbed(record, most)
        record = self.quiet.run(f"{side.name} {size}", once)
        if record.times.others_share is not None:
            self.others.append(record.times.others_share)
        return record

    def time_ns(self, side: Side, size: int) -> float:
        """Time of one message, by the receiver's clock, without probes."""
        record = self.undisturbed(side, size)
        if record.times.probed:
            raise CommandError(f"{side.name} {size}: probes were attached while it was timed")
        if record.message_ns is None:
            raise CommandError(f"{side.name} {size}: no whole message arrived in "
                             f"{self.workload.seconds:g} s; raise --seconds")
        return record.message_ns

    def judge(self, size: int) -> str:
        """Who is faster at a size."""
        first, second = self.time_pairs(size)
        ratios = [a / b for a, b in zip(first, second)]
        return self.keep(size, spread(ratios), self.effort.reached(ratios),
                         {"first_ns": first, "second_ns": second}, {})

    def time_pairs(self, size: int) -> tuple[list[float], list[float]]:
        """Times of both sides at a size, pair by pair, as many as it gets."""
        times: dict[Side, list[float]] = {each: [] for each in self.sides}
        first, second = (times[each] for each in self.sides)
        while not self.effort.enough([a / b for a, b in zip(first, second)]):
            for turn in range(len(first), len(first) + self.effort.least):
                if time.monotonic() > self.until:
                    raise TimeUp
                # Each goes first in every other pair: who comes second finds a warmer machine.
                for side in self.sides if turn % 2 == 0 else self.sides[::-1]:
                    times[side].append(self.time_ns(side, size))
        return first, second
