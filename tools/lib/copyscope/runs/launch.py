# SPDX-License-Identifier: GPL-2.0
"""Makes runs with trace_run, in children that never outlive the sweep: what each is told, how it
ended, how far the sweep is.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from copyscope.common.errors import CommandError, Refused, Unusable
from copyscope.common.programs import kill_with_parent
from copyscope.common.tables import PATHS_OF_NICS
from copyscope.common.tree import BUILD, ROOT
from copyscope.records.passes import BOTH

HOST = "host"
EXIT_FINE, EXIT_USAGE, EXIT_REFUSED, EXIT_BLIND = 0, 2, 3, 4
# Beyond the asked seconds: a hang is a failed run, not a hung sweep.
PATIENCE_S, GUEST_PATIENCE_S = 60, 600
# Over two hosts trace_run itself waits for the other one, and says what it waited for in vain.
PEER_PATIENCE_S = 240
# A run on another host, as tools/trace_run starts it.
FAR = [sys.executable, "-SB", "tools/lib/launch.py", "copyscope.dispatch.far_run", "run"]
# How often who looks at a run while it is made does so.
LOOK_S = 0.02
Look = Callable[[], None]


@dataclass(frozen=True)
class Run:
    """One repeat of one point."""

    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    status: int
    stderr: str
    command: list[str]
    said: str = ""              # the record, of a run that was given no file for it


def is_far(run: Run) -> bool:
    """Whether both ends are on another host."""
    return bool(word_after(run, "--host")) and word_after(run, "--path") != "peer"


def command_of(run: Run, record: Path | None, seconds: float, kernel: str,
               passes: str = BOTH) -> list[str]:
    """Return the command line, without absolute names: records and provenance keep it."""
    program = FAR if is_far(run) else ["build/trace_run"] if kernel == HOST else \
        ["tools/trace_run", "--kernel", kernel]
    # Without probes there is one pass to begin with.
    one = [] if passes == BOTH or "--no-probes" in run.arguments else ["--pass", passes]
    long = [] if "--messages" in run.arguments else ["--seconds", f"{seconds:g}"]
    return [*program, *run.arguments, *one, *long, "--quiet",
            "--json", os.path.relpath(record, ROOT) if record else "-"]


def word_after(run: Run, option: str) -> str:
    """The value of an option of a run; "" if it has none."""
    for word, after in zip(run.arguments, (*run.arguments[1:], "")):
        if word == option or word.startswith(f"{option}="):
            return after if word == option else word.partition("=")[2]
    return ""


def guest_options(run: Run, kernel: str) -> list[str]:
    """What tools/guest is told of a guest in which such runs are to be made, as tools/trace_run has
    it. They are the same for all runs of a plan."""
    model = ["--model", word_after(run, "--counters").partition(":")[2]]
    return ["--kernel", kernel, *(model if "--counters" in run.arguments else []),
            *(["--nics", "2"] if word_after(run, "--path") in PATHS_OF_NICS else [])]


def command_in_guest(run: Run, seconds: float, passes: str) -> list[str]:
    """The command of a run in a guest that makes many; what makes the guest adds --json."""
    *command, _, _ = command_of(run, None, seconds, HOST, passes)
    # The guest knows the name of the model.
    return ["model" if before == "--counters" else word
            for before, word in zip(["", *command], command)]


def check_built(kernel: str) -> None:
    """Refuse to begin without build/trace_run or, on this kernel, without root."""
    if not (BUILD / "trace_run").exists():
        raise Refused("build/trace_run is not there: run make first")
    if kernel == HOST and os.geteuid() != 0:
        raise Refused(f"runs need root: type sudo ./tools/{Path(sys.argv[0]).name} ...")


def last_line(stderr: str) -> str:
    """The line that says what went wrong."""
    lines = [each for each in stderr.splitlines() if each.strip()]
    return lines[-1].removeprefix("trace_run: ") if lines else "trace_run printed no message"


def refuse(run: Run, record: Path | None, status: int, stderr: str) -> None:
    """Raise an error that every other run would meet, too."""
    if "No space left" in stderr or "quota exceeded" in stderr:
        raise Unusable(f"{record or run.name}: file: {last_line(stderr)}")
    if status == EXIT_USAGE:
        raise Unusable(f"{run.name}: {last_line(stderr)}")
    if status == EXIT_REFUSED:
        raise Refused(last_line(stderr))


def ended(process: subprocess.Popen[str], patience_s: float, look: Look | None) -> tuple[str, str]:
    """Wait for the end of a run, looking again and again; what it said on stdout and stderr."""
    until = time.monotonic() + patience_s
    while look and time.monotonic() < until:
        look()
        try:
            return process.communicate(timeout=LOOK_S)
        except subprocess.TimeoutExpired:
            continue
    return process.communicate(timeout=max(0, until - time.monotonic()))


def make(run: Run, record: Path | None, seconds: float, kernel: str, passes: str = BOTH,
         look: Look | None = None) -> Outcome:
    """Make one run, with its record in a file or in the outcome; call `look` again and again while
    it is made. Raise an error that every other run would meet too."""
    command = command_of(run, record, seconds, kernel, passes)
    patience = seconds + (GUEST_PATIENCE_S if kernel != HOST else
                          PEER_PATIENCE_S if word_after(run, "--host") else PATIENCE_S)
    environment = {**os.environ, "LC_ALL": "C"}
    # A run that is left over would race with its repetition.
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL if record else subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace",
                          preexec_fn=kill_with_parent()) as process:
        try:
            said, stderr = ended(process, patience, look)
            status = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            said, stderr, status = "", f"killed: it had not ended after {patience:g} s", 124
        except BaseException:
            process.kill()
            raise
    refuse(run, record, status, stderr)
    return Outcome(status, stderr, command, said or "")


def record_of(run: Run, seconds: float, passes: str = BOTH, look: Look | None = None,
              fine: tuple[int, ...] = (EXIT_FINE,)) -> str:
    """Make one run on this kernel; its record. Any exit status that is not `fine` is an error."""
    outcome = make(run, None, seconds, HOST, passes, look)
    if outcome.status not in fine:
        raise CommandError(f"{run.name}: {last_line(outcome.stderr)}")
    return outcome.said


def overwrite(line: str) -> None:
    """A line of progress that the next one overwrites, on a terminal; "" leaves it clean."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()


