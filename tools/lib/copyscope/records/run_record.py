# SPDX-License-Identifier: GPL-2.0
"""Answers questions about a run record: None is always "not measured", never 0."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from . import passes
from .modelled import Modelled

EVENTS = ("cycles", "instructions", "L1-dcache-load-misses", "LLC-load-misses",
          "cache-misses", "context-switches", "page-faults", "task-clock")
# Records older than the event lack it.
LATER_EVENTS = ("cache-misses",)
ENDS = ("sender", "receiver")
OLDER_THAN_EVENT = {"value": None, "why": "the record is older than this event"}

# What the plan of a sweep without a profile names in its place.
NO_PROFILE = "none"


@dataclass(frozen=True)
class Point:
    """What a sweep meant by a run: names and numbers as its profile has them."""

    name: str        # "A3_4096B_8T", unique in the sweep
    label: str       # the report's name of the implementation
    size: int        # the report's size column, even where other sizes were sent
    threads: int     # the report's thread column, even where it opened one connection
    repeat: int      # from 1
    profile: str
    mode: str        # as-published or corrected
    first_client: bool = False  # figures of the first connection alone


class Record:
    """One run record; `data` is the JSON document itself."""

    # True of a process that was watched: it has no variant, no messages and no times.
    watched = False

    def __init__(self, data: dict[str, Any], source: Path, point: Point | None = None) -> None:
        self.data = data
        self.source = source
        self.point = point

    def __repr__(self) -> str:
        return f"Record({self.source})"

    def at(self, key: str) -> Any:
        """Return what lies at a dotted key, such as machine.kernel; None if nothing does."""
        value: Any = self.data
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        return value

    @property
    def experiment(self) -> dict[str, Any]:
        """What was arranged, and what its two ends say of it."""
        return self.data["experiment"]

    def workload(self, key: str) -> Any:
        """What was asked of the workload, or what it says that it did; None if it does not say."""
        return self.experiment["workload"].get(key)

    # What was run
    @property
    def id(self) -> str:
        """Name of the run."""
        return self.data["id"]

    @property
    def variant(self) -> str:
        """How it was sent: A1 ... A3-reuse."""
        return self.experiment["workload"]["variant"]

    @property
    def bytes(self) -> int:
        """Bytes of one message as they were sent."""
        return self.experiment["workload"]["bytes"]

    @property
    def threads(self) -> int:
        """Connections asked for."""
        return self.experiment["workload"]["threads"]

    @property
    def connections(self) -> int | None:
        """Connections that were open."""
        return self.experiment["workload"]["connections"]

    @property
    def readers(self) -> int:
        """Threads that read one socket together; 1 in records older than the key."""
        return self.experiment["workload"].get("readers") or 1

    @property
    def messages(self) -> int | None:
        """Whole messages that arrived."""
        return self.experiment["workload"]["messages"]

    @property
    def path(self) -> str:
        """What lay between the sockets: lo, veth, ..."""
        return self.experiment["path"]["kind"]

    @property
    def kernel(self) -> str:
        """Release of the kernel."""
        return self.data["machine"]["kernel"]

    @property
    def backend(self) -> str:
        """How the kernel was observed: trampoline, tracepoint or none."""
        return self.data["backend"]["name"]

    # What a sweep meant by it; for a lone run, what was run
    @property
    def label(self) -> str:
        """The report's name of the implementation."""
        return self.point.label if self.point else self.variant

    @property
    def size(self) -> int:
        """The report's message size."""
        return self.point.size if self.point else self.bytes

    @property
    def setting(self) -> int:
        """The report's number of threads."""
        return self.point.threads if self.point else self.threads

    # What was counted
    @property
    def payload_bytes(self) -> int | None:
        """Bytes that the receiving process got from recv: what "per payload byte" divides by."""
        return self.experiment["workload"]["received_bytes"]

    def site(self, site: str) -> dict[str, Any]:
        """What the record has on a site."""
        return self.data["sites"][site]

    def site_bytes(self, site: str) -> int | None:
        """Bytes that passed a site."""
        return self.site(site)["bytes"]

    def site_how(self, site: str) -> str:
        """How the bytes of a site are known: measured, derived or not_measured."""
        return self.site(site)["how"]

    def site_why(self, site: str) -> str | None:
        """Why a site is not measured, or how it is derived."""
        return self.site(site).get("why")

    def site_per_byte(self, site: str) -> float | None:
        """Bytes that passed a site, per payload byte."""
        passed = self.site_bytes(site)
        return None if passed is None or not self.payload_bytes else passed / self.payload_bytes

    def broken_laws(self) -> list[str]:
        """Names of the laws that do not balance."""
        return [each["law"] for each in self.data["laws"] if each["status"] == "broken"]

    @property
    def kept_sentence(self) -> str:
        """The verdict in words, which records of version 3 and before have; "" of others."""
        found = self.experiment.get("verdict")
        return str(found.get("sentence") or "") if isinstance(found, dict) else str(found or "")

    @property
    def incomplete(self) -> str:
        """Why the run is not complete, "" if it is. Older records have no outcome; there, an end
        that was killed left no totals."""
        outcome = self.experiment.get("outcome")
        if not outcome:
            work = self.experiment["workload"]
            lost = [end for end, key in zip(ENDS, ("accepted_bytes", "received_bytes"))
                    if work[key] is None]
            return f"failed: the {lost[0]} left no totals" if lost else ""
        if outcome["status"] == "complete":
            return ""
        return f"{outcome['status']}: {outcome['reason'] or 'no reason is given'}"

    # What was timed: all of it is of one pass
    @cached_property
    def times(self) -> passes.Pass:
        """The pass that times and counters are from."""
        return passes.times_of(self.data)

    @property
    def counts_kind(self) -> str:
        """The pass that sites and calls are from."""
        return passes.counts_of(self.data).kind

    def counter(self, end: str, event: str) -> float | None:
        """Value of a processor or kernel event at one end, sender or receiver."""
        return self.times.counters[end].get(event, OLDER_THAN_EVENT)["value"]

    def counter_why(self, end: str, event: str) -> str | None:
        """Why an event was not measured."""
        return self.times.counters[end].get(event, OLDER_THAN_EVENT).get("why")

    @property
    def modelled(self) -> Modelled | None:
        """What the plugin of an emulator counted, in the pass that times are from."""
        return self.times.modelled

    def modelled_counter(self, end: str, event: str) -> int | None:
        """An event at one end in a model, where it was not measured."""
        measured = self.counter(end, event) is not None
        return self.modelled.counter(end, event) if self.modelled and not measured else None

    @property
    def throughput_gbps(self) -> float | None:
        """Gigabits of payload a second that the receiver got; of one client if so meant."""
        if self.point and self.point.first_client:
            return self.first_client_gbps
        return self.times.throughput_gbps

    @property
    def first_client_gbps(self) -> float | None:
        """Gigabits a second that the receiver got of the client that connected first."""
        first, elapsed_s = self.times.first_client, self.elapsed_s
        return first["received_bytes"] * 8e-9 / elapsed_s if first and elapsed_s else None

    @property
    def elapsed_s(self) -> float | None:
        """Seconds that the receiver received for."""
        elapsed_ns = self.times.elapsed_ns
        return None if elapsed_ns is None else elapsed_ns / 1e9

    @property
    def asked_s(self) -> float | None:
        """Seconds that were asked for, of the pass that times are from."""
        return self.times.asked_s

    @property
    def message_ns(self) -> float | None:
        """Time of one whole message by the receiver's clock."""
        elapsed_ns, messages = self.times.elapsed_ns, self.times.messages
        return elapsed_ns / messages if elapsed_ns and messages else None

    def latency_us(self, which: str = "mean") -> float | None:
        """Latency in microseconds: mean, p50 or p99; of one client if so meant (mean only)."""
        if self.point and self.point.first_client:
            first = self.times.first_client if which == "mean" else None
            return first["latency_mean_us"] if first else None
        latency = self.times.latency_us
        return None if latency is None else latency[which]

    @property
    def latency_what(self) -> str | None:
        """What the latency is of: a round trip, or the interval between whole messages."""
        latency = self.times.latency_us
        return None if latency is None else latency["what"]

    def calls(self, which: str) -> int | None:
        """Calls that hooks saw, send or recv; None, and not 0, if there were no hooks."""
        return None if self.backend == "none" else self.at(f"counts.{which}_calls")

    @property
    def pinned_pages(self) -> int | None:
        """Page references taken for zero copy."""
        return self.data["pins"]["pages"]

    def sockets(self, end: str) -> list[dict[str, Any]]:
        """Return the books of each socket at one end, in the order they connected."""
        mine = [each for each in self.data["sockets"] if each.get("end") == end]
        return sorted(mine, key=lambda each: each.get("connection") or 0)
