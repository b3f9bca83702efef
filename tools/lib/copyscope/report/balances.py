# SPDX-License-Identifier: GPL-2.0
"""What the sockets of a watch held at its start and at its end."""
from __future__ import annotations

from typing import Any

from copyscope.common.tables import column

from .page import folded
from .sums import sums_of

Document = dict[str, Any]
MEANING = column("balances", "meaning")
NOTHING = "No socket held unsent, unacknowledged or unread bytes at the start or the end."


def cell(value: int | None) -> str:
    """A number of one end of the window."""
    return "cannot be read" if value is None else f"{value:,}"


def lines(data: Document) -> list[str]:
    """A row for each balance that was something, or is not known."""
    said, lost = [], sums_of(data)["lost"]
    for item, meaning in MEANING.items():
        opening, closing = (data["total"][end][item] for end in ("opening", "closing"))
        if opening == closing == 0:
            continue
        gone = lost.get(item, 0)
        first = f"{item:18} {cell(opening):>15} {cell(closing):>15}  "
        dropped = f"; {gone:,} of these were dropped when their sockets closed" if gone else ""
        said += folded(first, meaning + dropped, len(first))
    if not said:
        return ["", NOTHING]
    return ["", f"{'what sockets held':18} {'at the start':>15} {'at the end':>15}", *said]
