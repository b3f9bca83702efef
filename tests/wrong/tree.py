# SPDX-License-Identifier: GPL-2.0
"""A copy of the tree with what was built: wrong changes are made, built and tested in it, one after the other."""
from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .change import Misplaced, is_program

ROOT = Path(__file__).resolve().parents[2]
# Nothing that is built writes into these in place, so they need not be copied.
LINKED = ("kernels", "venv", "sysroot", "programs", "arm64")
# Copies like this one, and what no test here runs.
LEFT = ("wrong-", "clang", "sanitized")
BUILD_S, TEST_S, END_S = 600, 900, 30


@dataclass(frozen=True)
class Told:
    """How a command ended, and what it said."""
    status: int | None
    text: str
    skipped: bool = False

    @property
    def why(self) -> str:
        """The first line that says what failed."""
        if self.status is None:
            return "its time was up"
        lines = [line.strip() for line in self.text.splitlines()]
        for sign in ("E  ", "[  FAILED  ]"):
            for line in lines:
                if line.startswith(sign):
                    return line.removeprefix(sign).strip()[:150]
        errors = [line for line in lines if " error: " in line]
        return (errors or lines[-1:])[0][:150] if lines else f"it ended with {self.status}"


def run(words: list, cwd: Path, limit_s: float) -> Told:
    """Run a command to its end; what it started is ended with it when its time is up."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   env={**environment, "PYTHONDONTWRITEBYTECODE": "1"}, start_new_session=True)
        try:
            status = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            end(process)
        output.seek(0)
        return Told(status, output.read())


def end(process: subprocess.Popen) -> None:
    """End a group that still runs: a guest ends in order if it is asked to."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, number)
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            continue


@contextmanager
def copied(folder: Path) -> Iterator[Path]:
    """A copy of the tree and of what was built of it, for as long as it is used."""
    with folder.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Misplaced(f"another one works in {folder}") from None
        shutil.rmtree(folder, ignore_errors=True)
        try:
            make_copy(folder)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def make_copy(folder: Path) -> None:
    """Copy what git knows of the tree, or would, and what was built of it."""
    folder.mkdir(parents=True)
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout.splitlines()
    present = "\0".join(file for file in files if (ROOT / file).exists())
    subprocess.run(["xargs", "-0", "cp", "-a", "--parents", "-t", folder], cwd=ROOT, input=present, text=True, check=True)
    (folder / "build").mkdir()
    for each in sorted((ROOT / "build").iterdir()):
        if not each.name.startswith(LEFT):
            how = "-al" if each.name in LINKED else "-a"
            subprocess.run(["cp", how, each, folder / "build"], check=True)
    # There is no repository to ask for it, and without it each program would be built anew.
    shutil.copy(ROOT / "build/version", folder / "packaging/commit")


def build(tree: Path, test: str) -> Told:
    """Build what a test needs."""
    target = test if is_program(test) else "all"
    return run(["make", "-s", "--no-print-directory", f"-j{os.cpu_count()}", target], tree, BUILD_S)


def make_test(tree: Path, test: str) -> Told:
    """Run one test; the status of a C program is how many of its claims failed."""
    if is_program(test):
        return run([tree / test], tree, TEST_S)
    told = run([tree / "build/venv/bin/python", "-m", "pytest", "-q", "--tb=short", "--color=no", "-p", "no:cacheprovider",
                test], tree, TEST_S)
    return Told(told.status, told.text, told.status == 0 and " passed" not in told.text)
