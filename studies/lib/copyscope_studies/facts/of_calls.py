# SPDX-License-Identifier: GPL-2.0
"""How many system calls each way to send and to receive takes for a message."""
from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from copyscope.common.errors import CommandError, Refused
from copyscope_studies.ways import CALLS, CALLS_OF, RECV, WAYS, Way

from .fact import OURS, Fact, run
from .tracepoints import Tracepoint, reach_tracefs

CALL = "raw_syscalls/sys_enter"
BYTES = 65536
# The process of the workload that is the end; launch.c names it so.
ROLES = {"send": b"server", "receive": b"client"}
SECONDS = 10.0              # far above what a run takes
TRIES = 5


def parent_of(pid: int) -> int:
    """Who started a process."""
    # The name of a program may have spaces and parentheses.
    return int(Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[1])


def role_of(pid: int) -> bytes:
    """Which end of our workload a process is; nothing if it is another's or has ended."""
    with suppress(OSError, IndexError):
        role = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[1]
        while pid > 1:
            pid = parent_of(pid)
            if pid == os.getpid():
                return role
    return b""


def counted_in_a_run(way: Way) -> list[int]:
    """System calls of each process that was seen to be the end that a way is of."""
    receiver = f" --receiver {way.receiver}" * (way.receiver != RECV)
    words = f"{way.variant} {BYTES} 1 --path lo --messages {CALLS_OF}{receiver}"
    entered = Tracepoint(CALL, OURS)
    by_pid: Counter[int] = Counter()
    roles: dict[int, bytes] = {}

    def look() -> None:
        for hit in entered.read():
            by_pid[hit.pid] += 1
            if not roles.get(hit.pid):
                roles[hit.pid] = role_of(hit.pid)

    try:
        with entered:
            run(words, SECONDS, look)
        look()
        if entered.lost:
            raise CommandError(f"{entered.lost} system calls found no room")
    finally:
        entered.close()
    return [count for pid, count in by_pid.items() if roles[pid] == ROLES[way.end]]


def calls_of(way: Way) -> int:
    """System calls of the end that a way is of, in one run. One that ended before anybody looked
    whose processes were there, as on a busy machine, is made again."""
    for _ in range(TRIES):
        found = counted_in_a_run(way)
        if found:
            break
    if len(found) != 1:
        raise CommandError(f"{len(found)} processes of the workload were seen to be that end")
    return found[0]


def of_way(way: Way) -> Fact:
    """The calls of a way, or why they are not known."""
    means = (f"system calls of the end that it is of, for {CALLS_OF} messages of {BYTES} bytes and "
             "one connection")
    how = (f"{CALL} of that process from its start to its end, from {way.variant} to "
           f"{way.receiver} on lo, no probes")
    try:
        number = calls_of(way)
    except (CommandError, Refused) as error:
        return Fact(CALLS, f"{way.end} {way.name}", None, means, how, str(error))
    return Fact(CALLS, f"{way.end} {way.name}", number, means, how)


def facts(progress: Callable[[str], None]) -> list[Fact]:
    """A fact for each way."""
    reach_tracefs()
    found = []
    for way in WAYS:
        progress(f"{way.end} {way.name}")
        found.append(of_way(way))
    return found
