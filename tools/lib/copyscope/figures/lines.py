# SPDX-License-Identifier: GPL-2.0
"""Turns records into the series of a line figure: medians, intervals, and what is missing."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from copyscope.common.spread import Spread, spread
from copyscope.common.tables import VARIANTS, named
from copyscope.common.text import listed, short, size_text
from copyscope.records.run_record import ENDS, NO_PROFILE, Record

from .metrics import INSTEAD, METRICS, OF_A_RUN, is_modelled, value_of, x_of
from .specs import POINT_KEYS, Spec

MOST_PANELS = 12
NAMES = 6                   # named in one note
MODELLED = "Modelled, not measured"


@dataclass
class Series:
    """One line: points by x, and why points are missing."""

    key: tuple
    name: str
    points: dict[int, Spread] = field(default_factory=dict)
    missing: dict[int, str] = field(default_factory=dict)
    published: dict[int, float] = field(default_factory=dict)  # by the report, on its machine


@dataclass
class Panel:
    """One set of axes; `title` is empty if there is only one."""

    title: str
    series: list[Series]
    y: str
    published: bool = False     # by the report, on its authors' machine
    modelled: bool = False

    @property
    def counts(self) -> set[int]:
        """Numbers of repeats behind its points; reports do not tell theirs."""
        return set() if self.published else \
            {point.n for each in self.series for point in each.points.values()}

    @property
    def reasons(self) -> list[str]:
        """Each reason for missing points, once."""
        return list(dict.fromkeys(why for each in self.series for why in each.missing.values()))


def few(values: list, most: int) -> list:
    """Choose some of many: the first, the last, and others evenly between."""
    if len(values) <= most:
        return values
    return [values[round(index * (len(values) - 1) / (most - 1))] for index in range(most)]


def key_of(record: Record, key: str) -> str | int:
    """Value of a key that tells series, panels or picked records apart."""
    return {"label": record.label, "variant": record.variant, "threads": record.setting,
            "size": record.size}[key]


def key_text(key: str, value: str | int) -> str:
    """Words for one value of a key."""
    if key == "threads":
        return f"{value} thread" if value == 1 else f"{value} threads"
    return size_text(int(value)) if key == "size" else str(value)


def names_of(records: list[Record], keys: tuple[str, ...], values: tuple) -> str:
    """The name of a series or a panel: values of keys, with the call beside a variant."""
    variants = {record.label: record.variant for record in records}
    return ", ".join(
        named(str(value), variants.get(str(value), "") if key == "label" else str(value))
        if key in ("label", "variant") else key_text(key, value)
        for key, value in zip(keys, values))


def label_rank(records: list[Record]) -> dict[str, int]:
    """Order of the implementations: that of their variants, then of appearance."""
    known = {each: rank for rank, each in enumerate(VARIANTS)}
    variants: dict[str, str] = {}
    for record in records:
        variants.setdefault(record.label, record.variant)
    ordered = sorted(variants, key=lambda label: known.get(variants[label], len(known)))
    return {label: rank for rank, label in enumerate(ordered)}


def picked(records: list[Record], spec: Spec) -> list[Record]:
    """The records that the figure is about."""
    def fits(record: Record) -> bool:
        for key, wanted in spec.where.items():
            if key_of(record, key) not in (wanted if isinstance(wanted, list) else [wanted]):
                return False
        return True
    return [record for record in records if fits(record)]


def setting_notes(records: list[Record], keys: Iterable[str]) -> list[str]:
    """Say so where a setting of threads or size was not what was opened or sent."""
    found = []
    for key, words, pairs in (
            ("threads", "\"Threads\" is a setting here; connections open",
             {(record.setting, record.connections) for record in records}),
            ("size", "\"Size\" is a setting here; bytes sent",
             {(record.size, record.bytes) for record in records})):
        other = sorted(pair for pair in pairs if pair[1] not in (None, pair[0]))
        if key in keys and other:
            told = ", ".join(f"{real} at {setting}" for setting, real in other[:NAMES])
            found.append(f"{words}: {told}{', ...' if len(other) > NAMES else ''}")
    return found


def pin_notes(records: list[Record]) -> list[str]:
    """How numbers of pinned pages are derived, if they are. Older records do not say that it is
    the most there can be."""
    whys = {record.at("pins.why") for record in records if record.at("pins.how") == "derived"}
    return [f"Derived, the most there can be: {why}" for why in sorted(filter(None, whys))]


def drawn_instead(records: list[Record], spec: Spec) -> Spec:
    """The figure with instructions in place of cycles, where a model has the one and nobody
    measured the other; of a message in place of a run, as such a run has a number of messages
    that its size decides; and with a title that says what is modelled, and of which mode."""
    chosen = picked(records, spec)
    if not any(record.modelled for record in chosen):
        return spec

    def known(y: str) -> bool:
        return any(value_of(record, y, spec.end)[0] is not None for record in chosen)
    ys = [INSTEAD[y] if y in INSTEAD and not known(y) else y for y in spec.ys]
    title, words = spec.title, []
    if tuple(ys) != spec.ys:
        title = title.replace("cycles", "instructions").replace("Cycles", "Instructions")
        words = ["in place of cycles"]
    if any(of_one_kind(chosen, y, spec.end)[1].startswith(MODELLED) for y in ys):
        words = ["modelled", *words, *mode_words(chosen)]
    if all(record.modelled for record in chosen):
        ys = [f"{y}_per_message" if METRICS[y].unit == OF_A_RUN else y for y in ys]
    return replace(spec, y=ys[0], beside=ys[1] if spec.beside else "",
                   title=f"{title} ({', '.join(words)})" if words else title)


def mode_words(records: list[Record]) -> list[str]:
    """The mode of a profile that they are of, if all are of one."""
    modes = {record.point.mode if record.point and record.point.profile != NO_PROFILE else ""
             for record in records}
    return [mode.replace("-", " ") for mode in modes if mode] if len(modes) == 1 else []


def of_one_kind(records: list[Record], y: str, end: str) -> tuple[list[Record], str]:
    """The records whose values of a metric may stand beside each other: measured ones, if there are
    any; and what a figure must say of them."""
    modelled = [record for record in records if is_modelled(record, y, end)]
    if not modelled:
        return records, ""
    others = [record for record in records if record not in modelled]
    if any(value_of(record, y, end)[0] is not None for record in others):
        return others, f"{len(modelled)} runs are left out, whose values are modelled"
    whose = sorted({each.modelled.caches for each in modelled if each.modelled})
    return records, f"{MODELLED}: {'; '.join(whose)}"


def model_notes(records: list[Record], spec: Spec) -> list[str]:
    """What a figure must say where values are modelled."""
    found = [of_one_kind(picked(records, spec), y, spec.end)[1] for y in spec.ys]
    return list(dict.fromkeys(note for note in found if note))


def relative(series: Series, per_thread: bool) -> None:
    """Divide by the series' own median at its lowest x; and by the threads, for efficiency."""
    if not series.points:
        return
    first = min(series.points)
    base = series.points[first].middle
    if not base:
        series.missing.update({x: "nothing arrived at the lowest setting" for x in series.points})
        series.points.clear()
        return
    for x, point in series.points.items():
        by = base * (x / first if per_thread else 1)
        series.points[x] = Spread(point.middle / by, point.low / by, point.high / by, point.n)


