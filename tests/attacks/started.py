# SPDX-License-Identifier: GPL-2.0
"""Starts what is attacked: bounded in time and in what it may say, gone when the campaign is."""
from __future__ import annotations

import errno
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from attacks.attack import Broken, from_root
from helpers import processes
from helpers.patience import Patience
from helpers.records import ROOT

SANITIZED = ROOT / "build" / "sanitized"
NOBODY = 65534
# A run that says more than this says it for ever.
SAID_BYTES_MAX = 4 << 20
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0:handle_abort=1", "UBSAN_OPTIONS": "print_stacktrace=1"}


@dataclass
class Done:
    """How a command ended and what it said."""
    words: list
    status: int
    out: bytes
    err: bytes
    seconds: float

    def __str__(self) -> str:
        words = " ".join(_short(each) for each in self.words)
        return (f"{words}\n  status {self.status} after {self.seconds:.2f} s; stderr: "
                f"{_end(self.err, 1200)!r}; stdout: {_end(self.out, 300)!r}")


def _short(word: object) -> str:
    """A word as a person wants to read it."""
    text = repr(from_root(str(word)))
    return text if len(text) < 120 else f"{text[:100]}...({len(text)} characters)"


def _end(said: bytes, count: int) -> bytes:
    """The end of what was said; files of this tree are named from its root before it is cut."""
    return os.fsencode(from_root(os.fsdecode(said)))[-count:]


def build_sanitized() -> None:
    """A second tree whose C programs stop at each wrong access and at undefined behaviour."""
    made = subprocess.run(["make", "-j2", "--no-print-directory", "sanitized-programs"], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    if made.returncode:
        raise Broken(f"the sanitized build fails: {made.stderr[-1500:]}")


def environment(place: Path, **more: str) -> dict[str, str]:
    """Sends everything that a command writes unasked into the folder of its case."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("COPYSCOPE_")}
    for name in "runs", "tmp":
        (place / name).mkdir(exist_ok=True)
        os.chmod(place / name, 0o777)
    return {**kept, **OPTIONS, "COPYSCOPE_RUNS": str(place / "runs"), "TMPDIR": str(place / "tmp"),
            "PYTHONDONTWRITEBYTECODE": "1", **more}


def before_exec(*steps: Callable[[], None]) -> Callable[[], None]:
    """What a child does before it becomes the command: it dies with us, then these."""
    def act() -> None:
        for step in steps:
            step()
        processes.die_with_parent()
    act.keeps = steps
    return act


def start(words: list, place: Path, *steps: Callable[[], None], env: dict[str, str] | None = None,
          **options) -> subprocess.Popen:
    """Start a command with its output in files: a pipe that nobody reads would stop it."""
    out, err = open(place / "out", "wb"), open(place / "err", "wb")
    with out, err:
        settings = {"stdin": subprocess.DEVNULL, "cwd": place, "stdout": out, "stderr": err,
                    **options}
        return subprocess.Popen([os.fsencode(str(word)) for word in words],
                                env=env or environment(place), preexec_fn=before_exec(*steps),
                                **settings)


def ends_within(process: subprocess.Popen, timeout_s: float) -> bool:
    """Wait for a command; whether it ended in time."""
    patience = Patience(timeout_s)
    while process.poll() is None:
        if not patience.sleep(0.01):
            return False
    return True


def finish(process: subprocess.Popen, place: Path, timeout_s: float, words: list = (),
           began: float | None = None) -> Done:
    """Wait for a command with a bound; one that passes it is killed, and that is a failure."""
    began = time.monotonic() if began is None else began
    if late := not ends_within(process, timeout_s):
        process.kill()
        process.wait()
    done = Done(list(words or process.args), process.returncode, read_some(place / "out"),
                read_some(place / "err"), time.monotonic() - began)
    if late:
        raise Broken(f"did not end within {timeout_s} s: {done}")
    return done


def read_some(file: Path) -> bytes:
    """The beginning of a file, or nothing."""
    try:
        with open(file, "rb") as source:
            return source.read(SAID_BYTES_MAX)
    except OSError:
        return b""


def run(words: list, place: Path, *steps: Callable[[], None], timeout_s: float = 60,
        **options) -> Done:
    """Run a command to its end."""
    try:
        process = start(words, place, *steps, **options)
    except OSError as error:
        if error.errno == errno.E2BIG:
            return Done(words, 2, b"", b"", 0.0)
        raise
    try:
        return finish(process, place, timeout_s, words)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def become_nobody() -> None:
    """For a child: what it then can do, anyone can."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def let_signals_be() -> None:
    """For a child: signals do what they do to a program started from a shell."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
