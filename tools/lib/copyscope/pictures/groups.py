# SPDX-License-Identifier: GPL-2.0
"""Splits records into groups: no figure mixes paths, kernels, backends, patterns or machines."""
from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from copyscope.records.reply import reply_alone
from copyscope.records.run_record import NO_PROFILE, Record

# Dotted key and the word for it. Two records that differ in one of them are not comparable.
APART = (("experiment.path.kind", "path"), ("machine.kernel", "kernel"),
         ("machine.cpu_model", "CPU"), ("backend.name", "backend"),
         ("experiment.workload.pattern", "pattern"),
         ("experiment.workload.receiver", "receiver"))
# Values that say what they are of; the others need their word before them.
OWN_NAME = {"path", "pattern", "profile", "backend", "times"}


@dataclass
class Group:
    """Records that belong on one page."""

    facts: dict[str, str]
    suffix: str                 # of file names; empty if there is no other group
    records: list[Record] = field(default_factory=list)

    @property
    def watched(self) -> bool:
        """They are processes of watches, and no runs."""
        return self.records[0].watched

    @property
    def where(self) -> str:
        """Short words for titles."""
        if self.watched:
            return "processes that were watched"
        return f"path {self.facts['path']}, pattern {self.facts['pattern']}"

    @property
    def provenance(self) -> str:
        """The first line of a footnote: where and when all this was counted."""
        days = sorted({record.at("started")[:10] for record in self.records})
        span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        runs = "1 run" if len(self.records) == 1 else f"{len(self.records)} runs"
        facts = self.facts
        if self.watched:
            windows = {record.id: record.at("window.seconds") for record in self.records}
            return (f"watched for {sum(windows.values()):.1f} s, books from {facts['receiver']}, "
                    f"kernel {facts['kernel']}, {facts['backend']} backend, {facts['CPU']}, {span}")
        mode = f"{facts['profile']}, " if facts["profile"] else ""
        return (f"{mode}{runs}, path {facts['path']}, pattern {facts['pattern']}, kernel "
                f"{facts['kernel']}, {facts['backend']} backend, {facts['CPU']}, {span}"
                f"{self.receivers}")

    @property
    def receivers(self) -> str:
        """Who receives how, if not all alike."""
        found = {record.label: record.workload("receiver") for record in self.records}
        if len(set(found.values())) < 2:
            return ""
        return "; receivers: " + ", ".join(f"{label} {how}" for label, how in found.items())

    @property
    def pattern_notes(self) -> list[str]:
        """What to know of bytes where both ends send."""
        return ["Pattern rr: of the replies alone; requests are plain sends and are left out"] \
            * (self.facts["pattern"] == "rr")

    @property
    def payload(self) -> str:
        """What copied bytes are divided by."""
        if self.watched:
            return "byte sent or received"
        return "reply byte" if self.facts["pattern"] == "rr" else "payload byte"

    @property
    def probed(self) -> bool:
        """Times and counters are of runs with probes attached."""
        return self.records[0].times.probed

    @property
    def emulated(self) -> bool:
        """True if a processor in software ran any of it."""
        return any(record.at("machine.emulated") for record in self.records)


def facts_of(record: Record) -> dict[str, str]:
    """What records must share to be drawn together, in words."""
    point = record.point
    facts = {"profile": f"{point.profile} {point.mode}"
             if point and point.profile != NO_PROFILE else ""}
    facts |= {word: str(record.at(key)) for key, word in APART}
    facts["times"] = "watched" if record.watched else record.times.kind
    if point:
        # A profile may give each variant its own receiver: that is its experiment.
        facts["receiver"] = ""
    return facts


def slug(words: str) -> str:
    """Words as a piece of a file name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", words).strip("-")


def slugs(names: Iterable[str]) -> dict[str, str]:
    """A piece of a file name for each of some names, no two alike."""
    found: dict[str, str] = {}
    for name in names:
        made, number = slug(name), 1
        while made in found.values():
            number += 1
            made = f"{slug(name)}-{number}"
        found[name] = made
    return found


def piece(word: str, value: str) -> str:
    """One fact as a piece of a file name, with its word unless the value explains itself."""
    return slug(value if word in OWN_NAME else f"{word}-{value}")


def add_suffixes(groups: list[Group]) -> None:
    """Give each group a suffix that tells it from the others, from as few facts as possible."""
    told = [""] * len(groups)
    for word in groups[0].facts if groups else ():
        if len(set(told)) == len(groups):
            break
        values = [group.facts[word] for group in groups]
        # A fact that splits nothing further is left out: one kernel has one CPU and backend.
        if len(set(zip(told, values))) > len(set(told)):
            told = [f"{old}-{piece(word, value)}" if value else old
                    for old, value in zip(told, values)]
    for group, suffix in zip(groups, told):
        group.suffix = suffix


def replies(records: list[Record]) -> list[Record]:
    """Records whose sites are of the replies alone, where there are requests, too."""
    return [reply_alone(record) for record in records]


def part(group: Group, records: list[Record]) -> Group:
    """The same group with these records alone."""
    return replace(group, records=records)


def split(records: list[Record]) -> list[Group]:
    """Groups in the order of their first records."""
    groups: dict[tuple[str, ...], Group] = {}
    for record in records:
        facts = facts_of(record)
        groups.setdefault(tuple(facts.values()), Group(facts, "")).records.append(record)
    add_suffixes(list(groups.values()))
    return list(groups.values())