def means(records: list[Record], spec: Spec, y: str, missing: dict[int, str]) -> \
        dict[int, list[float]]:
    """By x, a mean for each repeat over all values of another setting that any repeat has; without
    one of them it would be a mean of something else."""
    cells: dict[int, dict[int, dict[str | int, float]]] = {}
    every: dict[int, set[str | int]] = {}
    runs: Counter[tuple] = Counter()
    for record in records:
        x, over = x_of(record, spec.x), key_of(record, spec.mean_over)
        every.setdefault(x, set()).add(over)
        runs[x, over] += 1
        value, why = value_of(record, y, spec.end)
        if value is None:
            missing[x] = why
        else:
            repeat = record.point.repeat if record.point else runs[x, over]
            cells.setdefault(x, {}).setdefault(repeat, {})[over] = value
    for x, repeats in cells.items():
        missing.setdefault(x, f"no repeat has all values of {spec.mean_over}")
        cells[x] = {repeat: found for repeat, found in repeats.items()
                    if found.keys() == every[x]}
    return {x: [sum(found.values()) / len(found) for found in repeats.values()]
            for x, repeats in cells.items() if repeats}


def one_series(key: tuple, name: str, records: list[Record], spec: Spec, y: str) -> Series:
    """Sum up the records of one line."""
    series = Series(key, name)
    values: dict[int, list[float]] = {}
    for record in () if spec.mean_over else records:
        x = x_of(record, spec.x)
        value, why = value_of(record, y, spec.end)
        if value is None:
            series.missing[x] = why
        else:
            values.setdefault(x, []).append(value)
    if spec.mean_over:
        values = means(records, spec, y, series.missing)
    series.points = {x: spread(values[x], METRICS[y].count and not spec.mean_over)
                     for x in sorted(values)}
    # A point that some of its repeats give is there; n says of how many.
    series.missing = {x: why for x, why in series.missing.items() if x not in series.points}
    if METRICS[y].relative:
        relative(series, y == "efficiency")
    return series


def as_printed(y: str) -> str:
    """The quantity of a report that a modelled one stands for."""
    plain = y.removesuffix("_per_message")
    return next((theirs for theirs, ours in INSTEAD.items() if ours == plain), plain)


