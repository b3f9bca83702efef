# SPDX-License-Identifier: GPL-2.0
"""Draws how long the pages of a watched process's zero-copy sends were held: sends by time."""
from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from copyscope.drawing import INK, SMALL, Page, font, frame, number_text
from copyscope.pictures.groups import Group
from copyscope.records.run_record import Record
from copyscope.records.watch_record import Watched

from .draw_bars import fill, legend

# Inches.
LEFT, BELOW, HEIGHT, BUCKET, LEGEND = 0.95, 0.85, 2.4, 0.5, 2.8
BUCKETS_LEAST = 8
UNTIL = {"notified": "until the notification", "read": "until it was read"}
# Sends by the first time of each bucket, in nanoseconds.
Histogram = dict[int, int]


def found(records: Sequence[Record]) -> dict[str, Histogram]:
    """The times of one process, of all its records together; those of no send are left out."""
    times: dict[str, Histogram] = {}
    for record in records:
        holds = cast(Watched, record).holds or {}
        for until in UNTIL:
            for bucket in (holds.get(until) or {"buckets": []})["buckets"]:
                into = times.setdefault(until, {})
                into[bucket["from_ns"]] = into.get(bucket["from_ns"], 0) + bucket["sends"]
    return times


def title(label: str) -> str:
    """What the figure shows."""
    return f"How long pages of zero-copy sends of {label} were held"


def time_text(ns: int) -> str:
    """The first time of a bucket, which is a power of two: 1048576 is "1.05 ms"."""
    value = float(ns)
    for unit in ("ns", "us", "ms"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} s"


def between(times: dict[str, Histogram]) -> list[int]:
    """Every bucket from the shortest with a send to the longest, those between, too."""
    met = {ns for each in times.values() for ns in each}
    every = [0] + [1 << bit for bit in range(64)]
    return every[every.index(min(met)):every.index(max(met)) + 1]


def bars(axes: Axes, buckets: list[int], times: dict[str, Histogram]) -> None:
    """Bars of both ends of a hold side by side."""
    width = 0.84 / len(times)
    for look, each in enumerate(times.values()):
        at = (look - (len(times) - 1) / 2) * width
        for x, ns in enumerate(buckets):
            if ns in each:
                axes.bar(x + at, each[ns], width, **fill(look))


def notes(times: dict[str, Histogram], records: Sequence[Record]) -> list[str]:
    """How many were timed, and which cannot be."""
    said = [f"{UNTIL[until]}: {sum(each.values()):,} sends" for until, each in times.items()]
    rings = sum((cast(Watched, record).holds or {}).get("by_ring", 0) for record in records)
    return said + [f"{rings:,} of them by io_uring, whose reading is not measured"] * bool(rings)


def draw(group: Group, label: str, records: Sequence[Record]) -> Figure:
    """Sends over the time that their pages were held."""
    times = found(records)
    buckets = between(times)
    places = max(len(buckets), BUCKETS_LEAST)
    page = Page(max(LEFT + places * BUCKET + LEGEND, 7.0), BELOW + HEIGHT + 0.2, title(label),
                [*notes(times, records), group.provenance], group.where)
    axes = page.axes(LEFT, BELOW, places * BUCKET, HEIGHT)
    frame(axes)
    axes.grid(False, axis="x")
    axes.set_xlim(-0.5, places - 0.5)
    axes.set_xticks(range(len(buckets)))
    axes.set_xticklabels([time_text(ns) for ns in buckets], rotation=45, ha="right",
                         fontproperties=font(SMALL))
    axes.set_ylabel("Sends", fontproperties=font(SMALL + 0.5), color=INK)
    axes.set_xlabel("Time held: from this to below twice as long",
                    fontproperties=font(SMALL + 0.5), color=INK)
    axes.yaxis.set_major_formatter(FuncFormatter(number_text))
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    bars(axes, buckets, times)
    legend(page, [(UNTIL[until], look) for look, until in enumerate(times)],
           LEFT + places * BUCKET + 0.25)
    return page.figure
