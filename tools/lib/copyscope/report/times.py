# SPDX-License-Identifier: GPL-2.0
"""Throughput, latency and counters of a run, of the pass without probes if it was made."""
from __future__ import annotations

from copyscope.common.text import rate_text
from copyscope.records import passes
from copyscope.records.run_record import ENDS, Record

from .look import Look
from .page import heads, labelled

CLOCK = "task-clock"


def note(record: Record) -> str:
    """Of which pass times are, and what they are worth."""
    if record.at("machine.instruction_clock"):
        return "this emulated machine's clock counts instructions, 1 ns each: no speed"
    if record.at("machine.emulated") or record.at("experiment.peer.machine.emulated"):
        return "times of an emulated machine mean nothing; counts are exact"
    if record.times.probed:
        return "with probes attached: compare only with runs like it"
    both = all(passes.made(record.data, kind) for kind in passes.PASSES)
    return "of a pass of its own, without probes; counters, too" if both else "without probes"


def moved_bytes(record: Record) -> int:
    """What the receiver received."""
    times = record.times
    if times.receiver_bytes is not None:
        return times.receiver_bytes
    # Older records have the sum of both ends, which both receive where there are replies.
    return (times.received_bytes if record.workload("pattern") != "rr" else
            (times.messages or 0) * record.bytes) or 0


def throughput(record: Record, look: Look) -> str:
    """17.4 Gbit/s: 5.59 GB in 2.57 s. The passes of a run of some seconds have as many messages as
    they managed: 5.59 GB, 85,297 messages, in 2.57 s"""
    times, gbps = record.times, record.times.throughput_gbps or 0
    rate = f"{gbps:.6f} Gbit/s" if look.exact else rate_text(gbps)
    count = f", {times.messages or 0:,} messages," if times.messages != record.messages else ""
    return f"{rate}: {look.amount_in_words(moved_bytes(record))}{count} in " \
           f"{look.elapsed(times.elapsed_ns or 0)}"


def lines(record: Record, look: Look) -> list[str]:
    """Throughput and latency."""
    found = record.times.latency_us
    if not record.times.elapsed_ns:
        return []
    said = ["", *labelled("throughput", throughput(record, look))]
    if found:
        mean, p50, p99 = (look.moment(found[each]) for each in ("mean", "p50", "p99"))
        said += labelled("latency", f"mean {mean}, p50 {p50}, p99 {p99} ({found['what']})")
    return said + labelled("", note(record))


def scaled(record: Record, end: str, event: str) -> bool:
    """Whether a number was scaled up."""
    return bool(record.times.counters[end][event].get("scaled"))


def as_number(value: float | None) -> str:
    """A count, with all its digits."""
    return "not measured" if value is None else f"{value:,.0f}"


def counter(record: Record, end: str, event: str, look: Look) -> str:
    """What one end counted of an event."""
    value = record.counter(end, event)
    number = look.elapsed(value) if event == CLOCK and value is not None else as_number(value)
    return f"{number:>17}{'*' if value is not None and scaled(record, end, event) else ' '}"


def by_core(record: Record, event: str) -> list[str]:
    """What each kind of core counted, of a processor with several."""
    of_ends = [{each["pmu"]: each["value"] for each in
                record.times.counters[end][event].get("parts") or ()} for end in ENDS]
    return ["  ".join([f"  {pmu:19}", *(f"{as_number(of.get(pmu)):>17}" for of in of_ends)])
            for pmu in dict.fromkeys((*of_ends[0], *of_ends[1]))]


def counters(record: Record, look: Look) -> list[str]:
    """Events of both ends; what neither has is told at the end of the report."""
    events = [event for event in record.times.counters[ENDS[0]]
              if any(record.counter(end, event) is not None for end in ENDS)]
    if not events:
        return []
    said = ["", *heads(f"{'counters':22} {'sender':>17}  {'receiver':>17}")]
    for event in events:
        both = " ".join(counter(record, end, event, look) for end in ENDS)
        said += [f"{event:22} {both}".rstrip(), *by_core(record, event)]
    if any(scaled(record, end, event) for end in ENDS for event in events):
        said.append("  * shared its hardware counter with others: scaled up")
    return said
