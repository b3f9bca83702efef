# SPDX-License-Identifier: GPL-2.0
"""Says which pass of a run its times, latencies and counters are from. All readers ask here."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import modelled
from .modelled import Modelled

# A pass without probes, and one with: what a number of a time is from.
TIMED, COUNTED = "timed", "counted"
PASSES = (TIMED, COUNTED)
BOTH = "both"
# What people are told of times, and of counters, from a pass with probes.
PROBED = "Timed with probes attached, which slow each variant by another share: ratios between " \
         "variants are artefacts"
PROBED_COUNTERS = "Counted by the processor and the kernel with probes attached, whose work is " \
                  "included"


@dataclass(frozen=True)
class Pass:
    """What one pass of a run measured of itself."""

    kind: str                           # timed or counted
    elapsed_ns: int | None
    messages: int | None
    received_bytes: int | None
    throughput_gbps: float | None
    latency_us: dict[str, Any] | None
    counters: dict[str, Any]
    first_client: dict[str, Any] | None     # messages, received_bytes, latency_mean_us
    asked_s: float | None               # None: a number of messages was asked for
    others_share: float | None          # of all CPUs' time, that other programs used in its window
    stolen_share: float | None          # that the hypervisor took
    modelled: Modelled | None = None    # what the plugin of an emulator counted
    modelled_data: dict[str, Any] | None = None     # the same as the record has it, or why not
    receiver_bytes: int | None = None   # of received_bytes; older records do not say

    @property
    def probed(self) -> bool:
        """Probes were attached."""
        return self.kind == COUNTED


def planned(plan: dict[str, Any]) -> str:
    """The passes of a plan's runs. Older plans do not say: there each run had one."""
    return plan.get("pass") or (COUNTED if plan["settings"].get("probes", True) else TIMED)


def made(data: dict[str, Any], kind: str) -> dict[str, Any] | None:
    """A pass of a record; None if it was not made, or if the record is of version 1."""
    return (data["experiment"].get("passes") or {}).get(kind)


def shared_s(data: dict[str, Any]) -> float | None:
    """Seconds of each pass of a record that does not say: both had the same."""
    seconds = data["experiment"]["workload"].get("seconds")
    return None if seconds is None else \
        seconds / (sum(made(data, kind) is not None for kind in PASSES) or 1)


def counts_of(data: dict[str, Any]) -> Pass:
    """The pass that the sites and the books of each socket are from."""
    return of(data, COUNTED) or alone(data)


def times_of(data: dict[str, Any]) -> Pass:
    """The pass that times are from: the one without probes, if it was made, as timing.pass has
    it."""
    return of(data, TIMED) or counts_of(data)


def of(data: dict[str, Any], kind: str) -> Pass | None:
    """A pass as readers see it."""
    found = made(data, kind)
    return None if found is None else Pass(
        kind, found["elapsed_ns"], found["messages"], found["received_bytes"],
        found["throughput_gbps"], found["latency_us"], found["counters"], found["first_client"],
        found.get("asked_s", shared_s(data)), *shares_of(found), modelled.of(found),
        found.get("modelled"), found.get("receiver_bytes"))


def alone(data: dict[str, Any]) -> Pass:
    """The only pass of a record of version 1: probes were attached unless there was no backend."""
    experiment = data["experiment"]
    timing, work = experiment["timing"], experiment["workload"]
    kind = TIMED if data["backend"]["name"] == "none" else COUNTED
    return Pass(kind, timing["elapsed_ns"], work["messages"], work["received_bytes"],
                timing["throughput_gbps"], timing["latency_us"], experiment["counters"],
                first_of(data["sockets"]), work.get("seconds"), None, None)


def shares_of(found: dict[str, Any]) -> tuple[float | None, float | None]:
    """Who else used the CPUs, and what was stolen; older records do not say."""
    shares = found.get("cpu_shares") or {}
    return shares.get("others"), shares.get("stolen")


def first_of(sockets: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The client that connected first, by the books of its socket."""
    for each in sockets:
        if (each.get("end"), each.get("connection")) == ("receiver", 1):
            return {"messages": each["messages"], "latency_mean_us": each["latency_mean_us"],
                    "received_bytes": each["counts"]["returned_bytes"]}
    return None
