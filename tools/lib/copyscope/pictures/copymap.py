# SPDX-License-Identifier: GPL-2.0
"""Draws a copy map: boxes along the data path, arrows as wide as the bytes that went that way."""
from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Polygon

from copyscope.common.tables import column, named
from copyscope.common.text import size_text
from copyscope.drawing import (
    BODY,
    GREY,
    INK,
    MARGIN,
    SMALL,
    Page,
    drawn,
    font,
    height_of,
    text_width,
    wrap,
)
from copyscope.records import copies
from copyscope.records.run_record import Record

from .arrows import BUFFER, PAID, SENDER, STAGING, USER, Arrow, CopyMap, build
from .groups import Group, part, replies

# Inches.
BOX, GAP, BOX_HEIGHT = 1.05, 1.05, 1.3
UNIT = 0.36                 # width of an arrow that carries one byte per payload byte
THIN = 0.03                 # what is there is drawn, however little it is
HEAD = 0.24
LABEL = BOX + GAP - 0.12    # labels stand below the boxes and may reach under them
NAMES = ("user\nfields", "staging\nbuffer", "skb\n(sender)", "", "skb\n(receiver)",
         "user\nbuffer")
COPIED, PASSED = "#B5482A", "#FFFFFF"
MEANING = column("sites", "meaning")

Point = tuple[float, float]


def box_x(box: int) -> float:
    """Left edge of a box."""
    return MARGIN + box * (BOX + GAP)


class Canvas:
    """Axes in inches without rules, and the scale of arrows."""

    def __init__(self, page: Page, unit: float) -> None:
        self.axes: Axes = page.axes(0, 0, page.width, page.body)
        self.axes.set_xlim(0, page.width)
        self.axes.set_ylim(0, page.body)
        self.axes.axis("off")
        self.unit = unit

    def thick(self, arrow: Arrow) -> float:
        """Width of an arrow."""
        return thickness(arrow, self.unit)

    def shape(self, points: list[Point], arrow: Arrow) -> None:
        """An outline, filled as its payload moves."""
        unknown = arrow.amount.value is None
        style = (0, (1, 2)) if unknown else "-" if arrow.by_cpu else (0, (4, 2))
        self.axes.add_patch(Polygon(
            points, closed=True, facecolor=COPIED if arrow.by_cpu and not unknown else PASSED,
            edgecolor=GREY if unknown else INK, linewidth=1.1, linestyle=style, zorder=3,
            joinstyle="miter"))

    def straight(self, arrow: Arrow, start: float, end: float, y: float) -> None:
        """From left to right."""
        half = self.thick(arrow) / 2
        wing = half + 0.07
        neck = end - min(HEAD, (end - start) / 2)
        self.shape([(start, y + half), (neck, y + half), (neck, y + wing), (end, y),
                    (neck, y - wing), (neck, y - half), (start, y - half)], arrow)

    def bent(self, arrow: Arrow, ends: tuple[float, float], base: float, far: float) -> None:
        """From a box up (or down, where `far` is below `base`), across, and back into a box."""
        half, sign = self.thick(arrow) / 2, 1 if far > base else -1
        start, end = ends
        wing, neck = half + 0.07, base + sign * HEAD
        outer, inner = far + sign * half, far - sign * half
        self.shape([(start - half, base), (start - half, outer), (end + half, outer),
                    (end + half, neck), (end + wing, neck), (end, base), (end - wing, neck),
                    (end - half, neck), (end - half, inner), (start + half, inner),
                    (start + half, base)], arrow)

    def box(self, x: float, y: float, name: str, used: bool) -> None:
        """One place that payload lies in."""
        colour = INK if used else "#999999"
        self.axes.add_patch(FancyBboxPatch(
            (x, y), BOX, BOX_HEIGHT, boxstyle="round,pad=0,rounding_size=0.08", linewidth=1.4,
            facecolor="#F1F3F5" if used else "white", edgecolor=colour, zorder=2,
            linestyle="-" if used else (0, (2, 3))))
        self.write(x + BOX / 2, y + BOX_HEIGHT / 2, name if used else f"{name}\n(not used)", BODY,
                   colour=colour, ha="center", va="center")

    def write(self, x: float, y: float, text: str, size: float = SMALL, *, colour: str = INK,
              bold: bool = False, ha: str = "left", va: str = "top") -> None:
        """Text at inches."""
        self.axes.text(x, y, text.replace("$", r"\$"), ha=ha, va=va, color=colour, zorder=5,
                       fontproperties=font(size, bold))


def thickness(arrow: Arrow, unit: float) -> float:
    """Inches of an arrow's width: in proportion, but never invisible."""
    return max((arrow.amount.value or 0.0) * unit, THIN)


