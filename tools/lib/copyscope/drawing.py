# SPDX-License-Identifier: GPL-2.0
"""Pages, axes and looks of all figures."""
from __future__ import annotations

import functools
import io
import re
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from copyscope.files.output_folder import OutputFolder

FONT = "DejaVu Sans"        # comes with matplotlib: the same widths everywhere
# Text of an SVG stays text, for who searches or hears it, and a tenth as large as outlines of its
# letters. Where FONT is missing, Verdana has the same widths.
SVG = {"svg.fonttype": "none", "font.sans-serif": [FONT, "Verdana"]}
TITLE, BODY, SMALL = 13.0, 10.0, 8.5
POINTS_PER_INCH = 72
LINE = 1.35                 # height of a line of text, in its size
INK, GREY = "#202020", "#555555"
DPI = 110
MARGIN = 0.25

# Okabe and Ito's colours without yellow, which is lost on white; each with its own grey, but no
# figure relies on that: marker and dashes differ too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#56B4E9", "#E69F00", "#7F7F7F",
           "#5D3A9B")
MARKERS = ("o", "s", "^", "D", "v", "X", "P", "<", ">", "*", "h", "p", "d", "8")
DASHES = ((), (6, 2), (2, 2), (7, 2, 2, 2), (10, 3), (4, 2, 1, 2, 1, 2), (1, 1.5), (12, 2, 3, 2),
          (5, 1), (8, 4, 2, 4), (3, 1, 3, 4), (14, 2, 1, 2), (2, 5), (9, 2, 2, 2, 2, 2))
# Fills of bars are light, so that hatches and numbers on them can be read: the hatch tells them
# apart in grey. Dots come late: a hatch of them is 150 kB of an SVG.
FILLS = ("#F4C7A1", "#9CC9E8", "#E88F78", "#BFBFBF", "#A8D5BA", "#D9C3E0", "#F7E3A1", "#C9D6A3",
         "#FFFFFF")
HATCHES = ("", "///", "--", "\\\\\\", "xxx", "++", "||", "...", "oo")

Dashing = tuple[float, tuple[float, ...]] | str


def mark(index: int) -> tuple[str, Dashing]:
    """Marker and dashes of a series; no two alike among the first 14 times 14."""
    marker, turn = index % len(MARKERS), index // len(MARKERS)
    dashes = DASHES[(marker + turn) % len(DASHES)]
    return MARKERS[marker], (0, dashes) if dashes else "-"


@functools.cache
def font(size: float, bold: bool = False) -> FontProperties:
    """The font of all figures."""
    return FontProperties(family=[FONT, "sans-serif"], size=size,
                          weight="bold" if bold else "normal")


@functools.lru_cache(maxsize=4096)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """Inches that a line of text takes."""
    if not text:
        return 0.0
    width, _, _ = TextToPath().get_text_width_height_descent(text, font(size, bold), False)
    return width / POINTS_PER_INCH