# The progress of a sweep: a bar with the time left on a terminal, lines in a pipe.

BAR = 24


def bar(done: int, total: int) -> str:
    """[######..................]"""
    full = BAR * done // max(1, total)
    return f"[{'#' * full}{'.' * (BAR - full)}]"


def clock(seconds: float) -> str:
    """A duration as people read it."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


class Progress:
    """Counts runs on stderr; `expected_s` is what one run should take until some were timed."""

    def __init__(self, total: int, done: int, expected_s: float, quiet: bool) -> None:
        self.total, self.done, self.expected_s, self.quiet = total, done, expected_s, quiet
        self.made, self.began = 0, time.monotonic()
        self.bar = sys.stderr.isatty()

    def left_s(self) -> float:
        """Seconds left, by the mean of the runs made so far."""
        spent = time.monotonic() - self.began
        each = spent / self.made if self.made else self.expected_s
        return each * (self.total - self.done)

    def show(self, name: str) -> None:
        """Draw the bar while a run is made."""
        if self.quiet or not self.bar:
            return
        line = f"{bar(self.done, self.total)} {self.done}/{self.total}  " \
               f"{clock(self.left_s())} left  {name}"
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r\x1b[K{line[:width]}")
        sys.stderr.flush()

    def tell(self, line: str) -> None:
        """Print a line that stays."""
        if self.bar and not self.quiet:
            sys.stderr.write("\r\x1b[K")
        print(line, file=sys.stderr, flush=True)

    def step(self, name: str, failed: str = "") -> None:
        """One more run was made."""
        self.done += 1
        self.made += 1
        if failed:
            self.tell(f"sweep: {name} failed: {failed}")
        elif not self.bar and not self.quiet:
            self.tell(f"{self.done}/{self.total} {name}, {clock(self.left_s())} left")

    def end(self) -> None:
        """Leave the terminal's line clean."""
        if self.bar and not self.quiet:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
