# SPDX-License-Identifier: GPL-2.0
"""What axes of all figures have in common: numbers as text, ticks that keep apart, light rules."""
from __future__ import annotations

from matplotlib.axes import Axes

from .style import INK, SMALL


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