def wrap(text: str, size: float, width: float, bold: bool = False) -> list[str]:
    """Break text into lines no wider than `width` inches; a word longer than that is cut."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        while text_width(word, size, bold) > width:
            fit = next(n for n in range(len(word) - 1, 0, -1)
                       if n == 1 or text_width(word[:n], size, bold) <= width)
            lines += [line] if line else []
            lines, line, word = lines + [word[:fit]], "", word[fit:]
        longer = f"{line} {word}" if line else word
        if text_width(longer, size, bold) > width:
            lines, line = lines + [line], word
        else:
            line = longer
    return lines + [line] if line else lines


def height_of(lines: int, size: float) -> float:
    """Inches that lines of text take."""
    return lines * size * LINE / POINTS_PER_INCH


class Page:
    """A figure with a title on top and notes below; `body` inches between them are free."""

    def __init__(self, width: float, body: float, title: str, notes: list[str],
                 subtitle: str = "") -> None:
        room = width - 2 * MARGIN
        heads = wrap(title, TITLE, room, bold=True)
        subs = wrap(subtitle, BODY, room)
        feet = [line for note in notes for line in wrap(note, SMALL, room)]
        top = height_of(len(heads), TITLE) + height_of(len(subs), BODY) + 0.1
        self.bottom = height_of(len(feet), SMALL) + MARGIN + 0.1
        self.width, self.body = width, body
        self.height = MARGIN + top + body + self.bottom
        self.figure = Figure(figsize=(width, self.height), dpi=DPI, facecolor="white")
        FigureCanvasAgg(self.figure)
        y = self.height - MARGIN
        for lines, size, colour, bold in ((heads, TITLE, INK, True), (subs, BODY, GREY, False)):
            for line in lines:
                self.text(MARGIN, y, line, size, colour=colour, bold=bold)
                y -= height_of(1, size)
        y = self.bottom - 0.1
        for line in feet:
            self.text(MARGIN, y, line, SMALL, colour=GREY)
            y -= height_of(1, SMALL)

    def text(self, x: float, y: float, text: str, size: float, *, colour: str = INK,
             bold: bool = False, ha: str = "left", va: str = "top") -> None:
        """Put text at inches from the lower left corner of the page."""
        # A dollar would begin a formula.
        self.figure.text(x / self.width, y / self.height, text.replace("$", r"\$"), color=colour,
                         ha=ha, va=va, fontproperties=font(size, bold))

    def axes(self, x: float, y: float, width: float, height: float):
        """Axes at inches from the lower left corner of the body."""
        return self.figure.add_axes((x / self.width, (y + self.bottom) / self.height,
                                     width / self.width, height / self.height))


def is_picture(data: bytes) -> bool:
    """Tell a figure that Matplotlib wrote from any other file."""
    return data.startswith((b"<?xml", b"\x89PNG")) and b"Matplotlib" in data


def compact(svg: bytes) -> bytes:
    """The same drawing an eighth smaller: without indentation, nor turns by no angle."""
    return re.sub(rb' transform="rotate\(-0 [0-9.]+ [0-9.]+\)"', b"",
                  re.sub(rb"\n +<", b"\n<", svg))


def drawn(figure: Figure, name: str, kind: str = "svg") -> bytes:
    """An SVG or PNG of it. The same records give the same bytes."""
    made = io.BytesIO()
    with matplotlib.rc_context({**SVG, "svg.hashsalt": name}):
        figure.savefig(made, format=kind, dpi=DPI,
                       metadata={"Date": None} if kind == "svg" else None)
    return compact(made.getvalue()) if kind == "svg" else made.getvalue()


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write SVG and PNG; a full disk leaves old files."""
    files = []
    with OutputFolder.at(stem.parent, make=False) as folder:
        for kind in ("svg", "png"):
            data, name = drawn(figure, stem.name, kind), f"{stem.name}.{kind}"
            if folder.file(name) and not is_picture(folder.read(name)):
                raise folder.refuse(name, "is not a figure that these tools drew")
            folder.write(name, data)
            files.append(stem.with_name(name))
    return files


def number_text(value: float, _: int = 0) -> str:
    """A number of at most five letters on an axis."""
    if value == 0:
        return "0"
    for factor, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor * (10 if letter == "k" else 1):
            return f"{value / factor:.4g}{letter}"
    return f"{value:.4g}" if abs(value) >= 1e-3 else f"{value:.1e}"


def thin(positions: list[float], widths: list[float], gap: float = 0.08) -> list[int]:
    """Which ticks to label so that labels keep apart: the last, and then what fits."""
    kept: list[int] = []
    for index in reversed(range(len(positions))):
        if not kept or (positions[index] + widths[index] / 2 + gap
                        < positions[kept[-1]] - widths[kept[-1]] / 2):
            kept.append(index)
    return kept[::-1]


def frame(axes: Axes) -> None:
    """Light rules and small type."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL, colors=INK)
