# SPDX-License-Identifier: GPL-2.0
"""Draws how large the calls of a watched process were: calls and bytes by powers of two, by way."""
from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from copyscope.common.text import bytes_text
from copyscope.drawing import INK, SMALL, Page, font, frame, number_text
from copyscope.pictures.groups import Group
from copyscope.records.run_record import Record
from copyscope.records.watch_record import Watched

from .draw_bars import fill, legend

# Inches.
LEFT, BELOW, HEIGHT, BETWEEN = 0.95, 0.75, 1.9, 0.25
BUCKET, LEGEND = 0.5, 2.4
BUCKETS_LEAST = 8
KIB = 1024

Way = tuple[str, str]
# Calls and bytes by the first size of each bucket.
Histogram = dict[int, tuple[int, int]]


def found(records: Sequence[Record]) -> dict[Way, Histogram]:
    """The histograms of one process, of all its records together."""
    ways: dict[Way, Histogram] = {}
    for record in records:
        for each in cast(Watched, record).call_sizes:
            into = ways.setdefault((each["direction"], each["way"]), {})
            for bucket in each["buckets"]:
                calls, moved = into.get(bucket["from_bytes"], (0, 0))
                into[bucket["from_bytes"]] = (calls + bucket["calls"], moved + bucket["bytes"])
    return ways


def title(label: str) -> str:
    """What the figure shows."""
    return f"How much each call of {label} moved"


def sizes_between(ways: dict[Way, Histogram]) -> list[int]:
    """Every bucket from the smallest with a call to the largest, those between without one, too."""
    met = {size for each in ways.values() for size in each}
    every = [0] + [1 << bit for bit in range(31)]
    return every[every.index(min(met)):every.index(max(met)) + 1]


def size_text(size: int) -> str:
    """The first size of a bucket: 4096 is "4 KiB"."""
    for unit in ("B", "KiB", "MiB"):
        if size < KIB:
            return f"{size} {unit}"
        size //= KIB
    return f"{size} GiB"


def axes_of(page: Page, bottom: float, sizes: list[int], ylabel: str, in_bytes: bool) -> Axes:
    """One of the two; a place for each bucket."""
    width = max(len(sizes), BUCKETS_LEAST) * BUCKET
    axes = page.axes(LEFT, bottom, width, HEIGHT)
    frame(axes)
    axes.grid(False, axis="x")
    axes.set_xlim(-0.5, max(len(sizes), BUCKETS_LEAST) - 0.5)
    axes.set_xticks(range(len(sizes)))
    axes.set_ylabel(ylabel, fontproperties=font(SMALL + 0.5), color=INK)
    axes.yaxis.set_major_formatter(FuncFormatter(
        (lambda value, _: bytes_text(round(value))) if in_bytes else number_text))
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    return axes


def bars(axes: Axes, sizes: list[int], ways: dict[Way, Histogram], part: int) -> None:
    """Bars of all ways side by side: of calls (0) or of bytes (1)."""
    width = 0.84 / len(ways)
    for look, each in enumerate(ways.values()):
        at = (look - (len(ways) - 1) / 2) * width
        for x, size in enumerate(sizes):
            if size in each:
                axes.bar(x + at, each[size][part], width, **fill(look))


def draw(group: Group, label: str, records: Sequence[Record]) -> Figure:
    """Calls above, bytes below, over the size of a call."""
    ways = found(records)
    sizes = sizes_between(ways)
    width = LEFT + max(len(sizes), BUCKETS_LEAST) * BUCKET + LEGEND
    notes = [f"{way} {direction}: {sum(calls for calls, _ in each.values()):,} calls, "
             f"{sum(moved for _, moved in each.values()):,} bytes"
             for (direction, way), each in ways.items()]
    page = Page(max(width, 7.0), BELOW + 2 * HEIGHT + BETWEEN + 0.2, title(label),
                [*notes, group.provenance], group.where)
    calls = axes_of(page, BELOW + HEIGHT + BETWEEN, sizes, "Calls", False)
    moved = axes_of(page, BELOW, sizes, "Bytes", True)
    bars(calls, sizes, ways, 0)
    bars(moved, sizes, ways, 1)
    calls.set_xticklabels([])
    moved.set_xticklabels([size_text(size) for size in sizes], rotation=45, ha="right",
                          fontproperties=font(SMALL))
    moved.set_xlabel("Bytes of a call: from this to below twice as many",
                     fontproperties=font(SMALL + 0.5), color=INK)
    legend(page, [(f"{way} {direction}", look) for look, (direction, way) in enumerate(ways)],
           LEFT + max(len(sizes), BUCKETS_LEAST) * BUCKET + 0.25)
    return page.figure
