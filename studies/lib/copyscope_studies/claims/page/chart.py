# SPDX-License-Identifier: GPL-2.0
"""Draws searches for crossovers as one figure, as SVG in the page's colours."""
from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

from copyscope.common.text import size_text

WIDTH, LEFT, RIGHT, TOP = 360, 62, 14, 44
TITLE, LINE = 22, 18


@dataclass(frozen=True)
class Search:
    """One search: which of two was faster at each size, neither, or nobody knows."""

    # What it shares with the searches of other numbers of connections.
    title: str
    connections: int
    answer: str
    sizes: tuple[tuple[int, str], ...]


def place(size: int, low: int, high: int) -> float:
    """Where a size lies on the axis, which is logarithmic."""
    share = math.log(size / low) / math.log(high / low) if high > low else 0.5
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def mark(x: float, y: float, winner: str) -> str:
    """A size: filled circle, filled square, dot, or ring."""
    if winner == "first":
        return f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="var(--first)"/>'
    if winner == "second":
        return f'<path d="M{x - 4:.1f} {y - 4}h8v8h-8z" fill="var(--second)"/>'
    inside = 'r="2" fill="var(--faint)"' if winner == "alike" else \
        'r="3" fill="none" stroke="var(--faint)"'
    return f'<circle cx="{x:.1f}" cy="{y}" {inside}/>'


def key() -> list[str]:
    """What the marks mean."""
    found, x = [], 6
    for winner, says, width in (("first", "first is faster", 104),
                                ("second", "second is faster", 118),
                                ("alike", "alike", 52), ("undecided", "undecided", 0)):
        found.append(mark(x + 4, 12, winner) + f'<text x="{x + 13}" y="16">{says}</text>')
        x += width
    return found


def axis(low: int, high: int, bottom: int) -> list[str]:
    """Lines at a few sizes."""
    found = []
    for size in (64, 1 << 10, 1 << 14, 1 << 16, 1 << 20):
        if low <= size <= high:
            x = place(size, low, high)
            anchor = "end" if x > WIDTH - 40 else "middle"
            found.append(f'<path d="M{x:.1f} {TOP - 8}V{bottom}" stroke="var(--rule)"/>'
                         f'<text x="{x:.1f}" y="{TOP - 12}" text-anchor="{anchor}" '
                         f'fill="var(--faint)">{size_text(size)}</text>')
    return found


def svg(searches: list[Search]) -> str:
    """The figure: a line for each search, below the pair that it is of."""
    sizes = [size for each in searches for size, _ in each.sizes]
    low, high = min(sizes, default=1), max(sizes, default=1)
    found, y, title = [], TOP, ""
    for each in searches:
        if each.title != title:
            y, title = y + TITLE, each.title
            found.append(f'<text x="2" y="{y - 6}" font-weight="600">{escape(title)}</text>')
        y += LINE
        ends = [place(size, low, high) for size, _ in (each.sizes[0], each.sizes[-1])]
        found.append(f'<text x="{LEFT - 8}" y="{y - 5}" text-anchor="end" fill="var(--faint)">'
                     f'{each.connections} conn.</text>'
                     f'<path d="M{ends[0]:.1f} {y - 9}H{ends[1]:.1f}" stroke="var(--rule)"/>')
        found += [mark(place(size, low, high), y - 9, winner) for size, winner in each.sizes]
    words = "; ".join(f"{each.title}, connections {each.connections}: {each.answer}"
                      for each in searches)
    return "\n".join([
        f'<svg class="chart" viewBox="0 0 {WIDTH} {y + 6}" role="img" aria-label="Which way to '
        f'send is faster, by the size of a message. {escape(words)}" fill="currentColor" '
        'font-family="system-ui, sans-serif" font-size="11">', *key(), *axis(low, high, y + 4),
        *found, "</svg>"])
