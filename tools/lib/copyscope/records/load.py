# SPDX-License-Identifier: GPL-2.0
"""Loads run records from files, folders and the folders of sweeps."""
from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from . import documents
from .check import check, check_complete
from .documents import BadRecord, parse_json, read_json
from .passes import planned
from .run_record import Point, Record
from .watch_record import check_watch, is_watch, watched_of

# Of one plan: more take weeks.
MOST_RUNS = 100_000


def record_of(text: str, source: Path) -> Record:
    """Read the record that a run printed; `source` names it in messages."""
    data = parse_json(text, source)
    check(data, source)
    return Record(data, source)


def load_record(source: Path, point: Point | None = None) -> Record:
    """Load one record."""
    data = read_json(source)
    check(data, source)
    return Record(data, source, point)


def load_run(source: Path) -> list[Record]:
    """Load the record of a run, as a list of it."""
    return [load_record(source)]


def load_any(source: Path) -> list[Record]:
    """Load the record of a run, or the processes of a watch."""
    data = read_json(source)
    if is_watch(data):
        check_watch(data, source)
        return [*watched_of(data, source)]
    check(data, source)
    return [Record(data, source)]


def load_plan(folder: Path) -> dict[str, Any]:
    """Load the plan of a sweep's folder."""
    source, remedy = folder / "plan.json", "run the sweep again into another folder"
    plan = documents.load(source, "plan", remedy)
    documents.by_name(plan["points"], "name", source, "points")
    if len(plan["points"]) * plan["repeats"] > MOST_RUNS:
        raise BadRecord(source, "repeats", f"{len(plan['points'])} points of {plan['repeats']} "
                        f"repeats are more than {MOST_RUNS} runs", remedy)
    return {**plan, "pass": planned(plan)}


def point_of(plan: dict[str, Any], points: dict[str, dict[str, Any]], run: str) -> Point | None:
    """The point that a run is of, by the name of its file; None if the plan has no such run."""
    parts = re.fullmatch(r"(.+)\.r([1-9][0-9]{0,5})", run)
    planned = points.get(parts[1]) if parts else None
    if not parts or not planned or int(parts[2]) > plan["repeats"]:
        return None
    return Point(parts[1], planned["label"], planned["size"], planned["threads"], int(parts[2]),
                 plan["profile"], plan["mode"], plan["settings"]["figures_of"] == "first")


def complete(records: list[Record], leave_out: Callable[[str], None]) -> list[Record]:
    """The complete runs of a folder; `leave_out` gets one line that counts the others."""
    others = [each for each in records if each.incomplete]
    if others:
        leave_out(f"{len(others)} of {len(records)} runs are left out, because they are not "
                  f"complete, such as {others[0].source}: {others[0].incomplete}")
    return [each for each in records if not each.incomplete]


def load_sweep(folder: Path) -> list[Record]:
    """Load the runs of a sweep's folder, each with the point that its plan says it is of."""
    plan = load_plan(folder)
    points = {each["name"]: each for each in plan["points"]}
    return [load_record(run, point_of(plan, points, run.stem))
            for run in sorted((folder / "runs").glob("*.json"))]


def listed(folder: Path) -> list[Path]:
    """The JSON files of a folder, by name; a folder that cannot be read is refused."""
    try:
        return sorted(Path(entry.path) for entry in os.scandir(folder)
                      if entry.name.endswith(".json"))
    except OSError as error:
        raise BadRecord(folder, "folder", error.strerror, "check its permissions") from None


def load_records(sources: Iterable[str | Path], leave_out: Callable[[str], None],
                 load: Callable[[Path], list[Record]] = load_run) -> list[Record]:
    """Load records from files, folders of records and folders of sweeps. A run that is not complete
    is refused if it was named, and left out if its folder was; `leave_out` is told how many. `load`
    makes records of a file."""
    records: list[Record] = []
    for source in map(Path, sources):
        if source.is_dir():
            found = listed(source)
            if source / "plan.json" in found:
                records += complete(load_sweep(source), leave_out)
                continue
            if not found:
                raise BadRecord(source, "*.json", "no record in this folder", "name another")
            records += complete([record for each in found for record in load(each)], leave_out)
        else:
            named = load(source)
            for record in named:
                check_complete(record)
            records += named
    return records
