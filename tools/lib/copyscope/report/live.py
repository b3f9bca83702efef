# SPDX-License-Identifier: GPL-2.0
"""The page of a live view: what moved in the last interval, in as many rows as a screen has."""
from __future__ import annotations

from typing import Any

from copyscope.common.text import duration_text

from . import live_row
from .chosen import Chosen
from .page import BOLD, Tinted
from .rows import Row, figure, figures_of, laid_out, lines_of_a_row, rows_of_interval
from .spark import History
from .verdicts import sums_short

Document = dict[str, Any]
# Reverse, whatever the colours of the terminal are; red is readable on black and on white.
MARKED, AVOIDABLE = "\x1b[7m", "\x1b[31m"
MARK = ">"
KEYS = "? keys | / filter | up, down, enter: one row | space pauses | q ends"
KEYS_OF_FILTER = "enter: keep the filter | escape: all rows"
TURN = "enter: more | "
KEYS_OF_ROW = "escape: all rows | up, down: another row | space pauses | q ends"
HELP = [
    "up, down, j, k       mark a row           enter   what it is made of",
    "/ TEXT               rows whose name has that text; escape: all rows",
    "c t i a n            sort by copied, sent, received, avoidable, name",
    "v p s g r l          rows by service, process, socket, cgroup, peer, local port",
    "space                pause, and go on     q       end the watch",
    "",
    "Numbers are a second's. copied: by send, by recv or in between (>=: at least);",
    "avoidable: to be sent without a copy, and copied all the same; -: not measured."]
# The head and what parts it from the rows, their heads, what says that there are more, the keys.
LINES_AROUND = 8
# Bars of a row: fewer tell nothing, more add nothing.
BARS_LEAST, BARS_MOST = 10, 60
ALL = ""


class Page:
    """A terminal's size, what was chosen, and the rates of the last minutes."""

    def __init__(self, title: str) -> None:
        self.title, self.chosen, self.history = title, Chosen(), History()
        self.told: Document = {}
        self.rows: list[Row] = []

    def take(self, told: Document) -> None:
        """An interval, or the same in another order."""
        self.told = told
        found = told["interval"]
        self.rows, self.further = rows_of_interval(found)
        total = figures_of(found, found["total"])
        self.history.note(found["by"], found["seconds"], {
            ALL: total.copied[1], **{row.name: row.copied[1] for row in self.rows}})

    def fitting(self) -> list[Row]:
        """The rows that the filter lets through."""
        return [row for row in self.rows if self.chosen.fits(row.name)]

    def names(self) -> list[str]:
        """What may be marked."""
        return [row.name for row in self.fitting()]

    def head(self, width: int) -> list[str]:
        """Whom it shows, for how long, in which order; all that moved, and how that went."""
        found = self.told["interval"]
        total, seconds = figures_of(found, found["total"]), int(found["seconds"])
        clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        said = ["copyscope watch", clock, f"by {found['order']}", "paused" * self.told["paused"],
                f"filter: {self.chosen.filter}" * bool(self.chosen.filter),
                f"{total.sockets:,} sockets", self.title]
        return [*Tinted.of(BOLD, ["  ".join(filter(None, said))]),
                f"sent {figure(total.sent)}/s, received {figure(total.received)}/s, "
                f"copied {total.cell('copied')}/s, avoidable {figure(total.needless)}/s",
                *self.went(ALL, width)]

    def went(self, name: str, width: int) -> list[str]:
        """How copying went, once there are two intervals."""
        if not self.history.span_s():
            return [""]
        said = f"  at most {figure(self.history.most(name))}/s in the last " \
            f"{duration_text(self.history.span_s() * 1e9)}"
        room = min(width - len(said) - len("copied "), 2 * BARS_MOST)
        return [f"copied {self.history.line(name, max(room, 1))}{said}"]

    def row_lines(self, width: int, room: int) -> list[str]:
        """As many rows as fit, the marked one among them."""
        found, by = self.fitting(), self.told["interval"]["by"]
        each = lines_of_a_row(found, by)
        fits = max(1, (room - (each > 1)) // each)
        marked = next((at for at, row in enumerate(found) if row.name == self.chosen.row), -1)
        first = max(0, marked - fits + 1)
        shown = found[first:first + fits]
        said = self.dressed(laid_out(shown, by, True), shown, width)
        left = self.further + len(self.rows) - len(shown)
        if left or not found:
            said.append(f"{'':48}  {self.rest(left, found)}")
        return said

    def rest(self, left: int, found: list[Row]) -> str:
        """What is not shown, and why."""
        if not self.rows:
            return "no TCP or UDP socket yet"
        if not self.chosen.filter:
            return f"{left} more"
        beyond = f"; {self.further:,} were not looked at" if self.further else ""
        return f"{len(found)} of {len(self.rows)} have that name{beyond}"

    def dressed(self, said: list[str], shown: list[Row], width: int) -> list[str]:
        """The marked row and those with avoidable copies look so; beside names that leave room
        stands how each went."""
        if len(said) != len(shown) + 1:
            return said
        widest = max(map(len, said[1:]), default=0)
        room = min(width - widest - 2, BARS_MOST) if self.history.span_s() else 0
        made = said[:1]
        for line, row in zip(said[1:], shown):
            bars = self.history.line(row.name, room) if room >= BARS_LEAST else ""
            text = f"{line:{widest}}  {bars}" if bars.strip() else line
            is_marked = row.name == self.chosen.row
            tint = MARKED if is_marked else AVOIDABLE if row.needless else ""
            made += Tinted.of(tint, [f"{MARK}{text[1:]}" if is_marked else text])
        return made

    def lines(self, height: int, width: int) -> list[str]:
        """The whole page."""
        chosen, found = self.chosen, self.told["interval"]
        short = sums_short(found["sums_short"])
        top = [*self.head(width), *short, ""]
        keys, room = KEYS, max(1, height - len(top) - 2)
        if chosen.is_help:
            body = HELP
        elif chosen.is_detail:
            body = [*Tinted.of(BOLD, [f"{chosen.row}, in each second"]),
                    *self.went(chosen.row, width)]
            parts, fits = live_row.lines(found, chosen.row, height), max(1, room - len(body))
            pages = -(-len(parts) // fits)
            begin = chosen.turned % max(pages, 1) * fits
            body += parts[begin:begin + fits]
            keys = f"{TURN}{KEYS_OF_ROW}" if pages > 1 else KEYS_OF_ROW
        else:
            body = self.row_lines(width, height - LINES_AROUND - len(short))
        if chosen.is_typing:
            keys = f"/{chosen.filter}_  {KEYS_OF_FILTER}"
        return [*top, *body[:room], "", keys]