def fitting_unit(chart: CopyMap) -> float:
    """The largest scale at which all arrows that share a box's edge fit there."""
    unit = UNIT
    for start, end in {(arrow.start, arrow.end) for arrow in chart.arrows}:
        mine = chart.between(start, end)
        total = sum(arrow.amount.value or 0.0 for arrow in mine)
        bent = end - start != 1
        room = (BOX * 0.62 if bent else BOX_HEIGHT) - 0.2 * len(mine)
        if total > 0:
            unit = min(unit, max(room, 0.2) / total)
    return unit


def label_lines(arrow: Arrow, letter: str, width: float) -> list[tuple[str, bool]]:
    """Lines below an arrow, and whether they are bold."""
    name = f"{letter}  {arrow.name}" if letter else arrow.name
    paid = f"paid by: {PAID[arrow.name]}" if arrow.by_cpu and arrow.name in PAID else ""
    cause = f"cause: {arrow.detail}" if arrow.by_cpu and arrow.detail else arrow.detail
    if arrow.start == arrow.end:
        cause, paid = arrow.detail, ""
    rest = [arrow.amount.text(), cause, paid if arrow.amount.value is not None else ""]
    return [(name, True)] + [(line, False) for each in rest if each
                             for line in wrap(each, SMALL, width)]


def lane_label(arrow: Arrow) -> list[str]:
    """Lines above an arrow that passes over a box."""
    extra = f"cause: {arrow.detail}" if arrow.by_cpu and arrow.detail else arrow.detail
    paid = f"paid by: {PAID[arrow.name]}" if arrow.by_cpu else ""
    if arrow.amount.value is None:
        extra = paid = ""
    text = "; ".join(each for each in (arrow.amount.text(), extra, paid) if each)
    # Between the two boxes: outside lie the legs of the arrows around this one.
    return wrap(text, SMALL, 2 * GAP + BOX - 0.2 - text_width(arrow.name, SMALL, True))


def lanes(chart: CopyMap, unit: float) -> list[tuple[Arrow, float, list[str]]]:
    """Arrows that pass over the staging buffer, inner one first: height of each above the boxes,
    and its label."""
    found, y = [], 0.4
    for arrow in chart.between(USER, SENDER):
        label = lane_label(arrow)
        half = thickness(arrow, unit) / 2
        found.append((arrow, y + half, label))
        y += 2 * half + height_of(len(label), SMALL) + 0.2
    return found


def columns(chart: CopyMap) -> dict[int, list[list[tuple[str, bool]]]]:
    """Labels by the gap they stand under."""
    found: dict[int, list[list[tuple[str, bool]]]] = {}
    for gap in range(BUFFER):
        mine = chart.between(gap, gap + 1)
        letters = "abcdefgh" if len(mine) > 1 else " " * len(mine)
        found[gap] = [label_lines(arrow, letter.strip(), LABEL)
                      for arrow, letter in zip(mine, letters)]
    return found


def draw_gap(canvas: Canvas, gap: int, arrows: list[Arrow], middle: float) -> None:
    """Arrows from one box to the next, below each other."""
    start, end = box_x(gap) + BOX, box_x(gap + 1)
    space = 0.2
    y = middle + (sum(canvas.thick(arrow) for arrow in arrows) + space * (len(arrows) - 1)) / 2
    for arrow, letter in zip(arrows, "abcdefgh"):
        half = canvas.thick(arrow) / 2
        canvas.straight(arrow, start + 0.02, end - 0.02, y - half)
        if len(arrows) > 1:
            canvas.axes.text(start + 0.2, y - half, letter, ha="center", va="center", zorder=6,
                             fontproperties=font(SMALL, True), color=INK,
                             bbox={"boxstyle": "circle,pad=0.15", "fc": "white", "ec": INK,
                                   "lw": 0.6})
        y -= 2 * half + space


def draw_lanes(canvas: Canvas, found: list[tuple[Arrow, float, list[str]]], top: float) -> None:
    """Arrows over the staging buffer, nested so that they do not cross."""
    inset = 0.12
    for arrow, height, label in found:
        half = canvas.thick(arrow) / 2
        ends = box_x(USER) + BOX - inset - half, box_x(SENDER) + inset + half
        canvas.bent(arrow, ends, top, top + height)
        y = top + height + half + 0.04 + height_of(len(label), SMALL)
        x = box_x(USER) + BOX + 0.05
        canvas.write(x, y, arrow.name, bold=True)
        x += text_width(arrow.name, SMALL, True) + 0.1
        for line in label:
            canvas.write(x, y, line)
            y -= height_of(1, SMALL)
        inset += 2 * half + 0.2


def draw_legend(canvas: Canvas, y: float, payload: str) -> None:
    """What the arrows mean, and how wide one byte per payload byte is."""
    one = copies.Amount(1.0, "")
    x = MARGIN
    for arrow, words in ((Arrow("", 0, 1, one, True), "copied by a CPU"),
                         (Arrow("", 0, 1, one, False), "referenced or passed by pointer"),
                         (Arrow("", 0, 1, copies.Amount(None, ""), False), "not measured")):
        canvas.straight(arrow, x, x + 0.6, y)
        canvas.write(x + 0.7, y, words, va="center")
        x += 3.0
    canvas.write(x - 0.9, y, f"An arrow as wide as these two\ncarries 1 byte per {payload} (B/B)",
                 va="center")


