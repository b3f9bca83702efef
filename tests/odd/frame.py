# SPDX-License-Identifier: GPL-2.0
"""The table of odd programs, and what runs one in this process: `python3 -m odd NAME TRUTH WAY`.

A program is a generator. What it does before it yields is its life before a window opens. There it
prints "ready" and waits for a line, or goes on at once if a window has all its life (WAY whole).
It leaves what it knows of the window's bytes in the file TRUTH, and waits for the end of stdin.
"""
from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odd.truth import Truth

LIFE, WHOLE = "life", "whole"
# Words of a watch that has no others with it.
BY_TRACEPOINTS = ("--backend", "tracepoint")
PATIENCE_S = 900
# The variable that has the name of a process that is to be watched: its children of before keep theirs.
COMM = "ODD_COMM"
# What a call says on a kernel that does not have it.
NOT_HERE = {errno.ENOPROTOOPT, errno.EPROTONOSUPPORT, errno.EOPNOTSUPP, errno.ENOSYS, errno.ENOENT,
            errno.EINVAL, errno.ENODEV, errno.EPERM}


class CannotRun(Exception):
    """This kernel cannot run the program; says why."""


@dataclass(frozen=True)
class Program:
    """A row of the table."""
    name: str
    body: Callable[[Truth], Iterator[None]]
    # Words for the watch, and how it is watched: from mid-life, from the first call.
    words: tuple[str, ...] = ()
    ways: tuple[str, ...] = (LIFE, WHOLE)
    # It keeps the machine so busy that it disturbs windows beside it, or what is handed on beside it leaves in doubt what
    # became of its own.
    alone: bool = False


PROGRAMS: dict[str, Program] = {}


def odd(**more: Any) -> Callable:
    """Enters a program into the table under the name of its function."""
    def enter(body: Callable[[Truth], Iterator[None]]) -> Callable:
        PROGRAMS[body.__name__] = Program(body.__name__, body, **more)
        return body
    return enter


def needed(call: Callable, *words: object) -> object:
    """Calls what some kernels do not have."""
    try:
        return call(*words)
    except OSError as error:
        if error.errno in NOT_HERE:
            name = getattr(call, "__name__", str(call))
            raise CannotRun(f"{name}: {error.strerror}") from error
        raise


def run(name: str, way: str, truth: Truth) -> dict:
    """Runs a program; returns what it tells of itself."""
    try:
        steps = PROGRAMS[name].body(truth)
        next(steps)
        if way == LIFE:
            truth.begin()
            if COMM in os.environ:
                Path("/proc/self/comm").write_text(os.environ[COMM])
            print("ready", flush=True)
            sys.stdin.readline()
        next(steps, None)
        return truth.told()
    except CannotRun as reason:
        return {"skip": str(reason)}


def main(name: str, file: str, way: str) -> None:
    """Runs one program, and leaves its truth."""
    # It hangs if its kernel, or the watch, does what nobody thought of.
    signal.alarm(PATIENCE_S)
    # It keeps sockets open.
    truth = Truth()
    told = run(name, way, truth)
    Path(file).write_text(json.dumps(told))
    print("done", flush=True)
    sys.stdin.readline()
    # Whatever it holds is closed by the kernel at once.
    os._exit(0)
