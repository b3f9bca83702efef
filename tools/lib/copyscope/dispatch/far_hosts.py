# SPDX-License-Identifier: GPL-2.0
"""The same on each of several hosts, side by side: a row of a table for each."""
from __future__ import annotations

import signal
from collections.abc import Callable, Collection
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
# Asks a host: how that ended, and what it told.
Ask = Callable[[Link], tuple[int, Any]]
# Each takes an ssh and two descriptors.
MOST = 200
HEADS = ["host", "kernel", "sent", "received", "copied", "no copy", "avoidable", "laws broken"]


class Answer:
    """What one host told: its record, or why there is none."""

    def __init__(self, host: str, ssh: list[str], words: list[str], ask: Ask) -> None:
        self.host, self.ask, self.status, self.why = host, ask, 0, ""
        self.record: Any = None
        self.link = Link(host, ssh, words, tells=False)

    def take(self) -> None:
        """Wait for it."""
        try:
            self.status, self.record = self.ask(self.link)
        except CommandError as error:
            self.status, self.why = error.status, str(error)
        # Of what is said there, only what it ends with is told.
        self.why = self.link.last or self.why


def asked(file: str, ssh: list[str], words: list[str], ask: Ask) -> list[Answer]:
    """Ask all hosts that a file names, and wait for all."""
    hosts = read(Path(file))
    if len(hosts) > MOST:
        raise Unusable(f"--hosts {shown(file)}: {len(hosts)} hosts, {MOST} can be asked at once")
    # All from this thread: what it starts ends with it.
    answers = [Answer(host, ssh, words, ask) for host in hosts]
    for each in (signal.SIGINT, *programs.passed_on()):
        signal.signal(each, lambda *_: [answer.link.stop() for answer in answers])
    with ThreadPoolExecutor(len(answers)) as pool:
        list(pool.map(Answer.take, answers))
    return answers


def tell(answers: list[Answer], heads: list[str], row: Callable[[str, Any], list[str]],
         right: Collection[int]) -> int:
    """Print a row for each, then why a host has none. The highest exit status of theirs."""
    rows = [row(each.host, each.record) for each in answers if each.record]
    if rows:
        print(*laid_out([heads, *rows], right), sep="\n")
    for each in answers:
        if not each.record:
            print(f"{shown(each.host)}: {each.why}")
    return max(each.status for each in answers)


def row_of_watch(host: str, found: Document) -> list[str]:
    """The line of a host that was watched."""
    row = row_of(host, found["total"]["sockets"], found["total"])
    broken = sum(law["status"] == "broken" for law in found["laws"])
    return [host, found["machine"]["kernel"], row.cell("sent"), row.cell("received"),
            row.cell("copied"), row.cell("no copy"), row.cell("avoidable"), str(broken)]


def watch(file: str, ssh: list[str], words: list[str]) -> int:
    """Watch all, then print the table."""
    answers = asked(file, ssh, words, lambda link: collected(link, None, None))
    return tell(answers, HEADS, row_of_watch, range(2, len(HEADS) - 1))
