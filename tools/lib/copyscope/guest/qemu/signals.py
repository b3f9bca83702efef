# SPDX-License-Identifier: GPL-2.0
"""Passes signals into a guest, and bounds how long its command may take to end after one."""
from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable
from typing import Any

from .errors import NotEnded

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
