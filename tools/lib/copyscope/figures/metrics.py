# SPDX-License-Identifier: GPL-2.0
"""Names what a figure can show, with its unit and how it is read from one record."""
from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copyscope.records.load import load_plan
from copyscope.records.modelled import SITES
from copyscope.records.run_record import ENDS, Record
from copyscope.runs import values

# Throughput and latency are read as the sweep's tables do, so that figures and tables agree.


@functools.cache
def plan_settings(folder: Path) -> dict[str, Any] | None:
    """The settings of a sweep's plan, which say how its numbers are to be read."""
    return load_plan(folder)["settings"]


def settings_of(record: Record) -> dict[str, Any] | None:
    """The settings of the run's sweep; None for a run of its own."""
    return plan_settings(record.source.parent.parent) if record.point else None


def throughput_gbps(record: Record) -> float | None:
    """Gbit/s, of one client or over the nominal time where the profile says so."""
    settings = settings_of(record)
    if not settings or record.times.throughput_gbps is None:
        # Nothing arrived: over the nominal time that would come to a 0 which was not measured.
        return record.throughput_gbps
    return values.throughput_gbps(record, settings)


def latency_us(record: Record, which: str) -> float | None:
    """Microseconds; the mean may be what a report printed in its place."""
    settings = settings_of(record)
    if settings and which == "mean" and throughput_gbps(record) is not None:
        return values.latency_us(record, settings)
    return record.latency_us(which)


def notes_on_settings(record: Record, latency: bool) -> list[str]:
    """Sentences on how the sweep's settings change latency, or throughput."""
    settings = settings_of(record) or {}
    found = []
    if settings.get("figures_of") == "first":
        found.append("Times are of the first client alone, as the report's are")
    if settings.get("throughput_is") == "nominal" and not latency:
        found.append("Throughput is over the nominal time, as the report's is")
    if latency and settings.get("latency_is", "measured") != "measured":
        found.append("Latency is size / throughput and was never measured, as the report's")
    return found


# A number, or None and why there is none: no reader may take the one for the other.
Value = tuple[float | None, str]
BOTH = "both"
ENDS_SHOWN = (*ENDS, BOTH)


@dataclass(frozen=True)
class Metric:
    """One quantity. `read` takes a record and the end that is asked for."""

    label: str
    unit: str
    read: Callable[[Record, str], Value]
    of_one_end: bool = False
    timed: bool = False      # means nothing where timing.comparable is false
    relative: bool = False   # to the same series at its lowest x
    count: bool = False      # of events: medians are whole, too

    @property
    def axis(self) -> str:
        """The label of its axis."""
        return f"{self.label} [{self.unit}]"


def divided(value: Value, by: float | None, what: str) -> Value:
    """Divide, or say what is missing."""
    if value[0] is None:
        return value
    return (value[0] / by, "") if by else (None, f"{what} is not known or 0")


def no_time(record: Record) -> str:
    """Why a record may lack a time."""
    return "the record has no such time" if record.times.received_bytes \
        else "no payload arrived"


def throughput(record: Record, _: str) -> Value:
    """Gbit/s of payload."""
    return throughput_gbps(record), no_time(record)


def latency(which: str) -> Callable[[Record, str], Value]:
    """Microseconds: mean, p50 or p99."""
    def read(record: Record, _: str) -> Value:
        return latency_us(record, which), no_time(record)
    return read


def counter(event: str) -> Callable[[Record, str], Value]:
    """An event at one end, or at both together."""
    def read(record: Record, end: str) -> Value:
        ends = ENDS if end == BOTH else (end,)
        values = [record.counter(each, event) for each in ends]
        if values[0] is None and record.modelled:
            values = [record.modelled_counter(each, event) for each in ends]
        for each, value in zip(ends, values):
            if value is None:
                return None, record.counter_why(each, event) or f"no value at the {each}"
        return float(sum(value for value in values if value is not None)), ""
    return read


def per(event: str, divisor: str, scale: float = 1.0) -> Callable[[Record, str], Value]:
    """An event per message or per payload byte."""
    read_event = counter(event)

    def read(record: Record, end: str) -> Value:
        by = record.times.messages if divisor == "message" else record.times.received_bytes
        value, why = divided(read_event(record, end), by, f"the number of {divisor}s")
        return (None if value is None else value * scale), why
    return read


