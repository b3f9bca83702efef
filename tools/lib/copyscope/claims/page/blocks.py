# SPDX-License-Identifier: GPL-2.0
"""What a page is made of, whatever it is written as: headings, paragraphs, tables, pictures."""
from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Link:
    """Words that lead to a place: of this page (#claim), or a file beside it."""

    text: str
    to: str


@dataclass(frozen=True)
class Code:
    """Words that are typed, or that a predicate is made of."""

    text: str


@dataclass(frozen=True)
class Word:
    """A verdict."""

    text: str


Piece = str | Link | Code | Word
Line = tuple[Piece, ...]


@dataclass(frozen=True)
class Heading:
    """A heading; links lead to its anchor."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True)
class Paragraph:
    """Some sentences."""

    line: Line


@dataclass(frozen=True)
class Bullets:
    """A list."""

    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Table:
    """A table: its caption says what it is of. Columns in `numbers` are aligned to the right."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    numbers: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Facts:
    """Terms, and one or more lines of each."""

    rows: tuple[tuple[str, tuple[Line, ...]], ...]


@dataclass(frozen=True)
class Picture:
    """A picture in a file, which a click opens; `seen` says what is to be seen in it."""

    source: str
    opens: str
    title: str
    seen: str
    # As a data URI, where it is small enough to lie in the page.
    inside: str = ""


@dataclass(frozen=True)
class Drawing:
    """A drawing as SVG, for HTML alone: a table beside it has its numbers."""

    svg: str


@dataclass(frozen=True)
class Group:
    """Parts that stand together: `kind` says how."""

    kind: str
    parts: tuple[Block, ...] = field(default=())


Block = Heading | Paragraph | Bullets | Table | Facts | Picture | Drawing | Group


def line(*pieces: Piece) -> Line:
    """A line of pieces."""
    return pieces


def said(*pieces: Piece) -> Paragraph:
    """A paragraph of pieces."""
    return Paragraph(pieces)


def joined(lines: list[Line], between: str = ", ") -> Line:
    """Lines one after another."""
    found: list[Piece] = []
    for number, each in enumerate(lines):
        found += [between] if number else []
        found += each
    return tuple(found)
