# SPDX-License-Identifier: GPL-2.0
"""The terminal while a live view is on it: taken in front, drawn on without waiting, given back."""
from __future__ import annotations

import os
import select
import termios

KEYBOARD, TERMINAL = 0, 1
# The alternate screen, and the cursor (ECMA-48 and xterm's private modes, which every terminal with
# an addressable cursor of this century has).
ENTER, LEAVE = b"\x1b[?1049h\x1b[?25l", b"\x1b[?25h\x1b[?1049l"
PLAIN = "\x1b[0m"
HOME, CLEAR_LINE, CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"
# So long a terminal may take to accept the few bytes that give it back.
PATIENCE_S = 1
# A serial line does not know its size.
SIZE = (80, 24)


def is_possible() -> bool:
    """Keyboard and screen are a terminal that can move its cursor."""
    return os.isatty(KEYBOARD) and os.isatty(TERMINAL) and \
        os.environ.get("TERM", "dumb") not in ("", "dumb")


def is_in_front() -> bool:
    """Where there is no job control, every process is."""
    try:
        return os.tcgetpgrp(KEYBOARD) == os.getpgrp()
    except OSError:
        return True


def raw(was: list) -> list:
    """Ctrl-C stays a signal. Ctrl-Z becomes a key, so that the screen is given back first, and
    Ctrl-S one that means nothing: space pauses."""
    modes = [*was[:6], [*was[6]]]
    modes[0] &= ~termios.IXON
    modes[3] &= ~(termios.ICANON | termios.ECHO)
    modes[6][termios.VMIN], modes[6][termios.VTIME], modes[6][termios.VSUSP] = 1, 0, b"\0"
    return modes


def dressed(line: str, columns: int, colours: bool) -> str:
    """A line cut to the width, in its look if it has one."""
    tint = getattr(line, "tint", "") if colours else ""
    return f"{tint}{line[:columns]}{PLAIN if tint else ''}"


class Screen:
    """A terminal that is taken and given back."""

    def __init__(self) -> None:
        """OSError: it is another user's, as after su."""
        # Opened anew: O_NONBLOCK is of an open file, and stdout's is the shell's, too.
        self.out = os.open(f"/proc/self/fd/{TERMINAL}",
                           os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        self.was = termios.tcgetattr(KEYBOARD)
        self.is_shown = self.is_hidden = False
        self.left = b""  # of a page, what the terminal has not taken yet
        self.drawn: tuple[int, int] | None = None  # columns and lines of that page

    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        columns, lines = os.get_terminal_size(self.out)
        return (columns, lines) if columns and lines else SIZE

    def is_resized(self) -> bool:
        """Whether the page was drawn for another size."""
        return self.is_shown and self.drawn not in (None, self.size())

    def write_some(self, data: bytes) -> bytes:
        """What the terminal does not take now. OSError: it is gone."""
        try:
            return data[os.write(self.out, data):]
        except BlockingIOError:
            return data

    def say(self, data: bytes) -> bool:
        """Write it in any case; False if the terminal takes nothing."""
        while data := self.write_some(data):
            if not select.select([], [self.out], [], PATIENCE_S)[1]:
                return False
        return True

    def take(self) -> bool:
        """Take the terminal, if it may be, and give it up in the background; True if it was taken
        now."""
        front = is_in_front()
        if self.is_shown and not front:
            # Its modes are now those that the shell set.
            self.is_shown, self.left = False, b""
            self.say(LEAVE)
        if self.is_shown or self.is_hidden or not front:
            return False
        # To wait until all is out (TCSADRAIN) may take for ever.
        termios.tcsetattr(KEYBOARD, termios.TCSANOW, raw(self.was))
        self.say(ENTER)
        self.is_shown = True
        return True

    def give_back(self) -> bool:
        """As it was. False if it takes nothing; what is left of a page is dropped."""
        shown, self.is_shown, self.left = self.is_shown, False, b""
        if not shown:
            return True
        taken = self.say(LEAVE)
        termios.tcsetattr(KEYBOARD, termios.TCSANOW, self.was)
        return taken

    def draw(self, lines: list[str], colours: bool = False) -> None:
        """Replace what is there, each line cut to the width. A terminal that has not taken the page
        before gets the one after this."""
        columns, height = self.drawn = self.size()
        self.flush()
        if self.is_shown and not self.left:
            page = "\r\n".join(f"{dressed(line, columns, colours)}{CLEAR_LINE}"
                               for line in lines[:height])
            self.left = f"{HOME}{page}{CLEAR_BELOW}".encode(errors="surrogateescape")
            self.flush()

    def flush(self) -> None:
        """Write what the terminal takes now."""
        if self.left:
            self.left = self.write_some(self.left)

    def typed(self) -> bytes:
        """What was typed. OSError: the terminal is gone."""
        found = os.read(KEYBOARD, 64)
        if not found:
            raise OSError("the terminal has ended")
        return found