def at_site(site: str, count: str) -> Callable[[Record, str], Value]:
    """A modelled count of one site per payload byte."""
    def read(record: Record, _: str) -> Value:
        if not record.modelled:
            return None, "it is modelled alone: sweep with --counters model"
        return divided((float(record.modelled.site(site, count)), ""), record.times.received_bytes,
                       "the number of bytes")
    return read


def pins(record: Record, _: str) -> Value:
    """Pages pinned per message."""
    why = record.at("pins.why") or "no number of pages in the record"
    pages = record.pinned_pages
    return divided((None if pages is None else float(pages), why), record.messages,
                   "the number of messages")


MB = 1e6
OF_A_RUN = "count / run"
EVENT_OF = {"cycles": "cycles", "instructions": "instructions",
            "l1_misses": "L1-dcache-load-misses", "llc_misses": "LLC-load-misses",
            "cache_misses": "cache-misses"}
METRICS: dict[str, Metric] = {
    "throughput_gbps": Metric("Throughput", "Gbit/s", throughput, timed=True),
    "latency_us": Metric("Latency, mean", "µs", latency("mean"), timed=True),
    "latency_p50_us": Metric("Latency, median", "µs", latency("p50"), timed=True),
    "latency_p99_us": Metric("Latency, 99th percentile", "µs", latency("p99"), timed=True),
    "speedup": Metric("Speedup", "times that of the lowest setting", throughput, timed=True,
                      relative=True),
    "efficiency": Metric("Efficiency", "speedup / threads", throughput, timed=True,
                         relative=True),
    "cycles_per_byte": Metric("CPU cycles", "cycles / payload byte", per("cycles", "byte"), True),
    "instructions_per_byte": Metric("Instructions", "instructions / payload byte",
                                    per("instructions", "byte"), True),
    "pinned_pages": Metric("Pages pinned", "pages / message", pins),
}
# What a report may plot raw, and what compares across sizes.
for _name, _event, _words in (
        ("cycles", "cycles", "CPU cycles"), ("instructions", "instructions", "Instructions"),
        ("l1_misses", "L1-dcache-load-misses", "L1 data cache load misses"),
        ("llc_misses", "LLC-load-misses", "Last-level cache load misses"),
        ("cache_misses", "cache-misses", "Cache misses"),
        ("context_switches", "context-switches", "Context switches"),
        ("page_faults", "page-faults", "Page faults")):
    METRICS[_name] = Metric(_words, OF_A_RUN, counter(_event), True, count=True)
    METRICS[f"{_name}_per_message"] = Metric(_words, "count / message",
                                             per(_event, "message"), True)
    METRICS[f"{_name}_per_mb"] = Metric(_words, "count / MB of payload",
                                        per(_event, "byte", MB), True)

# What stands for a quantity that no model has.
INSTEAD = {"cycles": "instructions", "cycles_per_byte": "instructions_per_byte",
           "cycles_per_message": "instructions_per_message", "cycles_per_mb": "instructions_per_mb"}
LEVEL_NAMES = {"l1d": "L1 data cache", "l2": "L2", "llc": "Last-level cache"}
for _site in SITES:
    METRICS[f"{_site}_instructions_per_byte"] = Metric(
        f"Instructions in {_site}", "instructions / payload byte", at_site(_site, "instructions"))
    for _level, _words in LEVEL_NAMES.items():
        METRICS[f"{_site}_{_level}_misses_per_byte"] = Metric(
            f"{_words} misses in {_site}", "lines / payload byte",
            at_site(_site, f"{_level}_misses"))

X_AXES = {"size": ("Message size", "bytes"), "threads": ("Threads", "number")}


def x_of(record: Record, x: str) -> int:
    """Where a record lies on an x axis."""
    return record.size if x == "size" else record.setting


def is_modelled(record: Record, name: str, end: str) -> bool:
    """Tell whether the value of a metric is an emulator's model, not measured."""
    if not record.modelled or METRICS[name].timed or value_of(record, name, end)[0] is None:
        return False
    if not METRICS[name].of_one_end:
        return name.startswith(tuple(f"{site}_" for site in SITES))
    event = next((event for short, event in EVENT_OF.items() if name.startswith(short)), "")
    # The guest's kernel counts the others.
    return bool(event) and record.counter(ENDS[0] if end == BOTH else end, event) is None


def value_of(record: Record, name: str, end: str) -> Value:
    """The value of a metric in a record; times of an emulated machine are refused."""
    metric = METRICS[name]
    if metric.timed and not record.at("experiment.timing.comparable"):
        return None, record.at("experiment.timing.why") or "its times are not comparable"
    value, why = metric.read(record, end)
    return value, "" if value is not None else why
