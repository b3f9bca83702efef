# SPDX-License-Identifier: GPL-2.0
"""Writes the first screen and tables as Markdown: nothing in a text can become a mark."""
from __future__ import annotations

import re
from html import escape

from . import blocks

# What would begin a link, a table's cell, emphasis or HTML in the midst of a line.
MARKS = re.compile(r"([\\`*_\[\]<>|~])")


def plain(text: str) -> str:
    """A text whose characters mark nothing."""
    return MARKS.sub(r"\\\1", text)


def code(text: str, cell: bool) -> str:
    """Code, in as many ticks as it takes; a table's cell ends at a bar even there."""
    ticks = "`" * (1 + max((len(each) for each in re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    found = f"{ticks}{space}{text}{space}{ticks}"
    return found.replace("|", "\\|") if cell else found


def address(to: str) -> str:
    """The target of a link: one with spaces or brackets stands in angles."""
    return f"<{to}>" if re.search(r"[\s()]", to) else to


def piece(each: blocks.Piece, cell: bool) -> str:
    """One piece of a line."""
    if isinstance(each, blocks.Link):
        return f"[{plain(each.text)}]({address(each.to)})"
    if isinstance(each, blocks.Code):
        return code(each.text, cell)
    if isinstance(each, blocks.Word):
        return plain(each.text)
    return plain(each)


def text(line: blocks.Line, cell: bool = False) -> str:
    """A line; in a table's cell it must not end the cell."""
    return "".join(piece(each, cell) for each in line)


def table(of: blocks.Table) -> list[str]:
    """A table below its caption; a click on that unfolds a long one."""
    rule = ["---:" if number in of.numbers else "---" for number in range(len(of.head))]
    rows = [[text(each, cell=True) for each in row] for row in of.rows]
    lines = [f"| {' | '.join(row)} |" for row in (map(plain, of.head), rule, *rows)]
    if not of.folds:
        return [f"*{plain(of.caption)}*", "", *lines, ""]
    # GitHub reads Markdown in it from the first empty line on; the caption stands before that.
    return [f"<details><summary>{escape(of.caption)} ({len(rows)} rows)</summary>", "", *lines, "",
            "</details>", ""]


def block(of: blocks.Block) -> list[str]:
    """The lines of a block; an empty one follows. Other kinds stand on HTML pages alone."""
    match of:
        case blocks.Heading():
            return [f"{'#' * of.level} {plain(of.text)}", ""]
        case blocks.Paragraph():
            return [text(of.line), ""]
        case blocks.Bullets():
            mark = "1." if of.numbered else "-"
            return [*(f"{mark} {text(each)}" for each in of.lines), ""]
        case blocks.Table():
            return table(of)
    raise TypeError(type(of).__name__)


def page(of: blocks.Page) -> str:
    """A whole page."""
    lead = [text(of.lead), ""] if of.lead else []
    lines = [f"# {plain(of.title)}", "", *lead,
             *(each for part in of.parts for each in block(part))]
    return "<!-- SPDX-License-Identifier: GPL-2.0 -->\n" + \
        re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"
