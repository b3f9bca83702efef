# SPDX-License-Identifier: GPL-2.0
"""What two sides differ in beside what was counted: machine, kernel, path, pass, workload."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from copyscope.common.tables import named
from copyscope.common.text import memory_text, size_text
from copyscope.records.run_record import Record

from .sides import Match

Read = Callable[[Record], Any]


@dataclass(frozen=True)
class Difference:
    """One fact with the values that each side has."""

    what: str
    first: str
    second: str


def at(key: str) -> Read:
    """What lies at a key of a record."""
    return lambda record: record.at(key)


def memory(record: Record) -> str:
    """Memory of the machine."""
    return memory_text(record.at("machine.memory_bytes"))


def passes(record: Record) -> str:
    """The pass that times are from, and whether probes counted in another one."""
    counted = record.backend != "none"
    return ("timed with probes" if record.times.probed else
            "timed without probes" + ", counted in a pass of its own" * counted)


def length(record: Record) -> str:
    """What was asked for: seconds, or a number of messages."""
    seconds = record.at("workload.seconds")
    return f"{seconds:g} s" if seconds is not None else \
        f"{record.at('workload.messages_asked')} messages"


MACHINE: tuple[tuple[str, Read], ...] = (
    ("machine", at("machine.cpu_model")), ("CPUs", at("machine.cpus")), ("memory", memory),
    ("architecture", at("machine.arch")), ("virtualised", at("machine.virt")),
    ("emulated", at("machine.emulated")), ("kernel", at("machine.kernel")),
)
# In the order in which a difference matters: what decides speed and copies first.
FACTS: tuple[tuple[str, Read], ...] = (
    ("variant", lambda record: named(record.label, record.variant)),
    ("message", lambda record: size_text(record.bytes)),
    ("connections", lambda record: record.connections), *MACHINE,
    ("path", at("path.kind")), ("MTU", at("path.mtu")),
    ("scatter-gather", at("path.scatter_gather")), ("segmentation offload", at("path.tso")),
    ("DMA by a device", at("path.hardware_dma")), ("packet taps", at("path.taps")),
    ("IPv6", at("path.ipv6")), ("netem", at("path.netem")), ("qdisc", at("path.qdisc")),
    ("pass", passes), ("backend", at("backend.name")),
    ("pattern", at("workload.pattern")), ("receiver", at("workload.receiver")),
    ("readers", lambda record: record.readers),
    ("behaviours", lambda record: record.at("workload.behaviours") or "none"),
    ("asked for", length), ("commit", at("tool.commit")),
)
OF_WATCHES: tuple[tuple[str, Read], ...] = (
    ("who", lambda record: record.label),
    ("asked for", lambda record: f"{record.at('subject.kind')} {record.at('subject.asked') or ''}"
     .strip()),
    *MACHINE, ("books", at("books")), ("backend", at("backend.name")),
    ("commit", at("tool.commit")),
)
# What a sweep varies on purpose, and what its points name.
OF_POINTS = ("variant", "message", "connections")


def text(value: Any) -> str:
    """A value as a cell."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def values(records: list[Record], read: Read) -> str:
    """Each different value of a side once."""
    return "; ".join(dict.fromkeys(text(read(record)) for record in records))


def same_name(found: list[Match]) -> list[Difference]:
    """Labels that mean another variant on each side, of sweeps."""
    pairs = {(each.first[0].label, each.first[0].variant, each.second[0].variant)
             for each in found}
    return [Difference(f"what {label} is", *(named(each, each) for each in variants))
            for label, *variants in sorted(pairs) if len(set(variants)) > 1]


def differences(found: list[Match], points: bool) -> list[Difference]:
    """What differs; `points`: sides of several points, which tell these apart themselves."""
    first, second = ([run for each in found for run in runs(each)] for runs in
                     (lambda each: each.first, lambda each: each.second))
    facts = OF_WATCHES if first[0].watched else FACTS
    every = [Difference(what, values(first, read), values(second, read))
             for what, read in facts if not (points and what in OF_POINTS)]
    return [*(same_name(found) if points else ()),
            *(each for each in every if each.first != each.second)]
