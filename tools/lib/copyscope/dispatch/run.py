# SPDX-License-Identifier: GPL-2.0
"""Starts what makes a run, here or in a guest, and prints the report of its record."""
from __future__ import annotations

import contextlib
import json
import os
import signal
from pathlib import Path

from copyscope import cli
from copyscope.common.programs import kill_with_parent, passed_on
from copyscope.common.terminal import columns, takes_colours

NAME = "trace_run"
# userspace/trace_run.c tells the record to its stdout then, and behind it where it is kept.
ASKED, WHERE = "COPYSCOPE_TELL", "record"
CANNOT = 127


def become(words: list[str], said: int, mask: set[signal.Signals]) -> None:
    """In the child: the program, which prints into a file."""
    os.dup2(said, 1)
    for each in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(each, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    os.execve(words[0], words, {**os.environ, ASKED: "1"})


def made(words: list[str], said: int) -> int:
    """Make the run, and pass signals on to it: how its program ended. A terminal's Ctrl-C comes
    twice, which userspace/run/ends/ending.c takes for one."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    wanted = {signal.SIGCHLD, signal.SIGINT, *passed_on()}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    end_with_us = kill_with_parent(by=signal.SIGTERM)
    child = os.fork()
    if not child:
        try:
            end_with_us()
            become(words, said, mask)
        finally:
            os._exit(CANNOT)
    while True:
        got = signal.sigwaitinfo(wanted).si_signo
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            return status
        if got != signal.SIGCHLD:
            os.kill(child, got)


def report(said: str, words: list[str]) -> str:
    """The report of a record; what is none, as help, or belongs to stdout itself, as it is."""
    document, _, place = said.rstrip("\n").rpartition("\n")
    if not place.startswith(WHERE) or not document.startswith("{"):
        return said
    # Not earlier: to import them takes a tenth of a second, in which the run would have to wait.
    # pylint: disable=import-outside-toplevel
    from copyscope.records.run_record import Record
    from copyscope.report import run
    from copyscope.report.look import asked, look_of
    from copyscope.report.page import joined

    source = Path(place.removeprefix(WHERE).strip())
    os.environ["COLUMNS"] = columns(1)
    lines = run.lines(Record(json.loads(document), source), look_of(words))
    kept = ["", place] if place != WHERE else []
    return joined([*lines, *kept], takes_colours(1, asked(words, "--color") or "auto"))


def act(words: list[str]) -> int:
    """Make the run, and print what there is. The exit status is that of its program."""
    said = os.memfd_create(NAME)
    status = made(words, said)
    with open(said, encoding="utf-8", errors="backslashreplace") as file:
        file.seek(0)
        print(report(file.read(), words), end="")
    if os.WIFSIGNALED(status):
        raise SystemExit(-os.WTERMSIG(status))
    return os.WEXITSTATUS(status)


def main(words: list[str]) -> int:
    """Make a run by a program and its words; end as that ended."""
    status = cli.run(lambda _: act(words), [], NAME)
    if status < 0:
        # None has another way with SIGKILL.
        with contextlib.suppress(OSError):
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status