def heading(label: str, variant: str, chart: CopyMap, group: Group) -> str:
    """The map in one sentence."""
    name = named(label if label == variant else f"{label} ({variant})", variant)
    total, missing = copies.copied(chart.sums)
    if total is None:
        return f"{name} on {group.facts['path']}: copies were not measured"
    least = "at least " if missing and total > copies.NOTHING else ""
    seen = " where it was watched" if missing and not least else ""
    return (f"{name} on {group.facts['path']}: a CPU copied {least}{copies.number(total)} bytes "
            f"per {group.payload}{seen}")


def sizes_note(records: list[Record]) -> str:
    """How long the messages were."""
    sizes = sorted({record.bytes for record in records})
    span = " to ".join(size_text(each) for each in dict.fromkeys((sizes[0], sizes[-1])))
    return f"Messages of {span}" + ", runs summed up" * (len(records) > 1)


def notes(chart: CopyMap, group: Group, records: list[Record]) -> list[str]:
    """What stands below the map."""
    zero = [site for site, each in chart.sums.items() if each.value == 0]
    few = [site for site, each in chart.sums.items() if each.value and not each.seen]
    found = [sizes_note(records)] if not group.watched else []
    found += [f"{site}: {MEANING[site]}" for site, each in chart.sums.items() if each.seen]
    if zero:
        found.append(f"0 bytes passed: {', '.join(zero)}")
    if few:
        found.append(f"Too few bytes for an arrow passed: {', '.join(few)}")
    found += copies.missing_notes(chart.sums)
    found += [f"{cause}: {remedy}" for cause, remedy in chart.causes.items() if remedy]
    found += group.pattern_notes
    return [*found, part(group, records).provenance]


def unseen(records: list[Record]) -> str:
    """Why no site of some runs is known; "" if one is."""
    sums = copies.amounts(replies(records))
    return "" if any(each.value is not None for each in sums.values()) else \
        f"not measured: {next(iter(sums.values())).why}"


def draw(group: Group, label: str, records: list[Record]) -> Figure:
    """The copy map of one variant in one group."""
    chart = build(replies(records))
    unit = fitting_unit(chart)
    over, under = lanes(chart, unit), columns(chart)
    loops = [arrow for arrow in chart.arrows if arrow.start == arrow.end]
    loop_room = max((canvas_loop(arrow, unit) for arrow in loops), default=0.0)
    below = max((sum(height_of(len(each), SMALL) + 0.08 for each in labels)
                 for labels in under.values()), default=0.0) + loop_room
    above = over[-1][1] + thickness(over[-1][0], unit) + height_of(len(over[-1][2]), SMALL) \
        if over else 0.2
    legend = 0.7
    body = above + BOX_HEIGHT + 0.12 + below + legend + 0.1
    page = Page(box_x(BUFFER) + BOX + MARGIN, body,
                heading(label, records[0].variant, chart, group), notes(chart, group, records),
                "Where the payload goes, and what moves it")
    canvas = Canvas(page, unit)
    floor = legend + below + 0.12
    for box, name in enumerate(NAMES):
        canvas.box(box_x(box), floor, name or f"device\n{chart.device}",
                   box != STAGING or chart.staged)
    draw_lanes(canvas, over, floor + BOX_HEIGHT)
    for arrow in loops:
        draw_loop(canvas, arrow, floor)
    for gap, labels in under.items():
        draw_gap(canvas, gap, chart.between(gap, gap + 1), floor + BOX_HEIGHT / 2)
        y, x = floor - 0.1 - loop_room, box_x(gap) + BOX + GAP / 2
        for label_text in labels:
            for line, bold in label_text:
                canvas.write(x, y, line, bold=bold, ha="center")
                y -= height_of(1, SMALL)
            y -= 0.08
    draw_legend(canvas, legend / 2, group.payload)
    return page.figure


def picture(group: Group, label: str, records: list[Record], name: str) -> str:
    """The same as an SVG for a page."""
    return drawn(draw(group, label, records), name).decode("utf-8")


def canvas_loop(arrow: Arrow, unit: float) -> float:
    """Inches that an arrow back into its own box takes below it, with its label."""
    label = label_lines(arrow, "", LABEL)
    return 0.36 + thickness(arrow, unit) + height_of(len(label), SMALL) + 0.1


def draw_loop(canvas: Canvas, arrow: Arrow, floor: float) -> None:
    """Out of a box and back into it from below."""
    half = canvas.thick(arrow) / 2
    left = box_x(arrow.start)
    far = floor - 0.3 - half
    canvas.bent(arrow, (left + 0.2 + half, left + BOX - 0.2 - half), floor, far)
    y = far - half - 0.05
    for line, bold in label_lines(arrow, "", LABEL):
        canvas.write(left + BOX / 2, y, line, bold=bold, ha="center")
        y -= height_of(1, SMALL)
