# SPDX-License-Identifier: GPL-2.0
"""Intervals of a watch in place, on a terminal, and the keys that are for the watch."""
from __future__ import annotations

import os
import select
from typing import Any

from .screen import KEYBOARD, Screen

Document = dict[str, Any]
CTRL_Z = b"\x1a"


class Live:
    """The view, which shows the last interval."""

    def __init__(self, whom: str, channel: int) -> None:
        self.whom, self.channel = whom, channel
        self.screen = Screen()
        self.latest: Document = {}

    def draw(self) -> None:
        """The last interval, if there was one."""
        if self.latest:
            columns, height = self.screen.size()
            os.environ["COLUMNS"] = str(columns)
            # Not earlier: see printer.py.
            from copyscope.report import live  # pylint: disable=import-outside-toplevel
            self.screen.draw(live.lines(self.whom, self.latest, height))

    def serve(self) -> None:
        """Take the terminal once it may be taken, send on what is typed, write what is left."""
        if self.screen.take():
            self.draw()
        self.screen.flush()
        if self.screen.is_shown and select.select([KEYBOARD], [], [], 0)[0]:
            for key in self.screen.typed():
                self.send(bytes([key]))

    def send(self, key: bytes) -> None:
        """Ctrl-Z stops the watch: the terminal is given back before."""
        if key == CTRL_Z:
            self.screen.is_hidden = True
            self.screen.give_back()
        os.write(self.channel, key)

    def obey(self, told: Document) -> bool:
        """True if nothing of it is to be printed."""
        if "record" in told:
            return not self.screen.give_back()
        if "stop" in told:
            self.send(CTRL_Z)
        self.screen.is_hidden &= "go" not in told
        if "interval" in told:
            self.latest = told
            self.draw()
        return True
