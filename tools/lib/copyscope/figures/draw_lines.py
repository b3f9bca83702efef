# SPDX-License-Identifier: GPL-2.0
"""Draws a line figure: error bars, axes, a legend beside them, and what is not measured."""
from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from copyscope.common import spread
from copyscope.drawing import (
    BODY,
    COLOURS,
    GREY,
    INK,
    SMALL,
    Page,
    font,
    frame,
    mark,
    number_text,
    text_width,
    thin,
    wrap,
)
from copyscope.pictures.groups import Group
from copyscope.records.passes import PROBED, PROBED_COUNTERS

from . import lines, metrics
from .lines import Panel, Series
from .metrics import METRICS, X_AXES
from .specs import Spec

# Inches. One panel is drawn larger than several.
ONE, MANY = (6.0, 3.8), (3.7, 2.5)
GUTTER_LEFT, GUTTER_BELOW, GUTTER_ABOVE, GAP, EDGE = 1.15, 0.65, 0.35, 0.25, 0.4
HANDLE = 0.6                # of a legend: long enough for a whole period of the dashes
ROWS = 22                   # of a legend before it takes a second column
SPAN = 20                   # largest over smallest value from which a linear axis hides some


def set_x(axes: Axes, spec: Spec, xs: list[int], width: float) -> None:
    """The values that were run are the ticks."""
    if not xs:
        axes.set_xticks([])
        return
    low, high = float(xs[0]), float(xs[-1])
    as_log = spec.log_x or high / low > 16
    if as_log:
        axes.set_xscale("log", base=2)
        stretch = (high / low) ** 0.06 if high > low else 2.0
        low, high = low / stretch, high * stretch
    else:
        stretch = (high - low) * 0.08 or 0.5
        low, high = low - stretch, high + stretch
    axes.set_xlim(low, high)
    move = math.log if as_log else float
    places = [(move(x) - move(low)) / (move(high) - move(low)) * width for x in xs]
    texts = [lines.size_text(x) if spec.x == "size" else str(x) for x in xs]
    kept = thin(places, [text_width(text, SMALL) for text in texts])
    axes.xaxis.set_major_locator(FixedLocator([xs[index] for index in kept]))
    axes.xaxis.set_minor_locator(NullLocator())
    named = {xs[index]: texts[index] for index in kept}
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: named.get(round(x), "")))


def wants_log(spec: Spec, points: list[spread.Spread]) -> bool:
    """Asked for; or, if nothing was, over sizes of which the small ones would lie on the axis."""
    middles = [point.middle for point in points]
    return spec.log_y or not spec.scale and spec.x == "size" and \
        max(middles) > SPAN * min(middles) > 0


def set_y(axes: Axes, spec: Spec, points: list[spread.Spread]) -> bool:
    """From 0, or log if that is wanted and nothing is 0. Returns whether it is log."""
    as_log = wants_log(spec, points) and all(point.low > 0 for point in points)
    axes.yaxis.set_major_formatter(FuncFormatter(number_text))
    if as_log:
        low, high = min(point.low for point in points), max(point.high for point in points)
        axes.set_yscale("log")
        axes.set_ylim(low / 1.3 if high > low * 3 else low / 2, high * (1.3 if high > low * 3
                                                                      else 2))
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if high > low * 20 else (1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(number_text))
    else:
        top = max(point.high for point in points)
        axes.set_ylim(0, top * 1.08 if top else 1)
        axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    return as_log


def say_missing(axes: Axes, panel: Panel, size: tuple[float, float]) -> None:
    """Write into empty axes why nothing was measured."""
    axes.set_yticks([])
    axes.grid(False)
    reasons = panel.reasons or ["no run of this kind is among the records"]
    text = [line for reason in reasons[:3]
            for line in wrap(reason if panel.published else f"not measured: {reason}", BODY,
                             size[0] * 0.9)]
    axes.text(0.5, 0.5, "\n".join(text[:8]).replace("$", r"\$"), transform=axes.transAxes,
              ha="center", va="center", color=INK, fontproperties=font(BODY))


def here_first(all_panels: list[Panel]) -> list[Panel]:
    """Published lines may lack some of ours: these set the order."""
    return sorted(all_panels, key=lambda panel: panel.published)


