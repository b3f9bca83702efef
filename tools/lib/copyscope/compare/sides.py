# SPDX-License-Identifier: GPL-2.0
"""Two sides of a comparison: the runs of each, by what was sent how, and which belong together."""
from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from copyscope.common.errors import Unusable
from copyscope.common.text import size_text
from copyscope.records.check import check
from copyscope.records.documents import read_json
from copyscope.records.kept import find
from copyscope.records.load import load_records
from copyscope.records.run_record import Record
from copyscope.records.watch_record import check_watch, is_watch, whole_of

# Label, bytes of a message and number of threads, as a sweep means them.
Key = tuple[str, int, int]


@dataclass(frozen=True)
class Side:
    """One record, several, one folder of them or one sweep."""

    source: str
    records: list[Record]

    @property
    def watched(self) -> bool:
        """It is a watch, and no run."""
        return self.records[0].watched

    @property
    def points(self) -> dict[Key, list[Record]]:
        """The runs of each point, in the order of its first run's size and threads."""
        if self.watched:
            return {(self.records[0].label, 0, 0): self.records}
        found: dict[Key, list[Record]] = {}
        for record in sorted(self.records, key=lambda each: (each.size, each.setting)):
            found.setdefault((record.label, record.size, record.setting), []).append(record)
        return found


@dataclass(frozen=True)
class Match:
    """The runs of both sides that are compared with each other."""

    first: list[Record]
    second: list[Record]

    @property
    def name(self) -> str:
        """The point that both are of, in sweeps."""
        return point_text(self.first[0])


def by_time(runs: list[Record]) -> list[Record]:
    """Runs in the order in which they began; an ID has milliseconds."""
    return sorted(runs, key=lambda each: (each.at("started"), each.id))


def in_turns(match: Match) -> tuple[list[Record], list[Record]] | None:
    """The runs of both sides as couples, if each couple began before the next one: what changed
    slowly on the machine changed for both. None: they were not made so, or are one of each."""
    first, second = by_time(match.first), by_time(match.second)
    if len(first) != len(second) or len(first) < 2:
        return None
    spans = [by_time(list(couple)) for couple in zip(first, second)]
    ends = [(before[1], after[0]) for before, after in zip(spans, spans[1:])]
    apart = all((a.at("started"), a.id) < (b.at("started"), b.id) for a, b in ends)
    return (first, second) if apart else None


def point_text(record: Record) -> str:
    """The point that a run is of: "A3, 64 KiB, 4 threads"; who was watched."""
    if record.watched:
        return record.label
    threads = f"{record.setting} thread" + "s" * (record.setting != 1)
    return f"{record.label}, {size_text(record.size)}, {threads}"


def run_or_watch(path: Path) -> list[Record]:
    """The record of a run, or all of a watch together."""
    data = read_json(path)
    if is_watch(data):
        check_watch(data, path)
        return [whole_of(data, path)]
    check(data, path)
    return [Record(data, path)]


def paths_of(source: str) -> list[Path]:
    """What a side names: a path or an ID, or several, parted by commas."""
    names = [source] if os.path.exists(source) else source.split(",")
    return [find(name) for name in names]


def load(source: str, leave_out: Callable[[str], None]) -> Side:
    """Load one side: runs alone, or watches alone."""
    records = load_records(paths_of(source), leave_out, run_or_watch)
    if not records:
        raise Unusable(f"{source}: no complete run in it: name another")
    if len({each.watched for each in records}) > 1:
        raise Unusable(f"{source}: it has runs and watches: name records of a kind")
    return Side(source, records)


def matched(first: Side, second: Side) -> list[Match]:
    """The points that both sides have; if each has one alone, these two, whatever they are."""
    if first.watched != second.watched:
        raise Unusable(f"{first.source} and {second.source}: one is of a watch, the other of runs: "
                       "name two of a kind")
    mine, others = first.points, second.points
    if len(mine) == len(others) == 1:
        return [Match(*mine.values(), *others.values())]
    found = [Match(runs, others[key]) for key, runs in mine.items() if key in others]
    if not found:
        raise Unusable(f"{first.source} and {second.source}: no variant, size and number of "
                       "threads is in both: name two that share some")
    return found


def only_in(mine: Side, other: Side) -> list[str]:
    """The points of one side that the other lacks."""
    if len(mine.points) == len(other.points) == 1:
        return []
    return [point_text(runs[0]) for key, runs in mine.points.items() if key not in other.points]
