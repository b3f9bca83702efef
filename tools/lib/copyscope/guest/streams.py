# SPDX-License-Identifier: GPL-2.0
"""What passes between a guest and its user: bytes of ports, signals, lines on what is done."""
from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from typing import Any

from copyscope.common.errors import CommandError, one_line
from copyscope.common.tree import called

# The ways a guest run ends early that other commands do not know.


class BootFailed(CommandError):
    """The guest died or hung before it began COMMAND: nothing has happened yet."""


class TimedOut(CommandError):
    """The command took longer than --timeout; the status is that of timeout(1)."""

    status = 124


class NotEnded(CommandError):
    """The command had not ended a while after a signal; the status tells of the signal."""

    def __init__(self, number: int, seconds: float) -> None:
        super().__init__(f"the guest was stopped: its command had not ended {seconds:g} s after "
                         f"{signal.Signals(number).name}")
        self.status = 128 + number


# Bytes from a guest's port to a sink, up to the mark that ends them.


class Channel:
    """One port: passes data on at once and holds back only what may be the mark's beginning."""

    def __init__(self, mark: bytes, sink: Callable[[bytes], None]) -> None:
        self.mark, self.sink = mark, sink
        self.held = b""
        self.tail: bytes | None = None

    def feed(self, data: bytes) -> None:
        """Take the next piece from the port."""
        if self.tail is not None:
            self.tail += data
            return
        data = self.held + data
        place = data.find(self.mark)
        if place >= 0:
            self.tail, self.held = data[place + len(self.mark):], b""
        else:
            place = len(data) - self._maybe_mark(data)
            self.held = data[place:]
        if place:
            self.sink(data[:place])

    def _maybe_mark(self, data: bytes) -> int:
        """Return how many last bytes of `data` may be the beginning of the mark."""
        longest = min(len(self.mark) - 1, len(data))
        return next((size for size in range(longest, 0, -1)
                     if data.endswith(self.mark[:size])), 0)

    @property
    def ended(self) -> bool:
        """The mark has come, with the whole line after it."""
        return self.tail is not None and self.tail.endswith(b"\n")

    def flush(self) -> None:
        """Pass on what was held back when no mark can come any more."""
        if self.held:
            self.sink(self.held)
            self.held = b""


class LineFilter:
    """Passes on the lines that do not begin with a word."""

    def __init__(self, word: bytes, sink: Callable[[bytes], None]) -> None:
        self.word, self.sink = word, sink
        self.left_out, self.held = 0, b""

    def feed(self, data: bytes) -> None:
        """Take the next piece."""
        *lines, self.held = (self.held + data).split(b"\n")
        kept = [line + b"\n" for line in lines if not line.startswith(self.word)]
        self.left_out += len(lines) - len(kept)
        if kept:
            self.sink(b"".join(kept))

    def flush(self) -> None:
        """Pass on a last line that has no end."""
        if self.held:
            self.sink(self.held)
        self.held = b""


def to_descriptor(descriptor: int) -> Callable[[bytes], None]:
    """Return a sink that writes everything to a descriptor of ours, unbuffered."""
    def write(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view):]
    return write


# What is being done for a guest, and what a signal ended.

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


# Signals into a guest, and how long its command may take to end after one.

PASSED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# A run ends within 2 s of a signal; an emulated guest is slow, and /out has to come home.
END_S = 15.0
# One press of Ctrl-C may come twice, from the terminal and from who started us.
SAME_S = 0.3


class SignalForwarder:
    """Inside its `with`, the first signal goes to the guest's command. A second one raises
    SystemExit, as does a first one before the command began."""

    def __init__(self, port: socket.socket, began: Callable[[], bool],
                 tell: Callable[[str], None]) -> None:
        self.port, self.began, self.tell = port, began, tell
        self.first, self.first_at = 0, 0.0
        self.before: dict[int, Any] = {}

    def __enter__(self) -> SignalForwarder:
        for number in PASSED:
            if signal.getsignal(number) != signal.SIG_IGN:
                self.before[number] = signal.signal(number, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _take(self, number: int, _frame: Any) -> None:
        now = time.monotonic()
        if self.first == number and now - self.first_at < SAME_S:
            return
        if self.first or not self.began():
            raise SystemExit(128 + number)
        self.first, self.first_at = number, now
        name = signal.Signals(number).name
        self.port.send(f"{name[3:]}\n".encode())
        self.tell(f"{name}: the command was told to end and has {END_S:g} s; "
                  "once more stops the guest")

    def check_time_limit(self) -> None:
        """Raise NotEnded when the command has had END_S to end after a signal."""
        if self.first and time.monotonic() - self.first_at > END_S:
            raise NotEnded(self.first, END_S)