class Marks:
    """One look for each series: the same in all panels and figures of a group."""

    def __init__(self, group: Group, all_panels: list[Panel], spec: Spec) -> None:
        keys = list(dict.fromkeys(each.key for panel in here_first(all_panels)
                                  for each in panel.series))
        labels = lines.label_rank(group.records)
        self.looks: dict[tuple, dict] = {}
        for index, key in enumerate(keys):
            rank = labels.get(key[0], index) if isinstance(key[0], str) else index
            # Without other keys an implementation keeps its look from figure to figure.
            marker, dashes = mark(rank if spec.series in (("label",), ("variant",)) else index)
            self.looks[key] = {"color": COLOURS[rank % len(COLOURS)], "marker": marker,
                               "linestyle": dashes}
        # Sideways, so that error bars at one x do not hide each other; a tick is farther away.
        step = min(0.06, 0.4 / len(keys)) if keys else 0.0
        self.shift = {key: step * (index - (len(keys) - 1) / 2) for index, key in enumerate(keys)}

    def draw(self, axes: Axes, series: Series) -> None:
        """One line with its error bars."""
        # A line is broken where a point is missing: it must not pass for one.
        hole = spread.Spread(math.nan, math.nan, math.nan, 0)
        points = {x: series.points.get(x, hole) for x in sorted({*series.points, *series.missing})}
        middle = [point.middle for point in points.values()]
        bars = [[point.middle - point.low for point in points.values()],
                [point.high - point.middle for point in points.values()]]
        repeated = any(point.n > 1 for point in points.values())
        inches = self.shift[series.key]
        moved = axes.transData + ScaledTranslation(inches, 0, axes.figure.dpi_scale_trans)
        axes.errorbar(list(points), middle, yerr=bars if repeated else None, capsize=2.5,
                      elinewidth=1, linewidth=1.5, markersize=5.5, markeredgecolor="white",
                      markeredgewidth=0.6, label=series.name, transform=moved,
                      **self.looks[series.key])


def legend(page: Page, marks: Marks, shown: list[Series], x: float, top: float) -> None:
    """Beside the axes, so that it can never hide a point."""
    if not shown:
        return
    columns = math.ceil(len(shown) / ROWS)
    handles = [Line2D([], [], linewidth=1.5, markersize=6, markeredgecolor="white",
                      markeredgewidth=0.6, **marks.looks[each.key]) for each in shown]
    page.figure.legend(handles, [each.name.replace("$", r"\$") for each in shown], ncol=columns,
                       loc="upper left", bbox_to_anchor=(x / page.width,
                                                         (page.bottom + top) / page.height),
                       frameon=False, prop=font(SMALL), borderaxespad=0, borderpad=0,
                       columnspacing=1.0, handletextpad=0.6, labelspacing=0.5,
                       handlelength=HANDLE * 72 / SMALL)


def legend_size(shown: list[Series]) -> tuple[float, float]:
    """Inches that the legend takes."""
    if not shown:
        return 0.0, 0.0
    columns = math.ceil(len(shown) / ROWS)
    widest = max(text_width(each.name, SMALL) for each in shown)
    rows = math.ceil(len(shown) / columns)
    return columns * (widest + HANDLE + 0.25) + 0.25, rows * SMALL * 1.75 / 72


def missing_notes(all_panels: list[Panel]) -> list[str]:
    """Name the series that lack points, by reason, of panels that show others."""
    by_reason: dict[str, dict[str, None]] = {}
    for panel in all_panels:
        if panel.published or not any(series.points for series in panel.series):
            continue
        for series in panel.series:
            for why in series.missing.values():
                where = f"{series.name} ({panel.title})" if panel.title else series.name
                by_reason.setdefault(why, {})[where] = None
    return [f"not measured: {'; '.join(list(who)[:lines.NAMES])}"
            f"{f' and {len(who) - lines.NAMES} more' if len(who) > lines.NAMES else ''}: {why}"
            for why, who in by_reason.items()]


def time_notes(group: Group, spec: Spec) -> list[str]:
    """What the times of these runs are of."""
    latency = spec.y.startswith("latency")
    found = [PROBED if group.probed else "Timed without probes"]
    found += list(dict.fromkeys(note for record in group.records
                               for note in metrics.notes_on_settings(record, latency)))
    latencies = {record.latency_what for record in group.records if record.latency_what}
    if latency and latencies and not any("never" in note for note in found):
        found.append(f"Latency is: {'; '.join(sorted(latencies))}")
    return found


def published_note(spec: Spec, all_panels: list[Panel]) -> str:
    """What the published numbers are."""
    said = "Published: what the report prints or its CSV has, of its authors' machine"
    if spec.mean_over:
        said += f"; it does not say of which {spec.mean_over}, nor that it is a mean"
    if any(panel.published and panel.y == "cycles_per_byte" for panel in all_panels):
        said += "; its cycles over the bytes that its throughput moves in its seconds"
    return said


