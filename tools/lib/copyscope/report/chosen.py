# SPDX-License-Identifier: GPL-2.0
"""What was chosen by keys in a live view: a filter, a row, whether its parts are shown."""
from __future__ import annotations

from dataclasses import dataclass

UP, DOWN, FIRST, LAST = "up", "down", "first", "last"
ESCAPE, ENTER, ERASE = "\x1b", "\n", "\x7f"
# What terminals send for keys that have no letter, behind ESC [ or ESC O.
NAMED = {"A": UP, "B": DOWN, "H": FIRST, "F": LAST, "1~": FIRST, "4~": LAST}
MOVES = {UP: -1, "k": -1, DOWN: 1, "j": 1, FIRST: -1 << 20, LAST: 1 << 20}


def keys_of(typed: str) -> list[str]:
    """Keys by what a terminal sent; one that has no letter and no name here is left out."""
    found, at = [], 0
    while at < len(typed):
        if typed[at] == ESCAPE and typed[at + 1:at + 2] in ("[", "O"):
            end = at + 2
            while end < len(typed) and (typed[end].isdigit() or typed[end] == ";"):
                end += 1
            found.append(NAMED.get(typed[at + 2:end + 1], ""))
            at = end + 1
        else:
            found.append({"\r": ENTER, "\b": ERASE}.get(typed[at], typed[at]))
            at += 1
    return [each for each in found if each]


@dataclass
class Chosen:
    """The watch sends rows by itself; these are the reader's."""

    filter: str = ""        # names that have it, in any case of letters, are shown
    is_typing: bool = False  # keys are letters of the filter
    row: str = ""           # the name of the row that is marked; "": none
    is_detail: bool = False  # what it is made of fills the screen
    turned: int = 0         # how often the reader asked for more of that
    is_help: bool = False

    def fits(self, name: str) -> bool:
        """Whether the filter lets a row through."""
        return self.filter.lower() in name.lower()

    def type(self, key: str) -> None:
        """A key while the filter is typed."""
        if key in (ENTER, ESCAPE):
            self.is_typing = False
            self.filter = "" if key == ESCAPE else self.filter
        elif key == ERASE:
            self.filter = self.filter[:-1]
        elif key.isprintable() and len(key) == 1:
            self.filter += key

    def back(self) -> None:
        """One step: out of the help, out of a row's parts, to all rows, to no mark."""
        if self.is_help:
            self.is_help = False
        elif self.is_detail:
            self.is_detail, self.turned = False, 0
        elif self.filter:
            self.filter = ""
        else:
            self.row = ""

    def move(self, by: int, names: list[str]) -> None:
        """Mark a row further down or up; the first or the last one if none is marked."""
        self.turned = 0
        if names:
            last = len(names) - 1
            at = names.index(self.row) if self.row in names else -1 if by > 0 else len(names)
            self.row = names[min(max(at + by, 0), last)]

    def takes(self, key: str, names: list[str]) -> bool:
        """Whether a key is the reader's; what it chooses is noted. The others are the watch's."""
        if self.is_typing:
            self.type(key)
        elif key == "/":
            self.is_typing, self.is_detail, self.is_help = True, False, False
            self.turned = 0
        elif key in MOVES:
            self.move(MOVES[key], names)
        elif key == ENTER and self.is_detail:
            self.turned += 1
        elif key == ENTER:
            self.row = self.row if self.row in names else (names or [""])[0]
            self.is_detail = bool(self.row)
        elif key == ESCAPE:
            self.back()
        elif key == "?":
            self.is_help = not self.is_help
        else:
            self.is_help = False
            return False
        return True
