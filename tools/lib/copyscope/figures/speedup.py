# SPDX-License-Identifier: GPL-2.0
"""Explains a speed-up that the processors do not allow by what was measured, or warns of it."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from copyscope.records.run_record import ENDS, Record

from .lines import Panel, Series, key_of, key_text, picked
from .metrics import x_of
from .specs import Spec

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
