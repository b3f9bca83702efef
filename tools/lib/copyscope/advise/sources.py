# SPDX-License-Identifier: GPL-2.0
"""Finds where a program has what it sends: whether it reads files as it sends, as it is counted."""
from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from copyscope.records.sizes import PLAIN, SEND, buckets
from copyscope.report.figures import plus

# Of the bytes that it sends: read beside its sockets between these shares, it sends what it reads.
LEAST, MOST = 0.7, 1.5


def read_bytes(pid: int) -> int | None:
    """What a process got by read() and its like, from files, pipes and sockets, and what it had
    sendfile() send: rchar of proc_pid_io(5). None: it is gone, or not ours to look at."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("rchar:")), None)


def pids_of(pid: str | None, comm: str | None) -> list[int]:
    """The processes that are watched, by the words of a watch."""
    if pid:
        return [int(each) for each in pid.split(",") if each.isdigit()]
    found = []
    # A pattern with a file below a process fails if that ends meanwhile.
    for process in Path("/proc").glob("[0-9]*") if comm else ():
        try:
            said = (process / "comm").read_text(encoding="utf-8", errors="replace")
            if said.rstrip("\n") == comm:
                found.append(int(process.name))
        except OSError:
            continue
    return found


class Reading:
    """What processes read while they are watched."""

    def __init__(self, pid: str | None, comm: str | None) -> None:
        self.began = time.monotonic()
        self.before = {each: read_bytes(each) for each in pids_of(pid, comm)}

    def of(self, process: dict[str, Any], window_s: float) -> float | None:
        """What a service read beside its sockets in the window of the watch, at least: what it
        received counts as read, though recv() does not. The watch took longer than its window."""
        grown = [None if (before := self.before.get(pid)) is None or
                 (now := read_bytes(pid)) is None else now - before for pid in process["pids"]]
        read = plus(grown)
        share = min(1.0, window_s / (time.monotonic() - self.began))
        if read is None:
            return None
        counts, sites = process["sum"]["counts"], process["sum"]["sites"]
        return read * share - (counts.get("returned_bytes") or 0) - \
            (sites["tx_splice"]["bytes"] or 0)

    def told(self, process: dict[str, Any], window_s: float) -> str:
        """Why it is taken for one that sends what it reads; "" if it is not."""
        read = self.of(process, window_s)
        sent = sum(each.bytes for each in buckets(process, SEND, PLAIN))
        if read is None or not sent or not LEAST <= read / sent <= MOST:
            return ""
        return f"it read about {read / sent:.0%} as many bytes beside its sockets as it sent, so " \
            "they come from files (--source memory says otherwise)"
