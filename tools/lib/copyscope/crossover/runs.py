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
from copyscope.runs import launch
from copyscope.runs.launch import Run

from .search import verdict


@dataclass(frozen=True)
class Workload:
    """What both variants have in common."""

    path: str
    threads: int
    seconds: float
    pattern: str


class Pairs:
    """Runs two variants in turn and keeps what was measured at each size."""

    def __init__(self, variants: tuple[str, str], workload: Workload, repeats: int,
                 tell: Callable[[str], None]) -> None:
        self.variants, self.workload, self.repeats = variants, workload, repeats
        self.tell = tell
        self.sizes: dict[int, dict[str, Any]] = {}
        self.first_record: Record | None = None

    def run(self, variant: str, size: int, *more: str) -> Record:
        """Make one run; a failed one ends everything, because a gap would bias the pairs."""
        work = self.workload
        run = Run(f"{variant}_{size}B", (variant, str(size), str(work.threads), "--path", work.path,
                                         "--pattern", work.pattern, *more))
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

    def time_ns(self, variant: str, size: int) -> float:
        """Time of one message, by the receiver's clock, without probes."""
        record = self.run(variant, size, "--no-probes")
        if record.times.probed:
            raise CommandError(f"{variant} {size}: probes were attached while it was timed")
        if record.message_ns is None:
            raise CommandError(f"{variant} {size}: no whole message arrived in "
                             f"{self.workload.seconds:g} s; raise --seconds")
        return record.message_ns

    def judge(self, size: int) -> str:
        """Who is faster at a size."""
        times: dict[str, list[float]] = {each: [] for each in self.variants}
        for turn in range(self.repeats):
            # Each goes first in every other pair: who comes second finds a warmer machine.
            for variant in self.variants if turn % 2 == 0 else self.variants[::-1]:
                times[variant].append(self.time_ns(variant, size))
        first, second = (times[each] for each in self.variants)
        winner, ratio = verdict([a / b for a, b in zip(first, second)])
        self.sizes[size] = {
            "bytes": size, "winner": winner, "ratio": ratio.middle, "ratio_low": ratio.low,
            "ratio_high": ratio.high, "pairs": self.repeats, "first_ns": first,
            "second_ns": second}
        who = "undecided" if winner == "undecided" else \
            f"{self.variants[winner == 'second']} is faster"
        self.tell(f"{size:>9} bytes: {self.variants[0]} takes {ratio.middle:.3f} "
                  f"[{ratio.low:.3f}, {ratio.high:.3f}] of {self.variants[1]}'s time: {who}")
        return winner

    def prove(self, size: int) -> list[dict[str, Any]]:
        """Run each variant once with probes, to show that its laws balance at this size."""
        proofs = []
        for variant in self.variants:
            record = self.run(variant, size, "--pass", "counted")
            proofs.append({
                "variant": variant, "bytes": size, "record": record.id,
                "backend": record.backend, "messages": record.messages,
                "laws": {law["law"]: law["status"] for law in record.data["laws"]},
                "sites_bytes": {site: record.site_bytes(site) for site in SITES}})
        return proofs