def published_at(spec: Spec, y: str, panel: tuple, key: tuple) -> dict[int, float]:
    """What the report published of a line. What it does not tell of a number is what a mean is
    over: no other figure may show it."""
    told_apart = dict(zip((spec.panels, *spec.series) if spec.panels else spec.series,
                          (*panel, *key)))
    if not {*told_apart, *spec.where} <= set(POINT_KEYS):
        return {}
    printed = as_printed(y)
    per_thread, relative = printed == "efficiency", METRICS[printed].relative
    found: dict[int, float] = {}
    for each in spec.published:
        at = dict(zip(POINT_KEYS, each.point))
        untold = [name for name in POINT_KEYS if at[name] is None]
        fits = each.y == ("throughput_gbps" if relative else printed) and \
            untold == ([spec.mean_over] if spec.mean_over else []) and \
            all(at[name] == value for name, value in told_apart.items()) and \
            all(at[name] in (value if isinstance(value, list) else [value])
                for name, value in spec.where.items())
        if fits:
            found.setdefault(at[spec.x], each.value)
    first = min(found, default=0)
    return {x: value / (found[first] * (x / first if per_thread else 1)) if relative else value
            for x, value in sorted(found.items())}


def panels(records: list[Record], spec: Spec) -> list[Panel]:
    """The panels of a figure, each with its series in a fixed order."""
    ranks = label_rank(records)
    chosen = picked(records, spec)
    kinds = {y: of_one_kind(chosen, y, spec.end) for y in spec.ys}
    kept = {y: kind[0] for y, kind in kinds.items()}
    modelled = {y: kind[1].startswith(MODELLED) for y, kind in kinds.items()}

    def order(key: tuple) -> tuple:
        return tuple(ranks.get(each, -1) if isinstance(each, str) else each for each in key)

    split: dict[tuple, dict[tuple, list[Record]]] = {}
    for record in chosen:
        panel = (key_of(record, spec.panels),) if spec.panels else ()
        key = tuple(key_of(record, each) for each in spec.series)
        split.setdefault(panel, {}).setdefault(key, []).append(record)
    result = []
    for panel in few(sorted(split, key=order), MOST_PANELS):
        title = names_of(chosen, (spec.panels,), panel) if len(split) > 1 else ""
        for y in spec.ys:
            drawn = [one_series(key, names_of(chosen, spec.series, key),
                                [each for each in split[panel][key] if each in kept[y]], spec, y)
                     for key in sorted(split[panel], key=order)]
            for series in drawn:
                series.published = published_at(spec, y, panel, series.key)
            result.append(Panel(METRICS[y].label if spec.beside else title, drawn, y,
                                modelled=modelled[y]))
    return result


def beside_published(panels: list[Panel]) -> list[Panel]:
    """Each panel behind one of what the report published of it; the panels, if that is nothing.
    Two machines share no axes: their lines would be compared."""
    if not any(series.published for panel in panels for series in panel.series):
        return panels
    xs = {x for panel in panels for each in panel.series
          for x in (*each.points, *each.missing, *each.published)}
    result = []
    for panel in panels:
        theirs = [Series(each.key, each.name, {x: Spread(value, value, value, 1)
                                               for x, value in each.published.items()},
                         {x: "the report prints no number" for x in xs - each.published.keys()})
                  for each in panel.series]
        title = f"{panel.title}, " if panel.title else ""
        here = "modelled" if panel.modelled else "measured here"
        result += [Panel(f"{title}published", theirs, as_printed(panel.y), True),
                   replace(panel, title=f"{title}{here}")]
    return result


def lacking(records: list[Record], spec: Spec) -> str:
    """Which points of its profile a figure lacks because nobody ran them, "" if none: values of a
    key that no run has, then single points."""
    if "variant" in spec.where:
        return ""  # a profile's points are known by their labels
    wheres = [spec.where.get(key) for key in POINT_KEYS]
    wanted = {point for point in spec.wanted if all(
        where is None or value in (where if isinstance(where, list) else [where])
        for value, where in zip(point, wheres))}
    there = {tuple(key_of(record, key) for key in POINT_KEYS)
             for record in picked(records, spec)} & wanted
    left = wanted - there
    if not left:
        return ""
    told: list[str] = []
    for place, key in enumerate(POINT_KEYS):
        # One value that all points share tells nothing apart.
        every = {point[place] for point in wanted}
        lost = sorted(every - {point[place] for point in there}) if there else []
        told += [key_text(key, value) for value in lost]
        left = {point for point in left if point[place] not in lost}
    told += [" ".join(key_text(key, value) for key, value in zip(POINT_KEYS, point))
             for point in sorted(left)]
    more = f" and {len(told) - NAMES} more" if len(told) > NAMES else ""
    return f"{len(wanted - there)} of the {len(wanted)} points that its profile has: " \
           f"{', '.join(told[:NAMES])}{more}"


