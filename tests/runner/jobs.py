# SPDX-License-Identifier: GPL-2.0
"""Runs jobs, each a runner in a process group of its own, in lanes side by side."""
from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .reports import judge, sentence

ROOT = Path(__file__).resolve().parents[2]
# A test that hangs must not hang the run: far above what any job takes.
LIMIT_S = 3600
# Of a job that passed: why tests were skipped, and what took long.
NOTABLE = re.compile(r"SKIPPED |\d+\.\d+s (call|setup|teardown) ")
PRINTING = threading.Lock()


@dataclass
class Job:
    """One command that leaves a JUnit report."""

    name: str
    command: Sequence
    report: Path
    expected: tuple[int, ...]
    environment: dict[str, str] = field(default_factory=dict)
    # How many of the places on this machine it takes; one that takes them all has none beside it.
    places: int = 0
    # What the command prints on success is nothing to read.
    quiet: bool = True


def tell(text: str) -> None:
    """Print lines that no other thread's lines come between."""
    with PRINTING:
        print(text, flush=True)


class Places:
    """So many jobs at a time that look at this machine."""

    def __init__(self, count: int) -> None:
        self.free, self.changed = count, threading.Condition()

    @contextmanager
    def taken(self, count: int) -> Iterator[None]:
        """Wait until so many are free, and hold them."""
        with self.changed:
            self.changed.wait_for(lambda: self.free >= count)
            self.free -= count
        try:
            yield
        finally:
            with self.changed:
                self.free += count
                self.changed.notify_all()


class Runners:
    """The processes that run now; all end when the block does."""

    def __init__(self) -> None:
        self.processes: set[subprocess.Popen] = set()
        self.ended = False

    def __enter__(self) -> Runners:
        return self

    def __exit__(self, *_) -> None:
        self.ended = True
        for process in list(self.processes):
            end(process)

    def run(self, command: Sequence, environment: dict[str, str], output) -> int | None:
        """Run one command to its end; None if it had to be killed."""
        process = subprocess.Popen([str(word) for word in command], cwd=ROOT,
                                   env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=output, start_new_session=True)
        self.processes.add(process)
        if self.ended:
            end(process)
        try:
            return process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            return None
        finally:
            end(process)
            self.processes.discard(process)


def end(process: subprocess.Popen) -> None:
    """Kill a runner that still runs, and all that it started in its group."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run_job(job: Job, runners: Runners) -> tuple[Counter, list[str]]:
    """Run one job, print a line about it, and all of its output if something failed; return its sums, and
    what failed by name."""
    started = time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        status = runners.run(job.command, job.environment, output)
        output.seek(0)
        text = output.read()
    sums, failed, died = judge(status, job.report, job.expected)
    if not job.quiet or sums["failed"]:
        shown = [text.rstrip("\n")]
        if not text and job.report.exists():  # cmocka prints nothing if it writes a report
            shown = [job.report.read_text(encoding="utf-8", errors="replace")]
    else:
        shown = [f"  {line}" for line in text.splitlines() if NOTABLE.match(line)]
    if died:
        shown.append(f"{job.name}: {died}")
    took = time.monotonic() - started
    if sums or died:
        tell("\n".join([f"{job.name}: {sentence(sums)} in {took:.1f} s", *shown]))
    if died or sums["failed"] and not failed:
        failed.append(f"{job.name}: {died or 'it left no report'}")
    return sums, failed


def run_lanes(lanes: Sequence[Sequence[deque[Job]]], places: Places) -> tuple[Counter, list[str]]:
    """Run each lane's queues one after the other, all lanes at once; lanes may share a queue. Return the sums
    of all jobs, and what failed by name."""
    sums: Counter = Counter()
    failed: list[str] = []

    def work(queues: Sequence[deque[Job]]) -> Counter:
        mine: Counter = Counter()
        for queue in queues:
            while not runners.ended:
                try:
                    job = queue.popleft()
                except IndexError:
                    break
                with places.taken(job.places):
                    counted, names = run_job(job, runners)
                mine += counted
                failed.extend(names)
        return mine

    with ThreadPoolExecutor(len(lanes)) as pool, Runners() as runners:
        for done in [pool.submit(work, lane) for lane in lanes]:
            sums += done.result()
    return sums, failed
