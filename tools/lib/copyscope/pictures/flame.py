# SPDX-License-Identifier: GPL-2.0
"""Draws the stacks of a watch as a flame graph: a box for each call, as wide as its bytes."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from zlib import crc32

from copyscope.common.text import bytes_text
from copyscope.records import stacks
from copyscope.records.run_record import Record

# Pixels.
WIDTH, ROW, MARGIN, TOP, LETTER = 1200, 18, 10, 64, 6.8
# Narrower ones cannot be seen, and a page of them is slow.
LEAST_WIDE, LEAST_LETTERS = 0.3, 3
# Sites and marks stand apart from functions.
SITE, MARK = "#9CC9E8", "#D0D0D0"
STYLE = ".flame text{font-family:DejaVu Sans Mono,Verdana,monospace;font-size:11px;fill:#202020}" \
    ".flame rect{stroke:#fff;stroke-width:.5}"


@dataclass
class Box:
    """A call, and what was called from there."""

    name: str
    bytes: int = 0
    under: dict[str, Box] = field(default_factory=dict)


def tree(record: Record) -> Box:
    """All stacks, joined where they begin alike."""
    root = Box("all")
    for key, moved in stacks.folded(record).items():
        root.bytes += moved
        box = root
        for name in key:
            box = box.under.setdefault(name, Box(name))
            box.bytes += moved
    return root


def colour(name: str) -> str:
    """The same name looks the same everywhere."""
    if name.startswith("["):
        return SITE if "_" in name or name in ("[accepted]", "[returned]") else MARK
    hue = crc32(name.encode())
    return f"rgb({215 + hue % 40},{120 + (hue >> 8) % 100},{60 + (hue >> 16) % 50})"


def fitting(name: str, wide: float) -> str:
    """As much of the name as there is room for."""
    room = int((wide - 4) / LETTER)
    if room < LEAST_LETTERS:
        return ""
    return name if len(name) <= room else f"{name[:room - 2]}.."


def boxes(box: Box, left: float, scale: float, row: int) -> Iterator[tuple[float, int, Box]]:
    """Each box with its left edge and its row, callers first."""
    yield left, row, box
    for each in box.under.values():
        if each.bytes * scale >= LEAST_WIDE:
            yield from boxes(each, left, scale, row + 1)
        left += each.bytes * scale


def drawn(left: float, top: float, wide: float, box: Box, whole: int) -> str:
    """One box with its title, which a browser shows where the pointer is."""
    share = 100 * box.bytes / whole
    title = f"{box.name}: {box.bytes:,} bytes, {share:.2f} %"
    text = fitting(box.name, wide)
    label = f'<text x="{left + 3:.1f}" y="{top + 12.5:.1f}">{escape(text)}</text>' if text else ""
    return (f'<g><title>{escape(title)}</title><rect x="{left:.1f}" y="{top:.1f}" '
            f'width="{wide:.1f}" height="{ROW - 1}" fill="{colour(box.name)}"/>{label}</g>')


def flame(record: Record) -> str:
    """The whole file: callers stand below what they called."""
    root = tree(record)
    scale = (WIDTH - 2 * MARGIN) / (root.bytes or 1)
    placed = list(boxes(root, MARGIN, scale, 0))
    rows = 1 + max(row for _, row, _ in placed)
    height = TOP + rows * ROW + MARGIN
    parts = [drawn(left, height - MARGIN - (row + 1) * ROW, box.bytes * scale, box, root.bytes or 1)
             for left, row, box in placed]
    every = record.data["stacks"].get("sampled_every_bytes")
    how = f"sampled, one byte of {every:,}" if every else "each byte counted"
    heads = (f"Where bytes were copied, sent and received: {bytes_text(root.bytes)}",
             f"{how}; record {record.id}; a box is a call, as wide as its bytes")
    texts = [f'<text x="{MARGIN}" y="{24 + 18 * at}">{escape(line)}</text>'
             for at, line in enumerate(heads)]
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" class="flame" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}">', f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>', *texts, *parts, "</svg>"]) + "\n"
