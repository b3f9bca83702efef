# SPDX-License-Identifier: GPL-2.0
"""Draws predicted against measured time, a panel for each variant, and what it is made of."""
from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from copyscope.common import spread
from copyscope.common.text import size_text
from copyscope.drawing import (
    BODY,
    COLOURS,
    GREY,
    INK,
    SMALL,
    Page,
    font,
    mark,
    number_text,
    text_width,
    thin,
)
from copyscope.model.terms import FITTED, TERMS

from .evaluate import Point, median_error

WIDTH, HEIGHT = 3.7, 2.6
LEFT, BELOW, ABOVE, EDGE = 0.95, 0.6, 0.5, 0.3
COLUMNS = 2
ROW = 0.27                  # of the legend


def set_axes(axes: Axes, sizes: list[int], title: str) -> None:
    """Both axes are logarithmic: what matters is the ratio."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(sizes[0] / 1.5, sizes[-1] * 1.5)
    span = len(sizes) - 1 or 1
    places = [index / span * WIDTH for index in range(len(sizes))]
    texts = [size_text(size) for size in sizes]
    kept = thin(places, [text_width(text, SMALL) for text in texts])
    axes.xaxis.set_major_locator(FixedLocator([sizes[index] for index in kept]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: size_text(round(x))))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: number_text(y)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.tick_params(labelsize=SMALL, colors=INK)
    axes.grid(True, color="#E4E4E4", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    fonts = font(SMALL + 0.5)
    axes.set_xlabel("message size [bytes, log scale]", fontproperties=fonts, color=INK)
    axes.set_ylabel("time a message [us, log scale]", fontproperties=fonts, color=INK)
    axes.set_title(title, fontproperties=font(BODY, True), color=GREY, loc="left", pad=6)


def draw_panel(axes: Axes, mine: list[Point], used: list[str], title: str) -> None:
    """One variant: measurements with error bars, the prediction, and its terms."""
    sizes = [each.size for each in mine]
    for name in used:
        shown = [(each.size, each.terms[name] / 1e3) for each in mine
                 if each.terms.get(name, 0) > 0]
        if shown:
            _, dashes = mark(used.index(name) + 1)
            axes.plot(*zip(*shown), color=COLOURS[used.index(name) + 1], linewidth=1.0,
                      linestyle=dashes)
    axes.plot(sizes, [each.predicted / 1e3 for each in mine], color=COLOURS[0], linewidth=2.0)
    middles = [each.measured.middle / 1e3 for each in mine]
    bars = [[(each.measured.middle - each.measured.low) / 1e3 for each in mine],
            [(each.measured.high - each.measured.middle) / 1e3 for each in mine]]
    axes.errorbar(sizes, middles, yerr=bars, fmt="o", markersize=4, color=INK, linewidth=1.0,
                  capsize=2)
    lowest = min(each.measured.low for each in mine) / 1e3
    set_axes(axes, sizes, title)
    axes.set_ylim(bottom=lowest / 30)


def legend(page: Page, used: list[str], x: float, top: float) -> None:
    """What each line is."""
    rows = len(used) + 2
    axes = page.axes(x, top - ROW * rows, 0.6, ROW * rows)
    axes.axis("off")
    axes.set(xlim=(0, 1), ylim=(rows, 0))
    axes.plot([0.5], [0.5], color=INK, marker="o", markersize=4)
    looks = [{"color": COLOURS[0], "linewidth": 2.0}]
    looks += [{"color": COLOURS[index + 1], "linewidth": 1.0, "linestyle": mark(index + 1)[1]}
              for index in range(len(used))]
    for row, look in enumerate(looks, 1):
        axes.add_line(Line2D([0, 1], [row + 0.5, row + 0.5], **look))
    for row, name in enumerate(["measured", "predicted, the sum of", *used]):
        page.text(x + 0.7, page.bottom + top - ROW * (row + 0.5), name, SMALL + 0.5, va="center")


def draw(found: list[Point], note: str) -> Figure:
    """One figure of all variants."""
    variants = list(dict.fromkeys(each.variant for each in found))
    used = [name for name in TERMS if any(each.terms.get(name, 0) > 0 for each in found)]
    rows = len(variants) // COLUMNS + 1     # one cell more than panels: the legend's
    cell = (LEFT + WIDTH + EDGE, ABOVE + HEIGHT + BELOW)
    words = ". ".join([
        spread.sentence({each.measured.n for each in found}).capitalize(),
        f"{FITTED} is fitted, nothing measured of the others is used to predict them",
        *(f"{name}: {TERMS[name]}" for name in used),
        "A term below zero is not drawn"])
    page = Page(COLUMNS * cell[0], rows * cell[1], "Time per message, predicted and measured",
                [words, note])
    cells = [(index % COLUMNS * cell[0] + LEFT, (rows - index // COLUMNS - 1) * cell[1] + BELOW)
             for index in range(len(variants) + 1)]
    for at, variant in zip(cells, variants):
        mine = [each for each in found if each.variant == variant]
        error = median_error(found, variant) or 0.0
        title = f"{variant}: fitted" if variant == FITTED else \
            f"{variant}: median error {error:.0%}"
        draw_panel(page.axes(*at, WIDTH, HEIGHT), mine, used, title)
    legend(page, used, cells[-1][0], cells[-1][1] + HEIGHT)
    return page.figure
