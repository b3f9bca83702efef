# SPDX-License-Identifier: GPL-2.0
"""The page of a live view: what moved in the last interval, in as many rows as a screen has."""
from __future__ import annotations

from typing import Any

from .rows import figure, figures_of, laid_out, lines_of_a_row, rows_of_interval
from .verdicts import sums_short

Document = dict[str, Any]
KEYS = "sort c copied t sent i recv a avoidable n name | rows v p s g r l | space | q"
# The head and what parts it from the rows, their heads, what says that there are more, the keys.
LINES_AROUND = 7


def head(title: str, told: Document) -> list[str]:
    """Whom it shows, for how long, in which order; and all that moved."""
    found = told["interval"]
    total, seconds = figures_of(found, found["total"]), int(found["seconds"])
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    paused = "  paused" if told["paused"] else ""
    return [f"copyscope watch {title}  {clock}  by {found['order']}{paused}",
            f"sent {figure(total.sent)}/s, received {figure(total.received)}/s, "
            f"copied {total.cell('copied')}/s, avoidable {figure(total.needless)}/s; "
            f"{total.sockets:,} sockets"]


def lines(title: str, told: Document, height: int) -> list[str]:
    """The whole page."""
    found = told["interval"]
    short = sums_short(found["sums_short"])
    rows, further = rows_of_interval(found)
    # Names above their numbers have a head of their own.
    each = lines_of_a_row(rows, found["by"])
    shown = rows[:max(1, (height - LINES_AROUND - len(short) - (each > 1)) // each)]
    left = further + len(rows) - len(shown)
    more = [f"{'':48}  {left} more"] if left else [] if rows else \
        [f"{'':48}  no TCP or UDP socket yet"]
    return [*head(title, told), *short, "", *laid_out(shown, found["by"], True), *more, "", KEYS]
