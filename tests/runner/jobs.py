# SPDX-License-Identifier: GPL-2.0
"""Runs jobs, each a runner in a process group of its own, in lanes side by side."""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .reports import judge

ROOT = Path(__file__).resolve().parents[2]
# A test that hangs must not hang the run: far above what any job takes.
LIMIT_S = 3600


@dataclass
class Job:
    """One command that leaves a JUnit report."""

    stage: str
    name: str
    command: Sequence
    report: Path
    expected: tuple[int, ...]
    environment: dict[str, str] = field(default_factory=dict)
    # How many of the places on this machine it takes; one that takes them all has none beside it.
    places: int = 0
    # What its tests leave, which outlives those that failed.
    scratch: Path | None = None
    # Of its tests.
    files: tuple[str, ...] = ()


@dataclass
class Ended:
    """A job that ended: its sums, what failed by name, how its runner died, and what it took."""

    job: Job
    sums: Counter
    failed: list[str]
    died: str
    text: str
    took_s: float
    processor_s: float


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
        # Who holds it knows that the number of a process that was not waited for is still its own.
        self.waiting = threading.Lock()

    def __enter__(self) -> Runners:
        return self

    def __exit__(self, *_) -> None:
        self.ended = True
        for process in list(self.processes):
            self.end(process)

    def end(self, process: subprocess.Popen) -> None:
        """Kill a runner that still runs, and all that it started in its group."""
        with self.waiting:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)

    def run(self, command: Sequence, environment: dict[str, str], output) -> tuple[int | None, float]:
        """Run one command to its end: its status, None if it had to be killed, and the processor time of it and
        of all that it waited for."""
        process = subprocess.Popen([str(word) for word in command], cwd=ROOT,
                                   env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=output, start_new_session=True)
        self.processes.add(process)
        late = threading.Event()
        alarm = threading.Timer(LIMIT_S, lambda: (late.set(), self.end(process)))
        alarm.daemon = True
        alarm.start()
        if self.ended:
            self.end(process)
        # Only who holds the lock may wait for it, so that nobody else's number is killed.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with self.waiting:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        alarm.cancel()
        self.processes.discard(process)
        return None if late.is_set() else process.returncode, used.ru_utime + used.ru_stime


def where(job: Job, text: str) -> str:
    """The file that a runner was in when it ended: pytest names each as it comes to it."""
    last = max(job.files, key=text.rfind, default=job.name)
    return last if last in text else job.name


def run_job(job: Job, runners: Runners) -> Ended:
    """Run one job and judge what it left."""
    started = time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        status, processor_s = runners.run(job.command, job.environment, output)
        output.seek(0)
        text = output.read()
    sums, failed, died = judge(status, job.report, job.expected)
    if not text and sums["failed"] and job.report.exists():  # cmocka prints nothing if it writes a report
        text = job.report.read_text(encoding="utf-8", errors="replace")
    if died or sums["failed"] and not failed:
        failed.append(f"{where(job, text)}: {died or 'it left no report'}")
    if job.scratch and not failed:
        shutil.rmtree(job.scratch, ignore_errors=True)
    return Ended(job, sums, failed, died, text, time.monotonic() - started, processor_s)


def run_lanes(lanes: Sequence[Sequence[deque[Job]]], places: Places, tell: Callable[[Ended], None]) -> None:
    """Run each lane's queues one after the other, all lanes at once; lanes may share a queue. Tell of each job
    as it ends."""

    def work(queues: Sequence[deque[Job]]) -> None:
        for queue in queues:
            while not runners.ended:
                try:
                    job = queue.popleft()
                except IndexError:
                    break
                with places.taken(job.places):
                    ended = run_job(job, runners)
                tell(ended)

    with ThreadPoolExecutor(len(lanes)) as pool, Runners() as runners:
        for done in [pool.submit(work, lane) for lane in lanes]:
            done.result()
