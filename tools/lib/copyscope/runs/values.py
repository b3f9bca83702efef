# SPDX-License-Identifier: GPL-2.0
"""Computes a report's column or a metric from one record, as that report computed it."""
from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from copyscope.common.tables import SITES
from copyscope.records import modelled as modelling
from copyscope.records.passes import BOTH
from copyscope.records.reply import reply_alone
from copyscope.records.run_record import ENDS, Record

# What is counted in whole numbers: their medians are, too.
COUNTS = ("total_bytes", "total_messages", "cycles", "instructions", "l1_misses", "llc_misses",
          "cache_misses", "context_switches", "page_faults", "connections", "messages",
          "payload_bytes")
EVENTS = {"cycles": "cycles", "instructions": "instructions",
          "l1_misses": "L1-dcache-load-misses", "llc_misses": "LLC-load-misses",
          "cache_misses": "cache-misses", "context_switches": "context-switches",
          "page_faults": "page-faults", "task_clock_ns": "task-clock"}
# What probes count: of replies alone, where there are requests.
SITE_SHARES = {f"{site}_bytes_per_payload_byte": site for site in SITES}
COUNTED = (*SITE_SHARES, "clean_bytes_per_payload_byte", "pinned_pages_per_message",
           "completions_per_message")
Number = float | int | None


# Of an emulated machine they mean nothing.
TIMES = ("throughput_gbps", "throughput_mbps", "latency_us", "duration_s")


def total_bytes(record: Record, settings: dict[str, Any]) -> Number:
    """Payload that the studied sender's peer received: one direction, of one client or all."""
    if settings["figures_of"] == "first":
        first = record.times.first_client
        return first["received_bytes"] if first else None
    if record.experiment["workload"]["pattern"] == "rr":
        messages = record.times.messages
        return None if messages is None else messages * record.bytes
    return record.times.received_bytes


def total_messages(record: Record, settings: dict[str, Any]) -> Number:
    """Whole messages, of one client or all."""
    if settings["figures_of"] == "first":
        first = record.times.first_client
        return first["messages"] if first else None
    return record.times.messages


def duration_s(record: Record, settings: dict[str, Any]) -> Number:
    """Seconds that a throughput is over: as measured, or as asked for."""
    return record.asked_s if settings["throughput_is"] == "nominal" \
        else record.elapsed_s


def throughput_gbps(record: Record, settings: dict[str, Any]) -> Number:
    """Gigabits of payload a second, one direction."""
    moved, seconds = total_bytes(record, settings), duration_s(record, settings)
    return None if moved is None or not seconds else moved * 8e-9 / seconds


def latency_us(record: Record, settings: dict[str, Any]) -> Number:
    """Mean latency; or what a report printed in its place, which was never measured."""
    if settings["latency_is"] == "measured":
        return record.latency_us("mean")
    gbps = throughput_gbps(record, settings)
    return record.size * 8e-3 / gbps if gbps else None


def counter(record: Record, end: str, event: str, modelled: bool = False) -> Number:
    """An event at one end, or at both together; measured, or modelled."""
    read = record.modelled_counter if modelled else record.counter
    values = [read(each, event) for each in (ENDS if end == "both" else (end,))]
    return None if None in values else sum(value for value in values if value is not None)


def counted(record: Record, what: str) -> Number:
    """A column of COUNTED. Clean bytes were sent by reference, and a device took them as pages."""
    reply = reply_alone(record)
    if what in SITE_SHARES:
        return reply.site_per_byte(SITE_SHARES[what])
    if what == "clean_bytes_per_payload_byte":
        return per(None if record.backend == "none" else record.at("counts.clean_bytes"),
                   reply.payload_bytes)
    pages, read = record.pinned_pages, record.workload("completions")
    return per(pages if what == "pinned_pages_per_message" else read, record.messages)


