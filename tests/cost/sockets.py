# SPDX-License-Identifier: GPL-2.0
"""What a watch adds to a round trip with few sockets open and with many, to a file, a datagram and a short connection.

In time of the processor of this machine: the program of tests/guest/sockets.c does its work in turn with a watch and
without, so that a machine that speeds up or slows down favours neither.
"""
from __future__ import annotations

import signal
import statistics
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from copyscope.common import spread
from helpers import leftovers
from helpers.windows import Watching

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/tests/guest/sockets"
STATISTICS = Path("/proc/sys/kernel/bpf_stats_enabled")
FEW, MANY, BUSY = 10, 10_000, 1_000
MIB = 1 << 20


@dataclass(frozen=True)
class Work:
    """Messages over open sockets, or connections."""

    way: str
    sockets: int
    count: int
    bytes: int

    @property
    def name(self) -> str:
        """Of a file."""
        return f"{self.way}.{self.sockets}.{self.bytes}"

    def words(self) -> str:
        """What the program is told."""
        if self.way == "connect":
            return f"connect {self.count}"
        return f"{self.way} {self.sockets} {min(self.sockets, BUSY)} {self.count} {self.bytes}"

    def label(self) -> str:
        """What stands first in a line of a table."""
        return f"{self.way:9} {self.sockets if self.sockets else '-':>7}"


def works(messages: int, connections: int) -> list[Work]:
    """All of a table."""
    return [*(Work(way, sockets, messages, 64) for way in ("copy", "zerocopy") for sockets in (FEW, MANY)),
            Work("sendfile", FEW, messages, 65536), Work("datagrams", FEW, messages, 1200),
            Work("connect", 0, connections, 64)]


def many_over_few(what: str, added: dict[Work, float]) -> list[str]:
    """Lines: what is added with many sockets over what is added with few."""
    lines = []
    for way in ("copy", "zerocopy"):
        few, many = (next(value for work, value in added.items()
                          if (work.way, work.sockets) == (way, sockets)) for sockets in (FEW, MANY))
        ratio = f"{many / few:.2f}" if few > 0 else "not known, as nothing is added with few"
        lines.append(f"{way}: {what} with {MANY} sockets over that with {FEW}: {ratio} (goal 1.10)")
    return lines


class Program:
    """It waits for a word, works, and says how long that took."""

    def __init__(self, work: Work) -> None:
        self.count = work.count
        # On one processor with what handles its packets.
        self.process = subprocess.Popen(["taskset", "-c", "0", PROGRAM, *work.words().split()],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def work(self) -> None:
        """Once."""
        print(file=self.process.stdin, flush=True)
        self.process.stdout.readline()

    def processor_ns(self) -> int:
        """What it has had of its processor, interrupts within that time included. Others' time is not in it."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text(encoding="ascii").split()[0]) for task in tasks)

    def go(self) -> float:
        """Nanoseconds of a round trip or connection; the time before warms up."""
        self.work()
        before = self.processor_ns()
        self.work()
        return (self.processor_ns() - before) / self.count

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=20)


def resident_mib(pid: int) -> float:
    """Memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


@contextmanager
def run_statistics() -> Iterator[None]:
    """The kernel counts runs of programs and their time."""
    before = STATISTICS.read_text(encoding="utf-8")
    STATISTICS.write_text("1", encoding="utf-8")
    try:
        yield
    finally:
        STATISTICS.write_text(before, encoding="utf-8")


def watched(program: Program, *words) -> tuple[float, dict, float, float]:
    """What it takes beside a watch, its record, and the memory of the watch before and after."""
    watching = Watching("-p", program.process.pid, *words)
    before = resident_mib(watching.process.pid)
    took = program.go()
    after = resident_mib(watching.process.pid)
    return took, watching.close(), before, after


def book_bytes() -> int:
    """Of a socket's book, while a watch is open."""
    return max(each["bytes_value"] for each in leftovers.bpf_list("map")
               if each.get("name") == "watch_books")


def compare(work: Work, pairs: int) -> tuple[str, float, float]:
    """A line for one kind of work; what a watch adds to a message, and what an event takes."""
    bare, beside = [], []
    with Program(work) as program:
        for turn in range(pairs):
            for watch in ((True, False) if turn % 2 else (False, True)):
                (beside if watch else bare).append(watched(program)[0] if watch else program.go())
        with run_statistics():
            _, record, before, after = watched(program)
        watching = Watching("-p", program.process.pid)
        book = book_bytes()
        watching.process.send_signal(signal.SIGINT)
        watching.process.communicate(timeout=60)
    adds = spread.spread([a - b for a, b in zip(beside, bare)])
    ratio = spread.spread([b / a for a, b in zip(beside, bare)])
    cost = record["overhead"]
    line = (f"{work.label()} {pairs:5} {statistics.median(bare):7.0f} {adds.middle:7.0f} "
            f"{adds.low:7.0f} to {adds.high:<7.0f} {ratio.middle:6.3f} {cost['events'] / work.count / 2:7.1f} "
            f"{cost['ns_per_event']:8.0f} {cost['memory_bytes'] / MIB:7.1f} "
            f"{work.sockets * book / MIB:6.1f} {before:6.1f} {after:6.1f}")
    return line, adds.middle, cost["ns_per_event"]


def times(pairs: int) -> list[str]:
    """The table of this machine: nanoseconds, and memory in MiB."""
    lines = [f"{'work':9} {'sockets':>7} {'pairs':>5} {'bare ns':>7} {'adds ns':>7} {'95 % interval':>18} "
             f"{'ratio':>6} {'events':>7} {'ns/event':>8} {'tables':>7} {'books':>6} {'before':>6} "
             f"{'after':>6}"]
    added, events = {}, {}
    for work in works(20_000, 3_000):
        line, added[work], events[work] = compare(work, pairs)
        lines.append(line)
    return lines + many_over_few("nanoseconds that a watch adds to a round trip", added) + \
        many_over_few("nanoseconds of an event, as the kernel counts them,", events)
