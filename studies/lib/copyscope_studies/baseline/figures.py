# SPDX-License-Identifier: GPL-2.0
"""Draws the figures of the published report from a baseline record, and two of our own."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from copyscope import drawing
from copyscope.files.output_folder import OutputFolder

from .records import PUBLISHED, Baseline

WIDTH, HEIGHT, LEFT, BELOW = 8.0, 4.2, 0.95, 0.6
MIB = 1 << 20


@dataclass(frozen=True)
class Series:
    """One line: points of (x, value, low, high)."""

    label: str
    points: tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True)
class Plan:
    """One figure: which curves it shows and how."""

    file: str
    title: str
    rows: tuple[tuple[str, str], ...]
    x: str
    y: str
    x_bytes: bool = True
    log_y: bool = True
    published: bool = False
    published_y: str = ""       # its own axis on the right, where the unit is another one
    note: str = ""


PLANS = (
    Plan("fig1-ram-latency", "Load latency by working set",
         (("latency-memory", "random cycle: each load waits for the last"),
          ("latency-array", "array in order: the prefetcher hides the levels")),
         "working set", "ns a load", published=True,
         note="The report has four regions and does not say of which working sets: they are drawn "
              "where each ends on its machine, with their deviations."),
    Plan("fig2-file-cache", "Reading a file again, backwards, by its size",
         (("file-cache", "second reading"),), "file size", "us for 64 KiB", published=True,
         published_y="ns of what, the report does not say",
         note="The report's unit cannot be right (see tools/baseline mistakes, cache-unit): its "
              "values have the axis on the right. Its cache was the memory of its machine, ours "
              "is that of a control group."),
    Plan("fig3-file-read", "Reading a block of 4 KiB of a local file by its size",
         (("read-sequential", "in order, readahead off"), ("read-random", "at random"),
          ("read-ahead", "in order, with readahead")), "file size", "us a block", published=True),
    Plan("fig4-remote-read", "Reading a block of 4 KiB of a remote file by its size",
         (("remote-sequential", "in order"), ("remote-random", "at random")), "file size",
         "ms a block", log_y=False, published=True),
    Plan("fig5-contention", "Reading a block while others read too",
         (("contention", "mean over the processes"),), "processes", "us a block", x_bytes=False,
         log_y=False, published=True),
    Plan("copy-bandwidth", "Copying memory by working set",
         (("memory-copy", "memcpy, bytes copied"),), "bytes copied at a time", "GB/s"),
)


def size_text(value: float, _position: int = 0) -> str:
    """4096 as 4K."""
    for unit, factor in (("G", 1 << 30), ("M", MIB), ("K", 1 << 10)):
        if value >= factor:
            return f"{value / factor:g}{unit}"
    return f"{value:g}"


def plain(value: float, _position: int = 0) -> str:
    """A tick's number without an exponent."""
    return f"{value:g}"


def measured_series(record: Baseline, plan: Plan) -> list[Series]:
    """The curves that the record has."""
    found = []
    for name, label in plan.rows:
        curve = record.rows.get(name, {}).get("curve")
        if curve:
            points = tuple((p["x"], p["value"], p["low"], p["high"]) for p in curve["points"]
                           if p["value"] is not None)
            found.append(Series(label, points))
    return found


def published_series(plan: Plan) -> list[Series]:
    """The report's own values of the same."""
    found = []
    for name, label in plan.rows:
        curve = PUBLISHED["curves"].get(name) if plan.published else None
        if curve:
            factor = MIB if plan.x_bytes else 1
            points = tuple((x * factor, y, y - sd, y + sd) for x, y, sd in zip(
                curve["x"], curve["y"], curve.get("sd", [0] * len(curve["x"]))))
            found.append(Series(f"published: {label}", points))
    return found


def machine_text(record: Baseline) -> str:
    """The machine in a line."""
    machine = record.data["machine"]
    return (f"{machine['cpu_model']}, {machine['cpus']} CPUs, kernel {machine['kernel']}, "
            f"{record.data['protocol']['mode']} protocol")


def notes_of(record: Baseline, plan: Plan) -> list[str]:
    """What to know: proof, how, warnings."""
    notes = [plan.note] if plan.note else []
    rows = [record.rows[name] for name, _ in plan.rows if name in record.rows]
    how = sorted({row["how"] for row in rows if row["how"]})
    notes += [f"How: {'; '.join(how)}."] if how and plan.file.startswith("fig4") else []
    unproved = [row["row"] for row in rows if row["status"] != "valid"]
    notes.append(f"Not proved by counters: {', '.join(unproved)}." if unproved else
                 "What was measured is proved by counters. Median and range of repeats.")
    return notes + record.data["warnings"][:2]


