# SPDX-License-Identifier: GPL-2.0
"""Draws bars by variant: bytes copied per payload byte by site, and pages pinned per message."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from copyscope import drawing
from copyscope.common.spread import Spread, sentence, spread
from copyscope.common.tables import COPY_SITES, column, named
from copyscope.common.text import bytes_text
from copyscope.drawing import (
    FILLS,
    HATCHES,
    INK,
    SMALL,
    Page,
    font,
    frame,
    number_text,
    text_width,
    wrap,
)
from copyscope.pictures.groups import Group, replies
from copyscope.records import copies
from copyscope.records.run_record import Record

from . import lines
from .metrics import BOTH, METRICS, value_of

# Inches.
LEFT, BELOW, HEIGHT = 0.95, 0.3, 3.6
COLUMN, BAR = 1.15, 0.62
PINS_BAR = 0.42
MOST_SIZES = 6              # bars of one variant
MOST_COLUMNS = 15
MOST_LINES = 6              # of the name of a column
LEGEND, HANDLE = 2.3, 0.75  # of sites: their text, and what stands before it
MEANING = column("sites", "meaning")
APART = 0.05                # bytes per payload byte by which a size must differ from all together


def by_label(group: Group) -> dict[str, list[Record]]:
    """Records by implementation, in the order of all figures."""
    ranks = lines.label_rank(group.records)
    if group.watched:
        ranks = {record.label: -(record.payload_bytes or 0) for record in group.records}
    found: dict[str, list[Record]] = {label: [] for label in sorted(ranks, key=ranks.__getitem__)}
    for record in group.records:
        found[record.label].append(record)
    return found


def in_words(labelled: dict[str, list[Record]]) -> dict[str, list[Record]]:
    """The same with the call beside each label."""
    return {named(label, mine[0].variant): mine for label, mine in labelled.items()}


def by_size(records: list[Record]) -> dict[int, list[Record]]:
    """Records by the size of a message, the smallest first."""
    found: dict[int, list[Record]] = {}
    for record in sorted(records, key=lambda each: each.size):
        found.setdefault(record.size, []).append(record)
    return found


def pooling_hides(records: list[Record]) -> bool:
    """A site took another share of some size than of all sizes together."""
    sums = copies.amounts(replies(records))
    return any(abs((each[site].value or 0) - (sums[site].value or 0)) > APART
               for mine in by_size(records).values()
               for each in [copies.amounts(replies(mine))] for site in COPY_SITES)


def bars_of(group: Group) -> tuple[dict[str, list[Record]], list[str]]:
    """What has a bar of its own, and notes on that: each implementation, or each of its sizes
    where together they would hide that sizes differ."""
    labelled = in_words(by_label(group))
    if group.watched or not any(map(pooling_hides, labelled.values())):
        return labelled, []
    every = sorted({record.size for record in group.records})
    sizes = lines.few(every, max(2, MOST_COLUMNS // len(labelled)))
    notes = ["A bar for each size, as sizes differ"]
    notes += [f"{len(sizes)} of {len(every)} sizes are shown"] * (len(sizes) < len(every))
    return {f"{label}\n{lines.size_text(size)}": mine for label, whole in labelled.items()
            for size, mine in by_size(whole).items() if size in sizes}, notes


def fill(index: int) -> dict:
    """The look of a bar."""
    return {"facecolor": FILLS[index % len(FILLS)], "hatch": HATCHES[index % len(HATCHES)],
            "edgecolor": INK, "linewidth": 0.8}


def write(axes: Axes, x: float, y: float, text: str, bold: bool = False, va: str = "bottom",
          lift: float = 2.0, backed: bool = False) -> None:
    """Text at data coordinates, some points above them."""
    axes.annotate(text, (x, y), (0, lift), textcoords="offset points", ha="center", va=va,
                  color=INK, fontproperties=font(SMALL, bold), zorder=6,
                  bbox={"fc": "white", "ec": "none", "pad": 1.0} if backed else None)


def legend(page: Page, entries: list[tuple[str, int]], x: float) -> None:
    """Beside the axes."""
    page.figure.legend([Patch(**fill(look)) for _, look in entries], [name for name, _ in entries],
                       loc="upper left", frameon=False, prop=font(SMALL), borderaxespad=0,
                       borderpad=0, handlelength=2.4, handleheight=1.6, labelspacing=0.7,
                       bbox_to_anchor=(x / page.width, (page.bottom + page.body - 0.3)
                                       / page.height))


def column_names(labels: list[str], column: float) -> list[list[str]]:
    """The name below each column, in lines that are no wider."""
    return [[line for part in label.split("\n") for line in wrap(part, SMALL, column - 0.08)]
            [:MOST_LINES] for label in labels]


def names_height(names: list[list[str]]) -> float:
    """Inches that the names take, with the name of the axis below them."""
    return 0.12 + drawing.height_of(max(3, *map(len, names)), SMALL)


def columns_axes(page: Page, names: list[list[str]], column: float, ylabel: str,
                 watched: bool = False) -> Axes:
    """Axes with one column for each implementation, or for each process, whose bytes are told as
    they are."""
    axes = page.axes(LEFT, BELOW + names_height(names), len(names) * column, HEIGHT)
    frame(axes)
    axes.grid(False, axis="x")
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_xticks(range(len(names)))
    axes.set_xticklabels(["\n".join(each) for each in names], fontproperties=font(SMALL))
    axes.set_xlabel("Process" if watched else "Variant", fontproperties=font(SMALL + 0.5),
                    color=INK)
    axes.set_ylabel(ylabel, fontproperties=font(SMALL + 0.5), color=INK)
    axes.yaxis.set_major_formatter(FuncFormatter(
        (lambda value, _: bytes_text(round(value))) if watched else number_text))
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    return axes


def copies_title(group: Group) -> str:
    """What bars of copies show: of runs per payload byte; processes differ in what they moved, and
    50 MB are to be smaller than 5 GB."""
    return "Bytes that a CPU copied, by site" if group.watched else \
        f"Bytes that a CPU copied per {group.payload}, by site"


def in_bytes(sums: dict[str, copies.Amount], mine: list[Record]) -> dict[str, copies.Amount]:
    """Sites of a process as bytes."""
    moved = sum(record.payload_bytes or 0 for record in mine)
    return {site: each if each.value is None else replace(each, value=each.value * moved)
            for site, each in sums.items()}


def stack(axes: Axes, x: int, sums: dict[str, copies.Amount], top: float,
          text_of: Callable[[float], str]) -> None:
    """One bar of all copy sites."""
    total, missing = copies.copied(sums)
    if total is None:
        write(axes, x, 0, "not\nmeasured")
        return
    height = 0.0
    for index, site in enumerate(COPY_SITES):
        value = sums[site].value or 0.0
        if value <= copies.NOTHING:
            continue
        axes.bar(x, value, BAR, bottom=height, **fill(index))
        if value / top * HEIGHT > 0.3:
            write(axes, x, height + value / 2, text_of(value), va="center", lift=0,
                  backed=True)
        height += value
    write(axes, x, height, f"≥ {text_of(total)}" if missing else text_of(total), True)


def unmeasured(sums: dict[str, dict[str, copies.Amount]]) -> list[str]:
    """Copy sites that are not measured, and of which bars if not of all."""
    by_note: dict[str, list[str]] = {}
    for label, each in sums.items():
        for note in copies.missing_notes({site: each[site] for site in COPY_SITES}):
            by_note.setdefault(note, []).append(label.replace("\n", ", "))
    return [note if len(whose) == len(sums) else f"{note} (of {'; '.join(whose)})"
            for note, whose in by_note.items()]


def copy_bars(group: Group) -> Figure:
    """Bytes copied by processors per payload byte, by site, for all variants."""
    bars, bar_notes = bars_of(group)
    sums = {label: copies.amounts(replies(mine)) for label, mine in bars.items()}
    if group.watched:
        sums = {label: in_bytes(each, bars[label]) for label, each in sums.items()}
    totals = [copies.copied(each)[0] or 0.0 for each in sums.values()]
    notes = unmeasured(sums)
    shown = [(site, index) for index, site in enumerate(COPY_SITES)
             if any(each[site].seen for each in sums.values())]
    known = "; ".join(f"{site} {', '.join(dict.fromkeys(each[site].how for each in sums.values()))}"
                      for site, _ in shown)
    least = ["≥: at least, as a site of copies is not measured"] * bool(notes)
    width = LEFT + len(sums) * COLUMN + 0.25 + HANDLE + LEGEND
    names = column_names(list(sums), COLUMN)
    page = Page(max(width, 7.0), BELOW + names_height(names) + HEIGHT + 0.3,
                copies_title(group),
                [*bar_notes, *[f"How each is known: {known}"] * bool(known), *least, *notes]
                + group.pattern_notes + [group.provenance], group.where)
    axes = columns_axes(page, names, COLUMN, "Bytes copied" if group.watched else
                        f"Bytes copied [bytes / {group.payload}]", group.watched)
    top = max(totals) * 1.12 or 1.0
    axes.set_ylim(0, top)
    for x, each in enumerate(sums.values()):
        stack(axes, x, each, top, (lambda value: bytes_text(round(value))) if group.watched
              else copies.number)
    # The legend reads as the bars are stacked: the first copy lies lowest.
    legend(page, [("\n".join(wrap(f"{site}: {MEANING[site]}", SMALL, LEGEND)), index)
                  for site, index in shown[::-1]], LEFT + len(sums) * COLUMN + 0.25)
    return page.figure


def pin_points(records: list[Record], size: int) -> tuple[Spread | None, str]:
    """Pages pinned per message of one size, or why they are not known."""
    values = [value_of(record, "pinned_pages", BOTH) for record in records if record.size == size]
    known = [value for value, _ in values if value is not None]
    if not known:
        return None, values[0][1] if values else ""
    return spread(known), ""


def no_pins(group: Group) -> str:
    """Why bars of pinned pages would show nothing; "" if they show some."""
    values = [value_of(record, "pinned_pages", BOTH) for record in group.records]
    if any(value for value, _ in values):
        return ""
    whys = dict.fromkeys(why for value, why in values if value is None)
    return f"not measured: {'; '.join(whys)}" if whys else "no page was pinned"


def pin_bars(group: Group) -> Figure:
    """Pages pinned per message, by variant and size."""
    labelled = in_words(by_label(group))
    every = sorted({record.size for record in group.records})
    sizes = lines.few(every, MOST_SIZES)
    points = {(label, size): pin_points(mine, size)
              for label, mine in labelled.items() for size in sizes}
    whys: dict[str, dict[str, None]] = {}
    for (label, _), (_, why) in points.items():
        if why:
            whys.setdefault(why, {})[label] = None
    counts = {point.n for point, _ in points.values() if point}
    known = lines.pin_notes(group.records)
    notes = [sentence(counts).capitalize()] * bool(counts) + known
    if len({record.setting for record in group.records}) > 1:
        notes.insert(1, "Runs with different numbers of threads are taken together")
    notes += lines.setting_notes(group.records, ("size",))
    notes += [f"not measured: {', '.join(who)}: {why}" for why, who in whys.items()]
    notes += [f"{len(sizes)} of {len(every)} sizes are shown"] * (len(sizes) < len(every))
    column = max(COLUMN, len(sizes) * PINS_BAR + 0.25)
    beside = max(text_width(lines.size_text(size), SMALL) for size in sizes) + 0.9
    width = max(LEFT + len(labelled) * column + beside + 0.3, 7.0)
    names = column_names(list(labelled), column)
    page = Page(width, BELOW + names_height(names) + HEIGHT + 0.3,
                "Pages pinned per message, by variant", [*notes, group.provenance], group.where)
    axes = columns_axes(page, names, column, METRICS["pinned_pages"].axis)
    top = max((point.high for point, _ in points.values() if point), default=0.0)
    axes.set_ylim(0, top * 1.1 or 1.0)
    width_bar = PINS_BAR / column
    for x, label in enumerate(labelled):
        for index, size in enumerate(sizes):
            at = x + (index - (len(sizes) - 1) / 2) * width_bar
            draw_pin(axes, at, width_bar, index, points[label, size])
    legend(page, [(lines.size_text(size), index) for index, size in enumerate(sizes)],
           LEFT + len(labelled) * column + 0.25)
    return page.figure


def draw_pin(axes: Axes, x: float, width: float, look: int,
             point: tuple[Spread | None, str]) -> None:
    """One bar with its error bar and number."""
    value, why = point
    if value is None:
        # No run of this size is no claim at all.
        if why:
            write(axes, x, 0, "?")
        return
    axes.bar(x, value.middle, width * 0.92, **fill(look))
    if value.high > value.low:
        axes.errorbar(x, value.middle, yerr=[[value.middle - value.low],
                                             [value.high - value.middle]],
                      color=INK, capsize=3, elinewidth=1)
    write(axes, x, value.high, number_text(round(value.middle, 1)))
