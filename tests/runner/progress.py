# SPDX-License-Identifier: GPL-2.0
"""Tells of each job and each stage as it ends, and at last what took most and what failed."""
from __future__ import annotations

import os
import re
import threading
import time
from collections import Counter

from .jobs import Ended
from .reports import sentence

CPUS = os.cpu_count() or 1
MOST = 10
# Of a job that passed: why tests were skipped, and what took long.
NOTABLE = re.compile(r"SKIPPED |\d+\.\d+s (call|setup|teardown) ")
PRINTING = threading.Lock()


def tell(text: str) -> None:
    """Print lines that no other thread's lines come between."""
    with PRINTING:
        print(text, flush=True)


def processor_s() -> float:
    """Processor time of all that this process started and has waited for."""
    times = os.times()
    return times.children_user + times.children_system


def lines_of(ended: Ended, place: str) -> str:
    """A line about a job, and all of its output if something failed."""
    if ended.sums["failed"]:
        shown = [ended.text.rstrip("\n")]
    else:
        shown = [f"  {line}" for line in ended.text.splitlines() if NOTABLE.match(line)]
    if ended.died:
        shown.append(f"{ended.job.name}: {ended.died}")
    return "\n".join([f"{ended.job.name}: {sentence(ended.sums)} in {ended.took_s:.1f} s, "
                      f"processor {ended.processor_s:.1f} s ({place})", *shown])


class Stage:
    """One stage: its sums, how long it took, and the processor time of what it started."""

    def __init__(self, name: str) -> None:
        self.name, self.started = name, time.monotonic()
        self.sums: Counter = Counter()
        self.jobs = self.done = 0
        self.took_s = self.processor_s = 0.0

    def end(self) -> None:
        """Say how it ended."""
        self.took_s = time.monotonic() - self.started
        counted = f"{sentence(self.sums)} in " if self.sums else ""
        tell(f"== {self.name}: {counted}{self.took_s:.1f} s, processor {self.processor_s:.1f} s")


class Progress:
    """What a run has done until now, for all of its stages."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.stages: dict[str, Stage] = {}
        self.ended: list[Ended] = []

    def begin(self, *names: str) -> None:
        """Stages begin, side by side."""
        tell(f"== {', '.join(names)}")
        self.stages |= {name: Stage(name) for name in names}

    def expect(self, name: str, jobs: int) -> None:
        """So many jobs has the stage."""
        self.stages[name].jobs = jobs

    def tell(self, ended: Ended) -> None:
        """A job has ended; with its last one a stage has."""
        with self.lock:
            self.ended.append(ended)
            stage = self.stages[ended.job.stage]
            stage.done += 1
            stage.sums += ended.sums
            stage.processor_s += ended.processor_s
            # A file none of whose tests was chosen is nothing to read.
            if ended.sums or ended.died:
                tell(lines_of(ended, f"{stage.name} {stage.done} of {stage.jobs}"))
            if stage.done == stage.jobs:
                stage.end()

    def sums(self) -> Counter:
        """Of all stages."""
        return sum((stage.sums for stage in self.stages.values()), Counter())

    def summary(self) -> list[str]:
        """The jobs that took most, and each that failed once more, where a reader looks first."""
        most = sorted(self.ended, key=lambda each: -each.processor_s)[:MOST]
        lines = [f"  {each.processor_s:7.1f} s  {each.job.name} ({each.took_s:.1f} s)" for each in most]
        if len(self.ended) > 1:
            lines.insert(0, f"most processor time, of {len(self.ended)} files:")
        else:
            lines = []
        return lines + [f"FAILED {name}" for each in self.ended for name in each.failed]


class Busy:
    """Time since it was made, and how many processors were busy in it."""

    def __init__(self) -> None:
        self.started, self.used = time.monotonic(), processor_s()

    def __str__(self) -> str:
        took = max(time.monotonic() - self.started, 0.001)
        used = processor_s() - self.used
        return f"{took / 60:.1f} minutes, processor {used:.0f} s: {used / took:.1f} of {CPUS} processors busy"