def draw_series(axes, series: list[Series], first: int) -> None:
    """Draw lines with their ranges."""
    for index, each in enumerate(series, first):
        marker, dashes = drawing.mark(index)
        xs, ys, lows, highs = (list(part) for part in zip(*each.points))
        axes.errorbar(xs, ys, [[y - low for y, low in zip(ys, lows)],
                               [high - y for y, high in zip(ys, highs)]],
                      marker=marker, linestyle=dashes, markersize=5, capsize=2, label=each.label,
                      color=drawing.COLOURS[index % len(drawing.COLOURS)], linewidth=1.3)


def levels_of(record: Baseline) -> list[tuple[float, str]]:
    """Where the curve shows that a level of the cache ends, and where the kernel says so."""
    caches = record.data["machine"]["caches"]
    found = [(level["to_bytes"], f"{key.upper()} ends") for key in ("l1", "l2", "l3")
             if (level := caches.get("found", {}).get(key))]
    told = [(caches[key], f"{key[:2].upper()}, as told") for key in ("l1d_bytes", "l2_bytes",
                                                                    "l3_bytes") if caches[key]]
    return found + [(size, text) for size, text in told if size not in dict(found)]


def mark_levels(axes, record: Baseline, plan: Plan) -> None:
    """Where caches end, or the memory that the test may use."""
    lines = []
    if plan.file in ("fig1-ram-latency", "copy-bandwidth"):
        lines = levels_of(record)
    elif plan.file == "fig2-file-cache" and record.value("file-cache"):
        lines = [(record.value("file-cache") * MIB, "largest without a disk read")]
    for x, text in lines:
        axes.axvline(x, color=drawing.GREY, linewidth=0.8, linestyle=(0, (2, 2)))
        axes.annotate(text, (x, 1), (-3, -4), xycoords=("data", "axes fraction"),
                      textcoords="offset points", rotation=90, ha="right", va="top",
                      color=drawing.GREY, fontproperties=drawing.font(drawing.SMALL))


def published_axes(axes, plan: Plan):
    """The axes of published values: one on the right if they have another unit."""
    if not plan.published_y:
        return axes
    right = axes.twinx()
    right.set_ylabel(plan.published_y, fontproperties=drawing.font(drawing.BODY))
    right.set_yscale("log")
    right.yaxis.set_major_formatter(FuncFormatter(plain))
    for label in right.get_yticklabels():
        label.set_fontproperties(drawing.font(drawing.SMALL))
    return right


def draw(record: Baseline, plan: Plan) -> Figure | None:
    """One figure; None if the record has nothing for it."""
    mine = measured_series(record, plan)
    if not mine:
        return None
    published = published_series(plan)
    legend = 0.25 * (len(mine) + len(published)) + 0.1
    page = drawing.Page(WIDTH, HEIGHT + legend, plan.title, notes_of(record, plan),
                        machine_text(record))
    axes = page.axes(LEFT, BELOW, WIDTH - LEFT - (0.9 if plan.published_y else 0.4),
                     HEIGHT - BELOW - 0.1)
    draw_series(axes, mine, 0)
    draw_series(published_axes(axes, plan), published, len(mine))
    if plan.x_bytes:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(FuncFormatter(size_text))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if plan.log_y:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(plain))
    else:
        axes.set_ylim(bottom=0)
    mark_levels(axes, record, plan)
    axes.set_xlabel(plan.x, fontproperties=drawing.font(drawing.BODY))
    axes.set_ylabel(plan.y, fontproperties=drawing.font(drawing.BODY))
    axes.grid(True, color="#dddddd", linewidth=0.6)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_fontproperties(drawing.font(drawing.SMALL))
    drawn = [handle for each in page.figure.axes for handle in each.get_legend_handles_labels()[0]]
    axes.legend(handles=drawn, loc="lower left", bbox_to_anchor=(0, 1.01), frameon=False,
                borderaxespad=0, prop=drawing.font(drawing.SMALL))
    return page.figure


