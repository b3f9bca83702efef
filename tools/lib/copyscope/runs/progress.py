# SPDX-License-Identifier: GPL-2.0
"""Shows the progress of a sweep: a bar with the time left on a terminal, lines in a pipe."""
from __future__ import annotations

import shutil
import sys
import time

BAR = 24


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
        full = BAR * self.done // max(1, self.total)
        line = f"[{'#' * full}{'.' * (BAR - full)}] {self.done}/{self.total}  " \
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
