# SPDX-License-Identifier: GPL-2.0
"""Runs the Python tools a thousand times a minute: loaded once, each case a fork that is the tool."""
from __future__ import annotations

import contextlib
import errno
import importlib
import os
import runpy
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from attacks import started
from attacks.attack import Broken
from helpers import processes
from helpers.patience import Patience
from helpers.records import ROOT

TOOLS = ROOT / "tools"
PACKAGES, STUDIES = TOOLS / "lib", ROOT / "studies" / "lib"
SCRIPTS = ["advise", "advise_truth", "sweep", "plot", "crossover", "predict", "matrix", "peers", "guest", "beside_lmbench",
           "beside_iperf3", "copyscope", "claims", "compare", "facts", "published", "records"]
# Of tools/baseline: what the shell hands to Python.
BASELINE = [str(PACKAGES / "launch.py"), "copyscope_studies.baseline.command"]
LOADED = ["copyscope.advise.command", "copyscope_studies.advised.command", "copyscope.sweep", "copyscope.figures.command", "copyscope_studies.crossover.command",
          "copyscope_studies.model.command", "copyscope_studies.matrix.command", "copyscope.guest.command",
          "copyscope.peers", "copyscope_studies.beside.command", "copyscope_studies.baseline.command",
          "copyscope.dispatch.command", "copyscope_studies.claims.command", "copyscope.compare.command",
          "copyscope_studies.facts.command", "copyscope_studies.published.command", "copyscope.records_cmd.command", "copyscope.figures.jobs",
          "copyscope_studies.model.draw",
          "matplotlib.figure", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg"]


def load() -> None:
    """What all tools import, before workers are forked that inherit it."""
    for place in map(str, (TOOLS, PACKAGES, STUDIES)):
        if place not in sys.path:
            sys.path.insert(0, place)
    for name in LOADED:
        importlib.import_module(name)


def run(tool: str, words: list[str], place: Path, *steps: Callable[[], None],
        timeout_s: float = 60, real: bool = False) -> started.Done:
    """Run a tool to its end, in a fork of this process or, if it is to be real, from its file."""
    shown = [f"tools/{tool}", *words]
    steps = (*steps, processes.forbid("execve", "connect", error=errno.EACCES))
    if real:
        command = [sys.executable, "-B", *(BASELINE if tool == "baseline" else [TOOLS / tool]), *words]
        environment = started.environment(place)
        # The interpreter itself has to be started: such a tool may start what it likes.
        return started.run(command, place, *steps[:-1], timeout_s=timeout_s, env=environment)
    began = time.monotonic()
    environment = started.environment(place)
    pid = os.fork()
    if not pid:
        be_the_tool(tool, words, place, environment, steps)
    status = wait(pid, timeout_s)
    done = started.Done(shown, status if status is not None else -9,
                        started.read_some(place / "out"), started.read_some(place / "err"),
                        time.monotonic() - began)
    if status is None:
        raise Broken(f"did not end within {timeout_s} s: {done}")
    return done


def completed(tool: str, *words: object, place: Path) -> subprocess.CompletedProcess:
    """Run a tool as run() does, told as subprocess.run() tells it; what it says must be UTF-8."""
    done = run(tool, [os.fsdecode(word) if isinstance(word, bytes) else str(word) for word in words],
               place)
    return subprocess.CompletedProcess(done.words, done.status, done.out.decode("utf-8"),
                                       done.err.decode("utf-8"))


def wait(pid: int, timeout_s: float) -> int | None:
    """The status as subprocess tells it; None if the child had to be killed."""
    patience, pause_s = Patience(timeout_s), 0.001
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if not patience.sleep(pause_s):
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            return None
        pause_s = min(pause_s * 2, 0.02)


def be_the_tool(tool: str, words: list[str], place: Path, environment: dict[str, str],
                steps: tuple) -> None:
    """In a fork: become the tool as far as one process can, and end as it does. No return."""
    status = 70
    try:
        for number, name, flags in ((0, os.devnull, os.O_RDONLY),
                                    (1, place / "out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
                                    (2, place / "err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)):
            os.dup2(os.open(name, flags, 0o644), number)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        started.let_signals_be()
        processes.die_with_parent()
        os.chdir(place)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = [*(BASELINE if tool == "baseline" else [str(TOOLS / tool)]), *words]
        for step in steps:
            step()
        status = act()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        os._exit(status)  # pylint: disable=protected-access


def act() -> int:
    """Run the tool's text as the main program; its exit status."""
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
        return 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xff
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:  # pylint: disable=broad-except
        traceback.print_exc()
        return 1
