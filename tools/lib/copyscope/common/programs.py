# SPDX-License-Identifier: GPL-2.0
"""Start programs of the system: the system's own, with nothing of the caller's environment, and so
that they end with us.
"""
from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from .errors import CommandError
from .tree import WATCH

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


def kill_with_parent(session: bool = False,
                     by: signal.Signals = signal.SIGKILL) -> Callable[[], None]:
    """What a child does between fork() and exec(): have the kernel kill it when this process ends.
    In a `session` of its own, a terminal's Ctrl-C does not reach it."""
    parent = os.getpid()

    def ask() -> None:
        if session:
            begin_session()
        LIBC.prctl(PR_SET_PDEATHSIG, by)
        # It may have ended before that.
        if os.getppid() != parent:
            os._exit(1)  # pylint: disable=protected-access
    return ask


FOLDERS = "/usr/sbin:/usr/bin:/sbin:/bin"
# What says by which way the network is reached: no program is found by it.
PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "no_proxy")


def find(name: str) -> str | None:
    """Find a program; as root in the system's folders alone, whatever PATH says."""
    wanted = FOLDERS if os.geteuid() == 0 else f"{os.environ.get('PATH', '')}:{FOLDERS}"
    return shutil.which(name, path=wanted)


def environment(**more: str) -> dict[str, str]:
    """The environment of a program of the system, without the caller's variables."""
    proxies = {name: os.environ[name] for name in PROXIES if name in os.environ}
    return {"LC_ALL": "C", "PATH": FOLDERS, **proxies, **more}


def start(words: list, *, more: dict[str, str] | None = None, **options) -> subprocess.Popen:
    """Start a program. find() finds a name without a folder. `more` adds variables to its
    environment; it inherits the descriptors that `pass_fds` names, and no others."""
    program = str(words[0])
    path = program if os.sep in program else find(program)
    if not path:
        raise FileNotFoundError(2, "not installed", program)
    return subprocess.Popen([path, *map(str, words[1:])], env=environment(**(more or {})),
                            **options)


def run(words: list, *, more: dict[str, str] | None = None,
        cwd: Path | None = None) -> subprocess.CompletedProcess:
    """Start a program, wait until it ends, and return its output as text. If something else happens
    here while it runs, as a Ctrl-C, end it and all that it started."""
    with start(words, more=more, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
               text=True, process_group=0, preexec_fn=kill_with_parent()) as process:
        try:
            said, complained = process.communicate()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(words, process.returncode, said, complained)


def run_in_time(words: list, name: str, patience_s: float, *, more: dict[str, str] | None = None,
                cwd: Path | None = None,
                errors: int = subprocess.PIPE) -> subprocess.CompletedProcess:
    """Start a program, wait until it ends, and return its output as text. End it and all that it
    started if it takes too long, or if something else happens here while it runs."""
    with start(words, more=more, cwd=cwd, text=True, errors="replace", stdin=subprocess.DEVNULL,
               stdout=subprocess.PIPE, stderr=errors, process_group=0,
               preexec_fn=kill_with_parent()) as process:
        try:
            said, complained = process.communicate(timeout=patience_s)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise CommandError(f"{name}: killed: it had not ended after "
                                   f"{patience_s} s") from None
            raise
    return subprocess.CompletedProcess(words, process.returncode, said, complained)


# Our own programs that a command waits for.

def passed_on() -> set[signal.Signals]:
    """Signals that are for the program behind a command. A hangup that is ignored, as by nohup, is
    not passed on."""
    hangup = {signal.SIGHUP} if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN else set()
    return {signal.SIGTERM, *hangup}


def start_watch(words: list[str], pass_fds: Sequence[int] = ()) -> subprocess.Popen:
    """Start a watch that prints. Ctrl-C reaches it by itself; other signals are passed on."""
    # pylint: disable-next=consider-using-with
    process = subprocess.Popen([*WATCH, *words], pass_fds=pass_fds,
                               preexec_fn=kill_with_parent(by=signal.SIGTERM))
    for each in passed_on():
        signal.signal(each, lambda number, _: process.send_signal(number))
    signal.signal(signal.SIGINT, lambda *_: None)
    return process
