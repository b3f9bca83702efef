# SPDX-License-Identifier: GPL-2.0
"""The locks that sends wait for: of a socket, of its queue, of the whole machine, or others."""
from __future__ import annotations

import bisect
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from .fact import OURS, Fact, run, unknown
from .of_layout import VMLINUX, BadBtf, Btf
from .tracepoints import Hit, Tracepoint, reach_tracefs

# Names of kernel functions by address, and where the kernel's own image lies.

KALLSYMS, IOMEM = Path("/proc/kallsyms"), Path("/proc/iomem")
# Parts of the kernel's image in physical memory, which it is mapped from in one piece.
PART = re.compile(r"^ *([0-9a-f]+)-([0-9a-f]+) : Kernel (?:code|rodata|data|bss)$", re.MULTILINE)


class Symbols:
    """The functions of a kernel, in the order of their addresses."""

    def __init__(self, text: str, memory: str) -> None:
        found = []
        start = 0
        for each in text.splitlines():
            address, kind, name, *_ = each.split()
            if name == "_text":
                start = int(address, 16)
            if kind in "tTwW":
                found.append((int(address, 16), name))
        found.sort()
        self.addresses = [address for address, _ in found]
        self.names = [name for _, name in found]
        parts = [(int(first, 16), int(last, 16)) for first, last in PART.findall(memory)]
        size = max((last for _, last in parts), default=0) - min((first for first, _ in parts),
                                                                 default=0)
        # From its code to the end of its data: what lies there is one for the whole machine.
        self.image = range(start, start + size)

    @classmethod
    def load(cls) -> Symbols:
        """Those of the running kernel."""
        return cls(KALLSYMS.read_text("utf-8"), IOMEM.read_text("utf-8"))

    @property
    def known(self) -> bool:
        """False where the kernel hides its addresses."""
        return bool(self.image) and self.image.start > 0

    def name(self, address: int) -> str:
        """The function that an address lies in."""
        place = bisect.bisect_right(self.addresses, address) - 1
        return self.names[place] if place >= 0 else f"{address:#x}"


# MT25064's A2 with 8 threads, whose contention its report explains.
WORDS, SECONDS = "A2 65536 8 --path lo", 2.0
WAITS = "lock/contention_begin"
# Where the sockets of both ends show; one is noted at some of its calls: it makes thousands.
CALLS, CALL_PERIOD = ("sock/sock_send_length", "sock/sock_recv_length"), 100
SEND = "tcp_sendmsg"
# Functions that are the waiting itself; the first that is none says what is waited for.
LOCKING = ("queued_", "native_queued_", "__pv_queued_", "_raw_", "__raw_", "pv_", "mutex_",
           "__mutex_", "__lock_", "down_", "__down_", "rwsem_", "rt_", "do_raw_", "osq_", "percpu_",
           "trace_", "__traceiter_", "perf_", "bpf_", "__bpf_")
SOCKET, QUEUE, GLOBAL, OTHER = "socket", "write-queue", "global", "other"
MEANS = {SOCKET: "waits in sends for the lock of a socket, at either end",
         QUEUE: "waits in sends for the lock of a socket's write queue",
         GLOBAL: "waits in sends for a lock in the kernel's image, one for the machine",
         OTHER: "waits in sends for other locks: of processors, caches, queues, pages"}
NAMES = [("send-lock-waits", of, means) for of, means in MEANS.items()]
HOW = f"{WAITS} while trace_run {WORDS} ran without probes"


@dataclass(frozen=True)
class Places:
    """Where locks lie: within a socket, and in the kernel's image."""

    lock: range
    queue: range
    symbols: Symbols

    @classmethod
    def of(cls, layout: Btf, symbols: Symbols) -> Places:
        """Those of the running kernel."""
        lock = layout.offset("sock", "sk_lock")
        queue = layout.offset("sock", "sk_write_queue.lock")
        spinlock = layout.size("spinlock")
        return cls(range(lock, lock + spinlock), range(queue, queue + spinlock), symbols)

    def kind(self, lock: int, sockets: Iterable[int]) -> str:
        """Whose lock it is."""
        for each in sockets:
            if lock - each in self.queue:
                return QUEUE
            if lock - each in self.lock:
                return SOCKET
        return GLOBAL if lock in self.symbols.image else OTHER

    def waiter(self, stack: tuple[int, ...]) -> str:
        """The function that waits."""
        names = [self.symbols.name(each) for each in stack]
        return next((each for each in names if not each.startswith(LOCKING)), "a function unknown")


def counted(hits: list[Hit], sockets: set[int],
            places: Places) -> tuple[Counter[str], Counter[str]]:
    """How many waits in sends there were of each kind, and in which functions."""
    kinds: Counter[str] = Counter()
    waiters: Counter[str] = Counter()
    for each in hits:
        if not any(places.symbols.name(address).startswith(SEND) for address in each.stack):
            continue
        kind = places.kind(each.fields["lock_addr"], sockets)
        kinds[kind] += 1
        waiters[f"{places.waiter(each.stack)} ({kind})"] += 1
    return kinds, waiters


def facts(_progress: object = None) -> list[Fact]:
    """The waits of each kind, with the functions that waited."""
    try:
        places = Places.of(Btf(VMLINUX.read_bytes()), Symbols.load())
    except (OSError, BadBtf) as error:
        return unknown(NAMES, HOW, f"{VMLINUX}: {error}")
    if not places.symbols.known:
        return unknown(NAMES, HOW, "the kernel hides its addresses: kernel.kptr_restrict")
    reach_tracefs()
    with ExitStack() as stack:
        waits, *calls = [stack.enter_context(closing(each)) for each in (
            Tracepoint(WAITS, OURS, stack=True), *(Tracepoint(name, OURS, CALL_PERIOD)
                                                   for name in CALLS))]
        return watched(waits, calls, places)


def watched(waits: Tracepoint, calls: list[Tracepoint], places: Places) -> list[Fact]:
    """Run the workload, and tell what it waited for."""
    hits: list[Hit] = []
    sockets: set[int] = set()

    def look() -> None:
        hits.extend(waits.read())
        sockets.update(hit.fields["sk"] for each in calls for hit in each.read())

    with ExitStack() as stack:
        for each in (waits, *calls):
            stack.enter_context(each)
        record = run(WORDS, SECONDS, look)
    look()
    return told(counted(hits, sockets, places), waits.lost, len(sockets),
                record["experiment"]["workload"]["messages"])


def told(found: tuple[Counter[str], Counter[str]], lost: int, sockets: int,
         messages: int) -> list[Fact]:
    """What was counted as facts; none if some waits were not seen."""
    if lost or not sockets:
        return unknown(NAMES, HOW, f"{lost} waits found no room in the ring" if lost else
                       "no send of the workload was seen")
    kinds, waiters = found
    most = ", ".join(f"{number} in {name}" for name, number in waiters.most_common(6)) or "none"
    how = f"{HOW}: {messages} messages, {sockets} sockets; {most}"
    return [Fact(name, of, kinds[of], means, how) for name, of, means in NAMES]
