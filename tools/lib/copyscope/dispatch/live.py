# SPDX-License-Identifier: GPL-2.0
"""Intervals of a watch in place, on a terminal, and the keys of whoever looks at it."""
from __future__ import annotations

import os
import select
from typing import Any

from copyscope.report.chosen import ESCAPE, keys_of

from .screen import KEYBOARD, Screen

Document = dict[str, Any]
CTRL_Z = b"\x1a"
# A key that sends several bytes sends them within this time, by ssh too.
STEP_S = 0.05
# What the watch is asked to tell (userspace/watch/view.c): all rows or the first ones, and what
# each is made of or not.
EVERY, FIRST, PARTS, WHOLE = OWN = (b"/", b"\x1b", b"+", b"-")


class Live:
    """The view, which shows the last interval."""

    def __init__(self, whom: str, channel: int, colours: bool = False) -> None:
        # Not earlier: see printer.py.
        from copyscope.report.live import Page  # pylint: disable=import-outside-toplevel
        self.channel, self.colours = channel, colours
        self.screen, self.page = Screen(), Page(whom)
        self.asked = {"every": False, "parts": False}

    def draw(self) -> None:
        """The last interval, if there was one."""
        if self.page.told:
            columns, height = self.screen.size()
            os.environ["COLUMNS"] = str(columns)
            self.screen.draw(self.page.lines(height, columns), self.colours)

    def serve(self) -> None:
        """Take the terminal once it may be taken, obey what is typed, write what is left."""
        if self.screen.take() or self.screen.is_resized():
            self.draw()
        self.screen.flush()
        if self.screen.is_shown and select.select([KEYBOARD], [], [], 0)[0]:
            self.obey_keys(self.typed())

    def typed(self) -> list[str]:
        """Keys; of one that sends several bytes, which begin as Escape does, all of them."""
        found = self.screen.typed()
        if found.endswith(ESCAPE.encode()) and select.select([KEYBOARD], [], [], STEP_S)[0]:
            found += self.screen.typed()
        return keys_of(found.decode(errors="ignore"))

    def obey_keys(self, keys: list[str]) -> None:
        """Those that choose what is shown; the watch gets the others."""
        for key in keys:
            stops = key.encode() == CTRL_Z
            if not stops and self.page.told and self.page.chosen.takes(key, self.page.names()):
                self.ask()
                self.draw()
            elif len(key) == 1 and key.isascii() and key.encode() not in OWN:
                self.send(key.encode())

    def ask(self) -> None:
        """The watch tells no more than is shown."""
        chosen = self.page.chosen
        for what, is_asked, yes, no in (
                ("every", bool(chosen.filter), EVERY, FIRST),
                ("parts", chosen.is_detail, PARTS, WHOLE)):
            if self.asked[what] != is_asked:
                self.asked[what] = is_asked
                self.send(yes if is_asked else no)

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
            self.page.take(told)
            self.draw()
        return True
