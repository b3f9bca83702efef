# SPDX-License-Identifier: GPL-2.0
"""Reads throughput and latency as the sweep's tables do, so that figures and tables agree."""
from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from copyscope.records.load import load_plan
from copyscope.records.run_record import Record
from copyscope.runs import values


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