def notes(group: Group, spec: Spec, all_panels: list[Panel]) -> list[str]:
    """What stands below the axes."""
    counts = {n for panel in all_panels for n in panel.counts}
    found = [spread.sentence(counts).capitalize()] if counts else []
    metric = METRICS[spec.y]
    if metric.of_one_end:
        ends = "sender and receiver together" if spec.end == "both" else f"the {spec.end} alone"
        found.append(f"Counted at {ends}")
        found += [PROBED_COUNTERS] * (group.probed and bool(counts))
    if metric.relative and counts:
        found.append("Error bars leave out the spread of the lowest setting")
        found += lines.notes(group.records, all_panels, spec)
    if spec.mean_over and counts:
        values = sorted({lines.key_of(each, spec.mean_over)
                         for each in lines.picked(group.records, spec)})
        found.append(f"Each repeat is the mean over {spec.mean_over.removesuffix('s')}s "
                     f"{', '.join(map(str, values))}")
    if metric.count and counts and not spec.mean_over:
        found.append("Of two counts in the middle the lower is shown")
    if len({each.key for panel in all_panels for each in panel.series if each.points}) > 1:
        found.append("Series stand a little apart sideways to be told apart")
    if spec.panels:
        values = len({lines.key_of(each, spec.panels)
                      for each in lines.picked(group.records, spec)})
        if values > lines.MOST_PANELS:
            found.append(f"{lines.MOST_PANELS} of {values} panels are shown: name others by a "
                         "profile's where")
    if metric.timed and counts:
        found += time_notes(group, spec)
    found = lines.model_notes(group.records, spec) + found
    if spec.y == "pinned_pages":
        found += lines.pin_notes(lines.picked(group.records, spec))
    used = (spec.x, *spec.series, spec.panels, *spec.where)
    found += lines.setting_notes(lines.picked(group.records, spec), used)
    if any(panel.published for panel in all_panels):
        found.append(published_note(spec, all_panels))
    found += missing_notes(all_panels)
    if lacks := lines.lacking(group.records, spec):
        found.append(f"Not run: {lacks}")
    if group.emulated:
        found.append("Made in an emulated guest: counts are exact, times mean nothing")
    return [". ".join(found), group.provenance] if found else [group.provenance]


def columns_of(all_panels: list[Panel]) -> int:
    """Beside each other: what was published and what was measured, else as many as fit a page."""
    if any(panel.published for panel in all_panels):
        return 2
    return 1 if len(all_panels) == 1 else 2 if len(all_panels) <= 4 else 3


def draw(group: Group, spec: Spec, all_panels: list[Panel] | None = None) -> Figure:
    """One figure of one group of records; of panels that were made of them already, if given."""
    if all_panels is None:
        spec = lines.drawn_instead(group.records, spec)
        all_panels = lines.panels(group.records, spec)
    if not spec.beside and not any(panel.counts for panel in all_panels):
        # Nothing to compare: say why once.
        all_panels = [Panel("", [series for panel in all_panels for series in panel.series],
                            spec.y)]
    all_panels = lines.beside_published(all_panels)
    columns = columns_of(all_panels)
    size = ONE if len(all_panels) == 1 else MANY
    rows = math.ceil(len(all_panels) / columns)
    seen = {each.key: each for panel in here_first(all_panels) for each in panel.series
            if each.points}
    shown = list(seen.values())
    beside, tall = legend_size(shown)
    cell = (GUTTER_LEFT + size[0] + GAP, GUTTER_ABOVE + size[1] + GUTTER_BELOW)
    body = max(rows * cell[1], tall + GUTTER_ABOVE)
    page = Page(columns * cell[0] + max(beside, EDGE), body, spec.title,
                notes(group, spec, all_panels), group.where)
    marks = Marks(group, all_panels, spec)
    for index, panel in enumerate(all_panels):
        column, row = index % columns, index // columns
        axes = page.axes(column * cell[0] + GUTTER_LEFT,
                         body - (row + 1) * cell[1] + GUTTER_BELOW, *size)
        draw_panel(axes, panel, spec, size, marks, shared(all_panels, panel, spec))
    legend(page, marks, shown, columns * cell[0], body - GUTTER_ABOVE)
    return page.figure


def shared(all_panels: list[Panel], panel: Panel, spec: Spec) -> list[spread.Spread]:
    """The points that the y axis of a panel has room for: its own; beside published ones those of
    all panels of its machine, and of both machines on a log axis."""
    def points(chosen: list[Panel]) -> list[spread.Spread]:
        return [point for each in chosen for series in each.series
                for point in series.points.values()]
    if not any(each.published for each in all_panels):
        return points([panel])
    alike = [each for each in all_panels if each.y == panel.y]
    if all(points([each]) for each in alike) and wants_log(spec, points(alike)):
        return points(alike)
    return points([each for each in alike if each.published == panel.published])


def draw_panel(axes: Axes, panel: Panel, spec: Spec, size: tuple[float, float],
               marks: Marks, scale: list[spread.Spread]) -> None:
    """One set of axes with all its series, as high as its scale needs."""
    frame(axes)
    for series in panel.series:
        if series.points:
            marks.draw(axes, series)
    points = [point for series in panel.series for point in series.points.values()]
    xs = sorted({x for series in panel.series
                 for x in (*series.points, *series.missing, *series.published)})
    set_x(axes, spec, xs, size[0])
    as_log = bool(points) and set_y(axes, spec, scale)
    name, unit = X_AXES[spec.x]
    metric = METRICS[panel.y]
    unit_y = f"[{metric.unit}{', log scale' if as_log else ''}]"
    label = f"{metric.label} {unit_y}"
    if text_width(label, SMALL + 0.5) > size[1]:
        label = "\n".join([*wrap(metric.label, SMALL + 0.5, size[1]), unit_y])
    fonts = font(SMALL + 0.5)
    axes.set_xlabel(f"{name} [{unit}]", fontproperties=fonts, color=INK)
    axes.set_ylabel(label, fontproperties=fonts, color=INK)
    if panel.title:
        axes.set_title(panel.title, fontproperties=font(BODY, True), color=GREY, loc="left", pad=6)
    if not points:
        say_missing(axes, panel, size)
