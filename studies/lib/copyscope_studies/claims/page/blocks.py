# SPDX-License-Identifier: GPL-2.0
"""What a page is made of, whatever it is written as: headings, paragraphs, tables, pictures."""
from __future__ import annotations

import re
from dataclasses import dataclass, field

# A table with more rows folds away.
MOST_ROWS = 12


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
    """A list; one whose order matters is numbered."""

    lines: tuple[Line, ...]
    numbered: bool = False


@dataclass(frozen=True)
class Commands:
    """Lines to be typed."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table: its caption says what it is of. Columns in `numbers` are aligned to the right."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    numbers: frozenset[int] = frozenset()

    @property
    def folds(self) -> bool:
        """It is longer than what is read at a glance."""
        return len(self.rows) > MOST_ROWS


@dataclass(frozen=True)
class Facts:
    """Terms, and one or more lines of each."""

    rows: tuple[tuple[str, tuple[Line, ...]], ...]


@dataclass(frozen=True)
class Picture:
    """A picture in a file, which a click opens; `seen` says what is to be seen in it."""

    source: str
    title: str
    seen: str


@dataclass(frozen=True)
class Drawing:
    """A drawing as SVG, which says in words what it shows."""

    svg: str


@dataclass(frozen=True)
class Fold:
    """What is unfolded by a click on its summary."""

    summary: str
    parts: tuple[Block, ...]


@dataclass(frozen=True)
class Group:
    """Parts that stand together: `kind` says how; `label` names a part for navigation."""

    kind: str
    parts: tuple[Block, ...] = field(default=())
    label: str = ""


Block = Heading | Paragraph | Bullets | Commands | Table | Facts | Picture | Drawing | Fold | Group


@dataclass(frozen=True)
class Page:
    """One file of the page: its title is its first heading."""

    title: str
    parts: tuple[Block, ...]
    # What is told below the title.
    lead: Line = ()
    # Pictures and tables beside each other: it takes all of a screen's width.
    broad: bool = False


def line(*pieces: Piece) -> Line:
    """A line of pieces."""
    return pieces


def said(*pieces: Piece) -> Paragraph:
    """A paragraph of pieces."""
    return Paragraph(pieces)


def spelled(text: str) -> Line:
    """A text in which what is typed stands between backticks."""
    return tuple(Code(each) if number % 2 else each
                 for number, each in enumerate(re.split("`", text)) if each)


def joined(lines: list[Line], between: str = ", ") -> Line:
    """Lines one after another."""
    found: list[Piece] = []
    for number, each in enumerate(lines):
        found += [between] if number else []
        found += each
    return tuple(found)