def draw_rows(record: Baseline) -> Figure | None:
    """All rows: measured over predicted here, and published over measured."""
    rows = [row for row in record.rows.values()
            if row["measured"] and row["measured"]["value"] > 0 and row["estimate"]["prediction"]]
    if not rows:
        return None
    height = 0.21 * len(rows) + 1.3
    page = drawing.Page(WIDTH, height, "Predicted, measured and published, relative to measured",
                        ["1 is what was measured here; a rate is compared like a time, as its "
                         "number. The published machine was another one."], machine_text(record))
    axes = page.axes(1.9, 0.6, WIDTH - 2.3, height - 1.2)
    for y, row in enumerate(reversed(rows)):
        value = row["measured"]["value"]
        axes.plot([row["measured"]["low"] / value, row["measured"]["high"] / value], [y, y],
                  color=drawing.INK, linewidth=3, solid_capstyle="butt",
                  label="measured (interval)" if not y else None)
        axes.plot([row["estimate"]["prediction"] / value], [y], marker="o", linestyle="",
                  color=drawing.COLOURS[0], label="predicted" if not y else None)
        published = PUBLISHED["rows"].get(row["row"])
        if published and row["row"] != "file-cache":
            axes.plot([published[2] / value], [y], marker="s", linestyle="", fillstyle="none",
                      color=drawing.COLOURS[1], label="published" if y == len(rows) - 1 else None)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    axes.axvline(1, color=drawing.GREY, linewidth=0.8)
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.set_yticks(range(len(rows)), [row["row"] for row in reversed(rows)])
    axes.grid(True, axis="x", color="#dddddd", linewidth=0.6)
    axes.set_xlabel("relative to measured", fontproperties=drawing.font(drawing.BODY))
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_fontproperties(drawing.font(drawing.SMALL))
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.005), ncols=3, frameon=False,
                borderaxespad=0, prop=drawing.font(drawing.SMALL))
    return page.figure


LOOPS = (("memory-read", "ram-read-"), ("memory-write", "ram-write-"),
         ("memory-copy", "ram-copy-"))


def loops_of(record: Baseline) -> list[tuple[str, dict, float]]:
    """Memory loops that have a number, by kind, slowest first: name, numbers, share of the best."""
    found = []
    for plain, prefix in LOOPS:
        names = [name for name, row in record.rows.items() if row["measured"]
                 and (name == plain or name.startswith(prefix))]
        measured = {name: record.rows[name]["measured"] for name in names}
        best = max((each["value"] for each in measured.values()), default=0)
        found += [(name, measured[name], measured[name]["value"] / best)
                  for name in sorted(names, key=lambda name: measured[name]["value"])]
    return found


def draw_loops(record: Baseline) -> Figure | None:
    """Memory loops beside the plain rows: how much of the best known one each reaches."""
    loops = loops_of(record)
    if len(loops) <= len(LOOPS):
        return None
    height = 0.24 * len(loops) + 0.75
    page = drawing.Page(WIDTH, height, "Known memory loops, and what the plain rows reach of them",
                        ["Filled: the rows of the baseline. The share is of the best of its kind."],
                        machine_text(record))
    axes = page.axes(1.9, 0.6, WIDTH - 2.9, height - 0.75)
    for y, (name, measured, share) in enumerate(loops):
        kind = [plain.split("-")[1] for plain, _ in LOOPS].index(name.split("-")[1])
        axes.errorbar([measured["value"]], [y], xerr=[[measured["value"] - measured["low"]],
                                                      [measured["high"] - measured["value"]]],
                      marker="o", linestyle="", capsize=2, color=drawing.COLOURS[kind],
                      fillstyle="full" if name.startswith("memory-") else "none")
        axes.annotate(f"{share:.2f}", (1, y), (6, 0), xycoords=("axes fraction", "data"),
                      textcoords="offset points", va="center",
                      fontproperties=drawing.font(drawing.SMALL))
    axes.set_xlim(left=0)
    axes.set_ylim(-0.7, len(loops) - 0.3)
    axes.set_yticks(range(len(loops)), [name for name, _, _ in loops])
    axes.grid(True, axis="x", color="#dddddd", linewidth=0.6)
    axes.set_xlabel("GB/s, each byte counted once", fontproperties=drawing.font(drawing.BODY))
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_fontproperties(drawing.font(drawing.SMALL))
    return page.figure


def figures_of(record: Baseline) -> Iterator[tuple[str, Figure | None]]:
    """Each figure by the name of its file; None if the record has nothing for it."""
    for plan in PLANS:
        yield plan.file, draw(record, plan)
    yield "memory-loops", draw_loops(record)
    yield "rows", draw_rows(record)


def draw_all(record: Baseline, folder: Path) -> Iterator[Path]:
    """Draw and keep every figure that there is data for, one after the other: to draw takes long,
    and a folder or a file that may not be written to is refused before."""
    OutputFolder.at(folder).close()
    for name, figure in figures_of(record):
        if figure:
            yield from drawing.save(figure, folder / name)
