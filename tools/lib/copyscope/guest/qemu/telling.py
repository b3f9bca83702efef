# SPDX-License-Identifier: GPL-2.0
"""Says on stderr what is being done for a guest, and what a signal ended."""
from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from copyscope.common.errors import one_line
from copyscope.common.tree import called

from .streams import to_descriptor

NAME = called("tools/guest")
# Goes back to the beginning of a line and clears it.
CLEAR = b"\r\x1b[K"


class Teller:
    """A line for each step and, on a terminal, below it for how long the step has been going on."""

    def __init__(self) -> None:
        self.steps = False      # are to be said
        self.doing = "reading the command line"
        self.began = False      # the command, in the guest
        self.since = time.monotonic()
        self.ticks = os.isatty(2) and os.environ.get("TERM", "dumb") != "dumb"
        self.shown = 0          # seconds that stand on the terminal

    def complain(self, line: str) -> None:
        """Print one line, whoever wants to know of steps."""
        self.clear()
        to_descriptor(2)(f"{NAME}: {one_line(line)}\n".encode())

    def step(self, doing: str, line: str = "", always: bool = False) -> None:
        """Note the next step, and say its line."""
        self.doing, self.since = doing, time.monotonic()
        if self.steps or always:
            self.complain(line or doing)

    def fetching(self, doing: str) -> None:
        """The same of a step that needs the network: it may take minutes."""
        self.step(doing, always=True)

    def tick(self) -> None:
        """Show for how long the step has been going on."""
        seconds = int(time.monotonic() - self.since)
        if self.steps and self.ticks and seconds and seconds != self.shown:
            to_descriptor(2)(CLEAR + f"  {seconds} s".encode())
            self.shown = seconds

    def clear(self) -> None:
        """Leave the terminal's line clean."""
        if self.shown:
            to_descriptor(2)(CLEAR)
        self.shown = 0

    def before(self, sink: Callable[[bytes], None]) -> Callable[[bytes], None]:
        """A sink whose bytes begin on a clean line."""
        def write(data: bytes) -> None:
            # From here on the terminal is the command's.
            self.clear()
            self.ticks = False
            sink(data)
        return write

    def stopped(self, number: int) -> None:
        """Say what a signal ended."""
        what = "interrupted" if number == signal.SIGINT else \
            f"ended by {signal.Signals(number).name}"
        self.complain(f"{what} again; the guest was stopped, and what it wrote is lost"
                      if self.began else f"{what} while {self.doing}; nothing was run")
