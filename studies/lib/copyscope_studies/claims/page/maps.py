# SPDX-License-Identifier: GPL-2.0
"""Draws where the bytes of a message are copied on their way, as SVG in the page's colours."""
from __future__ import annotations

from dataclasses import dataclass
from html import escape

WIDTH, BOX, GAP, LEFT = 300, 26, 50, 14
PLACES = ("memory of the program", "packets of the socket", "packets of the receiver",
          "memory of the reader")


@dataclass(frozen=True)
class Way:
    """What happens to a byte between two places, in bytes for each byte of payload; None: it was
    not measured."""

    says: str
    share: float | None
    copies: bool = True


@dataclass(frozen=True)
class Map:
    """One way to send on one path: `steps` has what happens between two places."""

    title: str
    steps: tuple[tuple[Way, ...], ...]


def amount(share: float | None) -> str:
    """A number of bytes for each byte of payload, to a tenth: what is less than that are a few
    packets that were sent again or merged."""
    if share is None:
        return "not measured"
    return "0" if not share else "< 0.1" if share < 0.05 else f"{share:.1f}"


def sentence(of: Map) -> str:
    """The drawing in words, for those who do not see it."""
    ways = [f"{each.says} {amount(each.share)}" for step in of.steps for each in step]
    return f"{of.title}. For each byte of payload: {', '.join(ways)}."


def arrow(top: int, ways: tuple[Way, ...]) -> list[str]:
    """The arrows of one step side by side, and what each says."""
    found = []
    for number, each in enumerate(ways):
        x = LEFT + 16 + 20 * number
        colour = "var(--copy)" if each.copies else "var(--refer)"
        width = 1 + 4 * min(each.share or 0, 2)
        broken = "" if each.copies else ' stroke-dasharray="5 4"'
        fade = "" if each.share else ' opacity="0.35"'
        found.append(f'<g stroke="{colour}" fill="none" stroke-width="{width:.1f}"{fade}>'
                     f'<path d="M{x} {top + 3}V{top + GAP - 7}"{broken}/>'
                     f'<path d="M{x - 6} {top + GAP - 12}L{x} {top + GAP - 4}'
                     f'L{x + 6} {top + GAP - 12}" stroke-width="2"/></g>')
    left = LEFT + 20 * len(ways) + 22
    for number, each in enumerate(ways):
        y = top + GAP // 2 + 4 + 16 * number - 8 * (len(ways) - 1)
        found.append(f'<text x="{left}" y="{y}">{escape(each.says)} {amount(each.share)}</text>')
    return found


def svg(of: Map) -> str:
    """The drawing, from the program down to the reader."""
    height = 26 + len(PLACES) * BOX + len(of.steps) * GAP + 4
    words = escape(sentence(of))
    found = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{words}" '
             'font-family="system-ui, sans-serif" font-size="13" fill="currentColor">',
             f'<text x="{LEFT}" y="16" font-weight="700">{escape(of.title)}</text>']
    top = 26
    for number, place in enumerate(PLACES):
        found.append(f'<rect x="{LEFT}" y="{top}" width="{WIDTH - 2 * LEFT}" height="{BOX}" rx="4" '
                     'fill="none" stroke="currentColor"/>'
                     f'<text x="{LEFT + 8}" y="{top + 18}">{place}</text>')
        top += BOX
        if number < len(of.steps):
            found += arrow(top, of.steps[number])
            top += GAP
    return "\n".join([*found, "</svg>"])
