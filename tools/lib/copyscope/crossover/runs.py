# SPDX-License-Identifier: GPL-2.0
"""Makes the runs of a crossover: pairs without probes for the times, one run with probes."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copyscope.common.errors import CommandError, Refused
from copyscope.common.tables import SITES
from copyscope.records.check import check_complete
from copyscope.records.load import record_of
from copyscope.records.run_record import Record
from copyscope.runs import launch, quiet
from copyscope.runs.launch import Run

from .search import verdict


@dataclass(frozen=True)
class Side:
    """One of the two that are compared: its name in the answer, and what trace_run is told."""

    name: str
    variant: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Workload:
    """What both variants have in common."""

    path: str
    threads: int
    seconds: float
    pattern: str
    most_others: float = 1.0    # share of the CPUs' time that other programs may use beside a run


class Pairs:
    """Runs two variants in turn and keeps what was measured at each size."""

    def __init__(self, sides: tuple[Side, Side], workload: Workload, repeats: int,
                 tell: Callable[[str], None]) -> None:
        self.sides, self.workload, self.repeats = sides, workload, repeats
        self.tell = tell
        self.sizes: dict[int, dict[str, Any]] = {}
        self.first_record: Record | None = None

    def run(self, side: Side, size: int, *more: str) -> Record:
        """Make one run; a failed one ends everything, because a gap would bias the pairs."""
        work = self.workload
        run = Run(f"{side.name}_{size}B", (
            side.variant, str(size), str(work.threads), "--path", work.path,
            "--pattern", work.pattern, *side.words, *more))
        outcome = launch.make(run, None, work.seconds, "host")
        if outcome.status != launch.EXIT_FINE:
            raise CommandError(f"{run.name}: {launch.last_line(outcome.stderr)}")
        record = record_of(outcome.said, Path(run.name))
        check_complete(record)
        if self.first_record is None:
            self.first_record = record
            if record.at("machine.emulated"):
                raise Refused("this machine is emulated: times mean nothing here")
        return record

    def undisturbed(self, side: Side, size: int) -> Record:
        """Make a run without probes, again while other programs disturb it."""
        most = self.workload.most_others

        def once() -> tuple[Record, str]:
            record = self.run(side, size, "--no-probes")
            return record, quiet.disturbed(record, most)
        return quiet.undisturbed(f"{side.name} {size}", most, once, self.tell)

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
        times: dict[Side, list[float]] = {each: [] for each in self.sides}
        for turn in range(self.repeats):
            # Each goes first in every other pair: who comes second finds a warmer machine.
            for side in self.sides if turn % 2 == 0 else self.sides[::-1]:
                times[side].append(self.time_ns(side, size))
        first, second = (times[each] for each in self.sides)
        winner, ratio = verdict([a / b for a, b in zip(first, second)])
        self.sizes[size] = {
            "bytes": size, "winner": winner, "ratio": ratio.middle, "ratio_low": ratio.low,
            "ratio_high": ratio.high, "pairs": self.repeats, "first_ns": first,
            "second_ns": second}
        who = "undecided" if winner == "undecided" else \
            f"{self.sides[winner == 'second'].name} is faster"
        self.tell(f"{size:>9} bytes: {self.sides[0].name} takes {ratio.middle:.3f} "
                  f"[{ratio.low:.3f}, {ratio.high:.3f}] of {self.sides[1].name}'s time: {who}")
        return winner

    def prove(self, size: int) -> list[dict[str, Any]]:
        """Run each side once with probes, to show that its laws balance at this size."""
        proofs = []
        for side in self.sides:
            record = self.run(side, size, "--pass", "counted")
            proofs.append({
                "variant": side.variant, "bytes": size, "record": record.id,
                "backend": record.backend, "messages": record.messages,
                "laws": {law["law"]: law["status"] for law in record.data["laws"]},
                "sites_bytes": {site: record.site_bytes(site) for site in SITES}})
        return proofs