def column(record: Record, settings: dict[str, Any], what: str,
           modelled: bool = False) -> str | Number:
    """Value of a column of profile.COLUMNS; None if it was not measured or, if that is asked for,
    not modelled: then it is of a message. An emulated machine has no times."""
    if what in TIMES and record.at("machine.emulated"):
        return None
    if what in EVENTS and not modelled:
        return counter(record, settings["end"], EVENTS[what])
    if what in EVENTS:
        # Such a run has a number of messages that its size decides.
        return per(counter(record, settings["end"], EVENTS[what], True), record.times.messages)
    if what == "throughput_mbps":
        gbps = throughput_gbps(record, settings)
        return None if gbps is None else gbps * 1000
    if what in COUNTED:
        return counted(record, what)
    if what in ("label", "size", "threads"):
        return {"label": record.label, "size": record.size, "threads": record.setting}[what]
    return {"throughput_gbps": throughput_gbps, "latency_us": latency_us,
            "total_bytes": total_bytes, "total_messages": total_messages,
            "duration_s": duration_s}[what](record, settings)


def modelled_columns(whats: Iterable[str], settings: dict[str, Any],
                     records: Collection[Record]) -> set[str]:
    """Columns of which nothing was measured and something was modelled: no column has both."""
    def any_value(what: str, modelled: bool) -> bool:
        return any(column(each, settings, what, modelled) is not None for each in records)
    return {what for what in whats
            if what in EVENTS and not any_value(what, False) and any_value(what, True)}


def per(value: Number, by: Number) -> Number:
    """Divide where both are known."""
    return value / by if value is not None and by else None


def metrics(record: Record, settings: dict[str, Any]) -> dict[str, Number]:
    """Return the numbers of a run that repeats are summed up by; units are in the names."""
    payload, messages = record.payload_bytes, record.messages
    found: dict[str, Number] = {
        "throughput_gbps": throughput_gbps(record, settings),
        "latency_mean_us": latency_us(record, settings),
        "latency_p50_us": record.latency_us("p50"), "latency_p99_us": record.latency_us("p99"),
        "connections": record.connections, "messages": messages, "payload_bytes": payload}
    for site in SITES:
        found[f"{site}_bytes_per_payload_byte"] = record.site_per_byte(site)
    found["send_calls_per_message"] = per(record.calls("send"), messages)
    found["pinned_pages_per_message"] = per(record.pinned_pages, messages)
    found["completions_per_message"] = per(record.workload("completions"), messages)
    for end in ENDS:
        for name, event in EVENTS.items():
            found[f"{end}_{name}_per_message"] = per(record.counter(end, event),
                                                     record.times.messages)
        found[f"{end}_cycles_per_payload_byte"] = per(record.counter(end, "cycles"),
                                                      record.times.received_bytes)
    found["overhead_share"] = record.at("overhead.share")
    found["overhead_throughput_ratio"] = record.at("overhead.throughput_ratio")
    return found


MODELLED = {name: event for name, event in EVENTS.items() if event in modelling.EVENTS}


def modelled_metrics(record: Record) -> dict[str, Number]:
    """The numbers of a run that an emulator's plugin counted."""
    messages, payload = record.times.messages, record.times.received_bytes
    found: dict[str, Number] = {}
    for end in ENDS:
        for name, event in MODELLED.items():
            found[f"{end}_{name}_per_message_modelled"] = per(record.modelled_counter(end, event),
                                                              messages)
    for site in modelling.SITES if record.modelled else ():
        for count in ("instructions", *(f"{level}_misses" for level in modelling.LEVELS)):
            found[f"{site}_{count}_per_payload_byte_modelled"] = \
                per(record.modelled.site(site, count), payload)  # type: ignore[union-attr]
    return found


def from_pass(record: Record, metric: str) -> str:
    """The pass of a run that a metric is from."""
    if metric == "overhead_throughput_ratio":
        return BOTH
    timed = metric.startswith(("throughput", "latency", *ENDS)) or metric.endswith("_modelled")
    return record.times.kind if timed else record.counts_kind
