# SPDX-License-Identifier: GPL-2.0
"""What calls of a run cost (--cost), and what looking at it cost."""
from __future__ import annotations

from typing import Any

from copyscope.records.run_record import Record

from .page import LABEL, folded, heads, labelled, plural

# As bpf/include/sites.h has them, but for the call of nothing.
CALLS = ("send_call", "tx_reference", "late_copy", "reshape", "recv_call", "rx_copy")
Cost = dict[str, Any]


def cost_of(record: Record, name: str) -> Cost:
    """What the record has of a function."""
    return record.at(f"cost.{name}") or record.at(f"sites.{name}.cost") or {}


def number(value: float | None, width: int) -> str:
    """A whole number, halves up; a dash for one that is not known."""
    return f" {'-' if value is None else f'{int(value + 0.5):,}':>{width}}"


def each_call(found: Cost, event: str) -> float | None:
    """An event of one call."""
    value = found[event]["value"]
    return None if value is None else value / found["calls"]


def row(name: str, found: Cost) -> list[str]:
    """One function."""
    calls = found["calls"]
    first = f"{name:14}{number(calls or 0, 10)}{number(left_out(found), 8)}"
    if calls is None:
        return [first, *folded("  not measured: ", found["why"] or "", 4)]
    first += number(found["time_ns"] / calls, 10) + number(each_call(found, "cycles"), 12) + \
        number(each_call(found, "instructions"), 11)
    instructions = found["instructions"]["value"]
    if instructions is not None and found["bytes"]:
        first += f" {instructions / found['bytes']:>8.3f}"
    return [first]


def left_out(found: Cost) -> int:
    """Its calls that are in no row."""
    return found["moved_calls"] + found["slept_calls"]


def own(found: Cost) -> str:
    """What a call of nothing takes."""
    if found["least_ns"] is None:
        return f"the cost of the probes themselves was not measured: {found['why']}"
    instructions = found["instructions"]["value"]
    beside = "" if instructions is None else f", {instructions} instructions"
    return f"of which the probes themselves take about {found['least_ns']} ns{beside} a call; " \
           "calls lie inside each other"


def calls(record: Record) -> list[str]:
    """A row for each function that was called."""
    asked = record.at("cost")
    if not asked:
        return []
    if asked["why"]:
        return ["", *folded("cost of calls  not measured: ", asked["why"], LABEL)]
    found = {name: each for name in CALLS if (each := cost_of(record, name))}
    said = ["", *heads(f"{'cost of calls':14} {'calls':>10} {'left out':>8} {'ns/call':>10} "
                       f"{'cycles/call':>12} {'instr./call':>11} {'per byte':>8}")]
    for name, each in found.items():
        said += row(name, each) if each["calls"] or left_out(each) else []
    said += folded("  ", own(asked["probes_themselves"]), 2)
    slept, moved = (sum(each[key] for each in found.values())
                    for key in ("slept_calls", "moved_calls"))
    if slept or moved:
        said.append(f"  left out: {slept} calls that slept, {moved} that changed the CPU")
    return said + (folded("  ", asked["time_note"], 2) if asked["time_note"] else [])


def on_host(label: str, found: Cost, cpus: int) -> list[str]:
    """What it cost on one host."""
    parts = []
    if found.get("throughput_ratio"):
        parts.append(f"throughput with probes {found['throughput_ratio']:.2f} of that without")
    if found.get("share") is not None:
        parts.append(f"{found['events']:,} events, {found['ns_per_event'] or 0:.0f} ns each, "
                     f"{100 * found['share']:.1f} % of the time of {plural(cpus, 'CPU')}")
    return labelled(label, "; ".join(parts)) if parts else []


def overhead(record: Record) -> list[str]:
    """What it cost on each host."""
    here = on_host("overhead", record.at("overhead") or {}, record.at("machine.cpus"))
    far = on_host("  at receiver", record.at("experiment.peer.overhead") or {},
                  record.at("experiment.peer.machine.cpus"))
    return [*([""] if here else []), *here, *far]
