# SPDX-License-Identifier: GPL-2.0
"""Children that end with who started them, however that ends: prctl(PR_SET_PDEATHSIG)."""
from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Callable

PR_SET_PDEATHSIG = 1
# Loaded before any fork: a child may not.
LIBC = ctypes.CDLL(None)
# Goes before a command that is to end with who started it, and can end its own children.
TERM_WITH_PARENT = ("setpriv", "--pdeathsig", "TERM")


def begin_session() -> None:
    """Begin a session that is as nice as this process: sessions share processors before processes
    do (sched_autogroup_enabled), and a new one would have as much as any other."""
    os.setsid()
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w", encoding="ascii") as group:
        group.write(str(os.nice(0)))


def kill_with_parent(session: bool = False) -> Callable[[], None]:
    """What a child does between fork() and exec(): have the kernel kill it when this process ends.
    In a `session` of its own, a terminal's Ctrl-C does not reach it."""
    parent = os.getpid()

    def ask() -> None:
        if session:
            begin_session()
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # It may have ended before that.
        if os.getppid() != parent:
            os._exit(1)  # pylint: disable=protected-access
    return ask