def none_fits(records: list[Record], spec: Spec) -> str:
    """What a figure is of that no record is, and what these are of in its place."""
    for key, wanted in spec.where.items():
        wants = wanted if isinstance(wanted, list) else [wanted]
        here = list(dict.fromkeys(key_of(record, key) for record in records))
        if not set(wants) & set(here):
            more = ["others"] if len(here) > NAMES else []
            of, is_of = (listed([key_text(key, each) for each in values], word)
                         for values, word in ((wants, "or"), (here[:NAMES], "and")))
            return f"it is of {of}, and these runs are of {listed([is_of, *more])}"
    return "no run of this kind is among the records"


def nothing_to_draw(found: list[Panel], spec: Spec, records: list[Record]) -> str:
    """Why a figure would be empty or would have no line: what it could show, in words; "" if it
    has one."""
    shown = [series for panel in found for series in panel.series if series.points]
    if not shown:
        reasons = dict.fromkeys(why for panel in found for why in panel.reasons)
        return f"not measured: {'; '.join(reasons)}" if reasons else none_fits(records, spec)
    if any(len(series.points) > 1 for series in shown):
        return ""
    places = sorted({x for series in shown for x in series.points})
    at = ", ".join(key_text(spec.x, x) for x in places[:NAMES])
    values = [f"{series.name} {short(point.middle)}" for panel in found for series in panel.series
              for point in series.points.values() if panel.y == spec.y]
    more = f" and {len(values) - NAMES} more" if len(values) > NAMES else ""
    metric = METRICS[spec.y]
    told = f"; {metric.label.lower()} [{metric.unit}]: {'; '.join(values[:NAMES])}{more}"
    plain = metric.relative or len(found) > 1
    return f"no line, as each has one {'size' if spec.x == 'size' else 'number of threads'} " \
           f"alone, {at}{'' if plain else told}"


# A speed-up that the processors do not allow is explained by what was measured, or warned of.

# Repeats differ by more than this: it takes no explanation.
ROUNDING = 1.05
# From here on messages that take less processor time are part of what is to be explained.
CHEAPER = 1.1


@dataclass(frozen=True)
class Use:
    """What the messages of some runs took."""

    processors: float       # busy at a time, of both ends
    us: float               # of processor time a message


def cpu_ns_of(record: Record) -> float | None:
    """Processor time of both ends a message."""
    values = [record.counter(end, "task-clock") for end in ENDS]
    messages = record.times.messages
    return None if None in values or not messages else \
        sum(value for value in values if value is not None) / messages


def use_of(records: Sequence[Record]) -> Use | None:
    """Medians over repeats; None if processor time was not counted."""
    def middle(read: Callable[[Record], float | None]) -> float | None:
        known = [value for value in map(read, records) if value is not None]
        return median(known) if known else None

    message_ns, cpu_ns = middle(lambda each: each.message_ns), middle(cpu_ns_of)
    return Use(cpu_ns / message_ns, cpu_ns / 1e3) if message_ns and cpu_ns else None


def most(panels: list[Panel], cpus: int) -> tuple[float, Series, int] | None:
    """The speed-up that is farthest above what threads and processors allow."""
    found = []
    for panel in panels:
        for series in panel.series:
            first = min(series.points, default=0)
            for x, point in series.points.items():
                speedup = point.middle * (x / first if panel.y == "efficiency" else 1)
                over = speedup / min(cpus, x / first)
                if over > ROUNDING:
                    found.append((over, speedup, series, x))
    return max(found, key=lambda each: each[0])[1:] if found else None


def notes(records: list[Record], panels: list[Panel], spec: Spec) -> list[str]:
    """One sentence on a speed-up that is too large for this machine; none if there is none."""
    cpus = min(record.at("machine.cpus") for record in records)
    found = most(panels, cpus)
    if not found:
        return []
    speedup, series, x = found
    mine = [record for record in picked(records, spec)
            if tuple(key_of(record, each) for each in spec.series) == series.key]
    first = min(series.points)
    before, after = (use_of([record for record in mine if x_of(record, spec.x) == at])
                     for at in (first, x))
    what = f"{series.name} at {key_text('threads', x)}: a speed-up of {speedup:.1f} on {cpus} " \
           "processors"
    if not before or not after:
        return [f"Warning: {what}, which no measurement of these runs explains"]
    cheaper = before.us / after.us
    return [f"{what}. By task-clock at both ends it is {after.processors / before.processors:.1f} "
            f"times the busy processors ({before.processors:.2f} with "
            f"{key_text('threads', first)}, then {after.processors:.2f}) and {1 / cheaper:.2f} of "
            f"the processor time a message ({before.us:.3g} µs, then {after.us:.3g} µs)"
            + ", for which the cause was not measured" * (cheaper > CHEAPER)]
