# SPDX-License-Identifier: GPL-2.0
"""Draws for each way and path how often each byte is copied: a row a way, a panel a path."""
from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from copyscope.common.tables import COPY_SITES, PATHS_OF_ONE_HOST, column
from copyscope.drawing import FILLS, GREY, HATCHES, INK, SMALL, Page, font, frame, save, text_width
from copyscope.records.copies import NOTHING
from copyscope_studies.ways import PLAIN, RECV, WAYS, Way

from . import answer

NAME = "ways"
# Inches.
ROW, BAR = 0.25, 0.74
PANEL, APART, EDGE = 2.1, 0.35, 0.3
BELOW, ABOVE, LEGEND, LEGEND_ROW, COLUMNS = 0.4, 0.3, 0.05, 0.24, 2
# A number has its place to the right of the longest bar, in copies of the axis.
ROOM = 1.28
MEANING = column("sites", "meaning")


def places(ways: tuple[Way, ...]) -> dict[Way, float]:
    """Where each way lies, from the top; a line apart from those of the other end."""
    found, at, end = {}, -1.0, ""
    for way in ways:
        at += 1.0 if way.end == end else 2.0
        found[way], end = at, way.end
    return found


def look(index: int) -> dict:
    """How the bytes of a site look."""
    return {"facecolor": FILLS[index % len(FILLS)], "hatch": HATCHES[index % len(HATCHES)],
            "edgecolor": INK, "linewidth": 0.6}


def bar(axes: Axes, y: float, cell: answer.Cell | None) -> None:
    """The copies of one way, by site, and their sum."""
    x = 0.0
    if cell and cell["ran"] == "yes":
        for index, value in enumerate(answer.copies(cell).values()):
            if value and value > NOTHING:
                axes.barh(y, value, BAR, left=x, **look(index))
                x += value
    axes.annotate(answer.copied(cell), (x, y), (3, 0), textcoords="offset points", va="center",
                  color=INK, fontproperties=font(SMALL))


def panel(axes: Axes, path: str, cells: dict[Way, answer.Cell | None], most: float) -> None:
    """All ways on one path."""
    at = places(WAYS)
    frame(axes)
    axes.grid(False, axis="y")
    axes.set(xlim=(0, most * ROOM), ylim=(max(at.values()) + 0.7, 0.0))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    axes.set_yticks([])
    axes.set_title(path, fontproperties=font(SMALL + 1.5, True), color=GREY, loc="left", pad=4)
    for way, cell in cells.items():
        bar(axes, at[way], cell)


def names(page: Page, x: float, top: float) -> None:
    """The name of each way, and a head for each end, beside the first panel."""
    at = places(WAYS)
    for end, words in answer.ENDS.items():
        mine = [way for way in WAYS if way.end == end]
        rows = [(words, at[mine[0]] - 1, True)] + [(way.name, at[way], False) for way in mine]
        for text, row, bold in rows:
            page.text(x, page.bottom + top - row * ROW, text, SMALL, bold=bold, ha="right",
                      va="center")


def legend(page: Page, shown: list[int]) -> None:
    """What each site is, below the panels."""
    sites = [COPY_SITES[index] for index in shown]
    page.figure.legend(
        [Patch(**look(index)) for index in shown], [f"{each}: {MEANING[each]}" for each in sites],
        loc="lower left", frameon=False, prop=font(SMALL), ncols=COLUMNS, borderaxespad=0,
        borderpad=0, handlelength=2.2, handleheight=1.3, labelspacing=0.6,
        bbox_to_anchor=(EDGE / page.width, page.bottom / page.height))


def draw(found: answer.Found, kernel: str) -> Figure:
    """The figure of one kernel."""
    cells = {path: {way: found.cell(kernel, way, path) for way in WAYS}
             for path in PATHS_OF_ONE_HOST}
    ran = [answer.copies(each) for mine in cells.values() for each in mine.values()
           if each and each["ran"] == "yes"]
    shown = [index for index, site in enumerate(COPY_SITES)
             if any((each[site] or 0) > NOTHING for each in ran)]
    most = max((sum(value or 0 for value in each.values()) for each in ran), default=1.0)
    left = EDGE + max(text_width(way.name, SMALL) for way in WAYS) + 0.25
    tall = (max(places(WAYS).values()) + 0.7) * ROW
    feet = BELOW + LEGEND + LEGEND_ROW * -(-len(shown) // COLUMNS)
    page = Page(left + len(cells) * (PANEL + APART), feet + tall + ABOVE,
                "How often a processor copies each byte of payload, by way and path",
                [f"Kernel {kernel}, in an emulated guest; counts are exact. {answer.ABSENT}: the "
                 "kernel or the path refuses it; ≥: a site of copies is not measured there.",
                 f"A sender is read by {RECV}, a receiver gets what {PLAIN} sends, "
                 "unless the table says otherwise. What TCP sent again counts, too; a cipher's "
                 "pass is no copy."],
                "copies a byte, at both ends and between them")
    for index, (path, mine) in enumerate(cells.items()):
        panel(page.axes(left + index * (PANEL + APART), feet, PANEL, tall), path, mine, most)
    names(page, left - 0.1, feet + tall)
    legend(page, shown)
    return page.figure


def write(found: answer.Found, folder: Path) -> None:
    """Write the figure beside the sheet."""
    save(draw(found, answer.chief(found)), folder / NAME)
