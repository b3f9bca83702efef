# SPDX-License-Identifier: GPL-2.0
"""Runs copyscope watch on a terminal of its own."""
from __future__ import annotations

import os
import pty
import select
import subprocess
import termios
import time

from helpers import watch_tool
from helpers.patience import Patience

TAKE, GIVE_BACK = "\x1b[?1049h", "\x1b[?25h\x1b[?1049l"


class Screen:
    """A terminal that a watch is started on."""

    def __init__(self, *words: object, start: tuple[str, ...] = ()) -> None:
        self.master, slave = pty.openpty()
        self.was = termios.tcgetattr(slave)
        self.slave = slave
        self.said = ""
        # As of a login: a hang-up of the terminal is a signal.
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *start, watch_tool.COPYSCOPE, "watch", *map(str, words)], stdin=slave,
            stdout=slave, stderr=slave, env={**os.environ, "TERM": "xterm"})

    def wait_for(self, text: str, patience_s: float = 20) -> None:
        """Reads until the text was shown."""
        patience = Patience(patience_s)
        while text not in self.said:
            ready, _, _ = select.select([self.master], [], [], 1)
            assert ready or not patience.is_over(), self.said[-2000:]
            if ready:
                self.said += os.read(self.master, 65536).decode()

    def press(self, keys: str) -> None:
        """Types keys; what is shown from now on counts."""
        self.said = ""
        os.write(self.master, keys.encode())

    def hang_up(self) -> int:
        """The terminal goes; the status of the watch then."""
        os.close(self.slave)
        os.close(self.master)
        return self.process.wait(watch_tool.TIMEOUT_S)

    def end(self) -> int:
        """Its status; the terminal must be as it was."""
        self.wait_for(GIVE_BACK)
        status = self.process.wait(watch_tool.TIMEOUT_S)
        while select.select([self.master], [], [], 0)[0]:
            self.said += os.read(self.master, 65536).decode()
        assert TAKE not in self.said.partition(GIVE_BACK)[2]
        for _ in range(100):
            if termios.tcgetattr(self.slave) == self.was:
                break
            time.sleep(0.02)
        assert termios.tcgetattr(self.slave) == self.was
        os.close(self.master)
        os.close(self.slave)
        return status
