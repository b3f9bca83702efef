# SPDX-License-Identifier: GPL-2.0
"""One line for each record that is kept: what it is of, and what came of it."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from copyscope.common.errors import Unusable, shown
from copyscope.common.text import bytes_text, laid_out, rate_text, size_text
from copyscope.records.check import check
from copyscope.records.documents import read_json
from copyscope.records.kept import name_of
from copyscope.records.load import load_plan
from copyscope.records.older import SCHEMA
from copyscope.records.run_record import Record
from copyscope.records.watch_record import check_watch, is_watch
from copyscope.report.rows import rows_of

HEAD = ("ID", "what", "result")


def run_cells(record: Record) -> tuple[str, str]:
    """What a run sent where, and how fast; or why it tells nothing."""
    what = f"{record.variant}, {size_text(record.bytes)} x {record.threads}, {record.path}"
    broken = record.broken_laws()
    if record.incomplete:
        return what, record.incomplete.partition(":")[0]
    if broken:
        return what, f"{len(broken)} law{'s' * (len(broken) > 1)} broken"
    gbps = record.times.throughput_gbps
    if gbps is None or not record.at("experiment.timing.comparable"):
        return what, "counted"
    return what, rate_text(gbps) + ", with probes" * record.times.probed


def watch_cells(data: dict[str, Any]) -> tuple[str, str]:
    """Which services were watched, those that copied most first, and what they moved."""
    names = [row.name for row in rows_of(data, "service")] or \
        [each["process"] for each in data["verdicts"]]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    counts = data["total"]["counts"]
    sent, received = (None if value is None else bytes_text(value) for value in
                      (counts["accepted_bytes"], counts["returned_bytes"]))
    return (f"watch: {names[0]}{more}" if names else "watch: nobody",
            f"sent {sent or 'not measured'}, received {received or 'not measured'}")


def sweep_cells(folder: Path) -> tuple[str, str]:
    """What a sweep is of, and how many of its runs are there."""
    plan = load_plan(folder)
    there = sum(each.name.endswith(".json") for each in (folder / "runs").glob("*.json"))
    return f"sweep: {plan['title']}", f"{there} of {len(plan['points']) * plan['repeats']} runs"


def cells(path: Path) -> tuple[str, str]:
    """What one of them is of, and what came of it."""
    if path.is_dir():
        return sweep_cells(path)
    data = read_json(path)
    schema = data.get("schema") if isinstance(data, dict) else None
    if is_watch(data):
        check_watch(data, path)
        return watch_cells(data)
    if schema == SCHEMA:
        check(data, path)
        return run_cells(Record(data, path))
    return str(schema or "no record").removeprefix("copyscope.").partition("/")[0], ""


def row(path: Path) -> tuple[str, str, str]:
    """One line; of a file that cannot be used, why."""
    try:
        return (name_of(path), *cells(path))
    except Unusable as error:
        return name_of(path), "cannot be read", shown(str(error).removeprefix(f"{path}: "), 60)


def lines(paths: list[Path]) -> list[str]:
    """The whole list."""
    return laid_out([HEAD, *map(row, paths)])
