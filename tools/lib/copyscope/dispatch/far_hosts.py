# SPDX-License-Identifier: GPL-2.0
"""A watch on each of several hosts, side by side: a row of a table for each."""
from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from copyscope.common import programs
from copyscope.common.errors import CommandError, Unusable, shown
from copyscope.common.text import laid_out
from copyscope.report.rows import row_of
from copyscope.runs.hosts import read

from .far import Link, collected

Document = dict[str, Any]
# Each takes an ssh and two descriptors.
MOST = 200
HEADS = ["host", "kernel", "sent", "received", "copied", "no copy", "avoidable", "laws broken"]


class Answer:
    """What one host told: its record, or why there is none."""

    def __init__(self, host: str, ssh: list[str], words: list[str]) -> None:
        self.host, self.status, self.why = host, 0, ""
        self.record: Document | None = None
        self.link = Link(host, ssh, words, tells=False)

    def take(self) -> None:
        """Wait for it."""
        try:
            self.status, self.record = collected(self.link, None, None)
        except CommandError as error:
            self.status, self.why = error.status, str(error)
        # Of what is said there, only what it ends with is told.
        self.why = self.link.last or self.why

    def row(self) -> list[str]:
        """Its line of the table."""
        found = self.record or {}
        row = row_of(self.host, found["total"]["sockets"], found["total"])
        broken = sum(law["status"] == "broken" for law in found["laws"])
        return [self.host, found["machine"]["kernel"], row.cell("sent"), row.cell("received"),
                row.cell("copied"), row.cell("no copy"), row.cell("avoidable"), str(broken)]


def watch(file: str, ssh: list[str], words: list[str], record: str | None) -> int:
    """Watch all, then print the table. The exit status is the highest of theirs."""
    if record:
        raise Unusable("--json is of one host: leave it out, or give --host")
    hosts = read(Path(file))
    if len(hosts) > MOST:
        raise Unusable(f"--hosts {shown(file)}: {len(hosts)} hosts, {MOST} can be watched at once")
    # All from this thread: what it starts ends with it.
    answers = [Answer(host, ssh, words) for host in hosts]
    for each in (signal.SIGINT, *programs.passed_on()):
        signal.signal(each, lambda *_: [answer.link.stop() for answer in answers])
    with ThreadPoolExecutor(len(answers)) as pool:
        list(pool.map(Answer.take, answers))
    rows = [each.row() for each in answers if each.record]
    if rows:
        print(*laid_out([HEADS, *rows], set(range(2, len(HEADS) - 1))), sep="\n")
    for each in answers:
        if not each.record:
            print(f"{shown(each.host)}: {each.why}")
    return max(each.status for each in answers)
