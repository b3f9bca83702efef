# SPDX-License-Identifier: GPL-2.0
"""Writes blocks as one HTML page that needs no network and no script. All text is escaped here."""
from __future__ import annotations

from html import escape

from . import blocks
from .style import STYLE

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#{main}">To the page</a>
"""
FOOT = "</main>\n</body>\n</html>\n"


def piece(each: blocks.Piece) -> str:
    """One piece of a line."""
    if isinstance(each, blocks.Link):
        return f'<a href="{escape(each.to)}">{escape(each.text)}</a>'
    if isinstance(each, blocks.Code):
        return f"<code>{escape(each.text)}</code>"
    if isinstance(each, blocks.Word):
        kind = escape(each.text.lower().replace(" ", "-"))
        return f'<span class="word {kind}">{escape(each.text)}</span>'
    return escape(each)


def text(line: blocks.Line) -> str:
    """A line."""
    return "".join(map(piece, line))


def table(of: blocks.Table) -> list[str]:
    """A table, in a box that scrolls by itself where the screen is narrow."""
    def classed(number: int) -> str:
        return ' class="number"' if number in of.numbers else ""

    found = ['<div class="wide" tabindex="0" role="region" '
             f'aria-label="{escape(of.caption)}"><table>',
             f"<caption>{escape(of.caption)}</caption>", "<thead><tr>"]
    found += [f'<th scope="col"{classed(number)}>{escape(each)}</th>'
              for number, each in enumerate(of.head)]
    found.append("</tr></thead>\n<tbody>")
    for row in of.rows:
        cells = [f"<td{classed(number)}>{text(each)}</td>" if number else
                 f'<th scope="row">{text(each)}</th>' for number, each in enumerate(row)]
        found.append(f"<tr>{''.join(cells)}</tr>")
    return [*found, "</tbody></table></div>"]


def picture(of: blocks.Picture) -> list[str]:
    """A picture with what is to be seen in it; it is loaded when it comes near the screen."""
    alt = escape(f"{of.title}. {of.seen}")
    return [f'<figure><a href="{escape(of.opens)}"><img src="{escape(of.inside or of.source)}" '
            f'alt="{alt}" loading="lazy"></a>',
            f"<figcaption><b>{escape(of.title)}</b> {escape(of.seen)}</figcaption></figure>"]


def block(of: blocks.Block) -> list[str]:
    """The lines of a block."""
    match of:
        case blocks.Heading():
            return [f'<h{of.level} id="{escape(of.anchor)}">{escape(of.text)}</h{of.level}>']
        case blocks.Paragraph():
            return [f"<p>{text(of.line)}</p>"]
        case blocks.Bullets():
            return ["<ul>", *(f"<li>{text(each)}</li>" for each in of.lines), "</ul>"]
        case blocks.Table():
            return table(of)
        case blocks.Facts():
            rows = [f"<dt>{escape(term)}</dt>" + "".join(f"<dd>{text(each)}</dd>" for each in lines)
                    for term, lines in of.rows]
            return ["<dl>", *rows, "</dl>"]
        case blocks.Picture():
            return picture(of)
        case blocks.Drawing():
            return [of.svg]
        case blocks.Group():
            tag = {"nav": "nav", "claim": "article"}.get(of.kind, "div")
            # Several parts for navigation would otherwise sound alike.
            label = ' aria-label="Contents"' if tag == "nav" else ""
            return [f'<{tag} class="{escape(of.kind)}"{label}>',
                    *(each for part in of.parts for each in block(part)), f"</{tag}>"]
    raise TypeError(type(of).__name__)


def page(title: str, parts: list[blocks.Block]) -> str:
    """A whole page; its first heading is where it begins."""
    main = next(each.anchor for each in parts if isinstance(each, blocks.Heading))
    lines = [each for part in parts for each in block(part)]
    return HEAD.format(title=escape(title), style=STYLE, main=escape(main)) + "<main>\n" + \
        "\n".join(lines) + "\n" + FOOT
