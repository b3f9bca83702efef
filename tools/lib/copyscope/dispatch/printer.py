# SPDX-License-Identifier: GPL-2.0
"""Prints what a watch tells: the rows of each interval, and the report of its record.

The watch counts, and is the process that was started: signals and exit status are its own. A child
of it reads its documents (userspace/watch/report/reader.h) and prints them.
"""
from __future__ import annotations

import contextlib
import json
import os
import select
import sys
import termios
from dataclasses import replace
from typing import Any

from copyscope.common.terminal import columns, takes_colours

from .live import CTRL_Z, Live
from .screen import KEYBOARD, is_possible

Document = dict[str, Any]
# A terminal is taken within this time once the watch is in front.
STEP_S = 0.1


def text_of(told: Document, colours: bool, looks: dict[str, str]) -> str:
    """What is printed of a document."""
    # Not earlier: it is read once the window is open, and a watch that is refused needs none of it.
    # pylint: disable-next=import-outside-toplevel
    from copyscope.report import page, rows, watch
    if "interval" in told:
        return page.joined(rows.interval(told["interval"]), colours)
    if "record" not in told:
        return ""
    found = told["record"]
    kept = ["", f"{'record':{page.LABEL}} {told['file']}"] if told["file"] else []
    view = replace(watch.view_of(found), laws="--laws" in looks, exact="--exact" in looks)
    return page.joined([*watch.lines(found, view), *kept], colours)


def confine() -> None:
    """Keep no right that root has: names in what is told are of programs that are watched."""
    # Not earlier, as above.
    from copyscope.metrics import power  # pylint: disable=import-outside-toplevel
    power.give_up()


class Printer:
    """Prints each document at once, in one piece: a command may print to the same terminal."""

    def __init__(self, channel: int, out: int, looks: dict[str, str]) -> None:
        self.channel, self.out, self.looks = channel, out, looks
        self.live: Live | None = None
        self.names: Document | None = None

    def colours(self) -> bool:
        """Whether what is printed has some."""
        return takes_colours(self.out, self.looks.get("--color", "auto"))

    def begin(self, told: Document) -> None:
        """The window is open."""
        self.names = told.get("names")
        if told.get("live") and is_possible():
            # A terminal that may not be opened gets blocks.
            with contextlib.suppress(OSError, termios.error):
                self.live = Live(told["live"], self.channel, self.colours())
        text_of(told, False, self.looks)
        confine()

    def take(self, told: Document) -> None:
        """A document that the watch tells."""
        if "open" in told:
            self.begin(told)
        if "interval" in told:
            told["interval"]["names"] = self.names
        if self.live and self.live.obey(told):
            return
        if "record" in told:
            # The view would take the terminal once more.
            self.live = None
        if "stop" in told:
            os.write(self.channel, CTRL_Z)
        os.environ["COLUMNS"] = columns(self.out)
        text = text_of(told, self.colours(), self.looks)
        data = text.encode(errors="surrogateescape")
        while data:
            data = data[os.write(self.out, data):]

    def run(self) -> None:
        """Until the watch ends."""
        rest = b""
        while True:
            keyboard = [KEYBOARD] if self.live and self.live.screen.is_shown else []
            ready, _, _ = select.select([self.channel, *keyboard], [], [],
                                        STEP_S if self.live else None)
            if self.live:
                self.live.serve()
            if self.channel not in ready:
                continue
            part = os.read(self.channel, 1 << 20)
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                self.take(json.loads(line.decode(errors="surrogateescape")))
            if not part:
                return

    def end(self) -> None:
        """However it ends, the terminal is as it was."""
        if self.live:
            self.live.screen.give_back()


def shown(channel: int, out: int, looks: dict[str, str]) -> int:
    """The exit status of the child that prints. A reader that left early is no error, nor is a
    terminal that is gone while the view is on it."""
    printer = Printer(channel, out, looks)
    try:
        printer.run()
    except (BrokenPipeError, ConnectionResetError):
        pass
    except (OSError, termios.error) as error:
        if not printer.live:
            print(f"copyscope watch: the report was not printed: {os.strerror(error.args[0])}",
                  file=sys.stderr)
            return 1
    finally:
        with contextlib.suppress(OSError, termios.error):
            printer.end()
    return 0
