# SPDX-License-Identifier: GPL-2.0
"""A session with a report's programs, in namespaces that are named as there and end with it.

Mounts, networks and processes are private: no name is left whatever ends it, and two sessions never
meet.
"""
from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

from copyscope import cli
from copyscope.common import programs as system
from copyscope.common.errors import Refused
from copyscope.common.tree import ROOT

from . import programs
from .programs import Report

LAUNCH = ROOT / "tools" / "lib" / "launch.py"
# CLONE_NEWNS, CLONE_NEWPID and CLONE_NEWNET of linux/sched.h.
PRIVATE = 0x00020000 | 0x20000000 | 0x40000000
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Nobody else sees what is mounted there.
RUN = Path("/run")
END_S = 10
OWN_MODULE, PROGRAM = (f"copyscope_studies.published.{name}" for name in ("session", "program"))


def started(module: str, *words: str) -> list[str]:
    """The words that start a module of this package."""
    return [sys.executable, "-SB", str(LAUNCH), module, *words]


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends."""
    system.LIBC.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)


def enter(report: Report, commands: list[str]) -> int:
    """Make the session in a child, the first process of its namespaces: whatever ends it, the
    kernel ends the others."""
    die_with_parent()
    if system.LIBC.unshare(PRIVATE):
        raise Refused("the kernel refuses namespaces of its own: type sudo ./tools/published ...")
    child = os.fork()
    if not child:
        die_with_parent()
        os._exit(cli.run(lambda words: stay(report, words), commands, "published"))
    for each in ENDING:
        signal.signal(each, lambda number, _: os.kill(child, number))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def tool(*words: str) -> None:
    """Change the session's mounts or network."""
    try:
        done = system.run([*words])
    except FileNotFoundError:
        raise Refused(f"{words[0]} is missing: install mount and iproute2") from None
    if done.returncode:
        raise Refused(f"{' '.join(words)}: {done.stderr.strip()}")


def make_networks(report: Report) -> None:
    """Make loopback and, where the report has some, its namespaces and the veth pair between."""
    tool("ip", "link", "set", "lo", "up")
    if not report.namespaces:
        return
    here = programs.transport(report)
    addresses, _, prefix = here["addresses"].partition("/")
    sides = list(zip(report.namespaces, here["devices"].split(","), addresses.split(",")))
    for name, _, _ in sides:
        tool("ip", "netns", "add", name)
    (first, one, _), (second, other, _) = sides
    tool("ip", "link", "add", one, "netns", first, "type", "veth", "peer", "name", other, "netns",
         second)
    for name, device, address in sides:
        tool("ip", "-n", name, "address", "add", f"{address}/{prefix}", "dev", device)
        for each in ("lo", device):
            tool("ip", "-n", name, "link", "set", each, "up")


def write_program(path: Path, words: list[str]) -> None:
    """Write a program that becomes others words with its own behind them."""
    path.write_text("#!/bin/sh\nexec " + " ".join(words) + ' "$@"\n', encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def make_folder(report: Report) -> Path:
    """The folder with the report's programs; and sudo, as all here is root already."""
    tool("mount", "--make-rprivate", "/")
    tool("mount", "-t", "proc", "proc", "/proc")
    tool("mount", "-t", "tmpfs", "none", str(RUN))
    folder = RUN / report.name
    folder.mkdir()
    for name in programs.files(report):
        write_program(folder / name, started(PROGRAM, report.name, name))
    (folder / "bin").mkdir()
    write_program(folder / "bin" / "sudo", [])
    return folder


def end(process: subprocess.Popen) -> None:
    """End one command and what it started, as Ctrl-C does."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def carry_out(commands: list[str], folder: Path) -> int:
    """Run all side by side; when the others have ended, end the first. The status of the first that
    failed."""
    running: list[subprocess.Popen] = []
    try:
        for each in commands:
            print(f"$ {each}", flush=True)
            running.append(system.start(["sh", "-c", each], cwd=folder, more=more(folder),
                                        process_group=0))
        failed = [each for each in running[1:] or running if each.wait()]
        return next((each.returncode for each in failed), running[0].poll() or 0)
    finally:
        for each in running:
            end(each)


def more(folder: Path) -> dict[str, str]:
    """Variables by which words mean what they mean in the report."""
    return {name: os.environ[name] for name in ("HOME", "TERM") if name in os.environ} | \
        {"PATH": f"{folder / 'bin'}:{system.FOLDERS}"}


def shell(folder: Path) -> int:
    """Let somebody type."""
    print(f"{folder.name}: until this shell ends, here are",
          " ".join(sorted(each.name for each in folder.iterdir() if each.is_file())), flush=True)
    return system.start(["bash"], cwd=folder, more=more(folder)).wait()


def finish(number: int, _: object) -> None:
    """End at the first signal; a terminal's Ctrl-C comes twice."""
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def stay(report: Report, commands: list[str]) -> int:
    """Be the session's first process."""
    # It has no defaults: a signal without a handler does nothing to it.
    for each in ENDING:
        signal.signal(each, finish)
    folder = make_folder(report)
    make_networks(report)
    return carry_out(commands, folder) if commands else shell(folder)


def act(words: list[str]) -> int:
    """Make a session of the report that the first word names."""
    return enter(programs.find(words[0]), words[1:])


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    return cli.run(act, words, "published")
