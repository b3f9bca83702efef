# SPDX-License-Identifier: GPL-2.0
"""Keeps what a run found in a folder: records, table, mistakes, agreement, and where it is from."""
from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from copyscope.common.text import csv_text, memory_text
from copyscope.files.output_folder import OutputFolder, has_line

from . import agree, mistakes
from .records import PUBLISHED, Baseline

PROVENANCE, TITLE = "PROVENANCE.md", "# The machine baseline"
COLUMNS = ("row", "title", "unit", "in_summary", "status", "hardware", "software", "prediction",
           "measured", "low", "high", "sd", "runs_trimmed_mean", "runs_trimmed_sd", "warm_ups",
           "runs", "rounds", "calls", "published", "published_untrimmed", "why")


def cells(row: dict[str, Any]) -> dict[str, Any]:
    """One row of the table: empty where nothing was measured."""
    measured, estimate = row["measured"] or {}, row["estimate"]
    published = PUBLISHED["rows"].get(row["row"])
    return {**{key: row[key] for key in ("row", "title", "unit", "in_summary", "status", "why")},
            **{key: estimate[key] for key in ("hardware", "software", "prediction")},
            **{key: measured.get(key) for key in (
                "low", "high", "sd", "runs_trimmed_mean", "runs_trimmed_sd", "warm_ups", "runs",
                "rounds", "calls")},
            "measured": measured.get("value"), "published": published and published[2],
            "published_untrimmed": PUBLISHED["untrimmed"].get(row["row"], [None])[0]}


def table(record: Baseline) -> str:
    """All rows as CSV."""
    found = map(cells, record.rows.values())
    return csv_text(COLUMNS, ([row[column] for column in COLUMNS] for row in found))


def from_where(number: int, record: Baseline) -> list[str]:
    """The origin of a record, as lines of a list."""
    data = record.data
    machine, protocol = data["machine"], data["protocol"]
    rows = list(record.rows.values())
    valid = sum(row["status"] == "valid" for row in rows)
    return [
        f"## record-{number}.json", "",
        f"- command: `{shlex.join(['tools/baseline', *data['command'][1:]])}`",
        f"- commit: {data['tool']['commit']}",
        f"- kernel: {machine['kernel']}",
        f"- machine: {machine['cpu_model']}, {machine['cpus']} CPUs, "
        f"{memory_text(machine['memory']['bytes'])}, {machine['arch']}, virtualised: "
        f"{machine['virt']}; files on {machine['disk']['file_system']}, "
        f"{machine['disk']['device']} ({machine['disk']['bus']})",
        f"- date: {data['started']}, {protocol['seconds']:.0f} s",
        f"- protocol: {protocol['mode']}, {protocol['rounds']} rounds of {protocol['runs']} runs, "
        f"remote path of {protocol['rtt_ms']:g} ms",
        f"- rows: {valid} of {len(rows)} measured and proved by their counters",
        *(f"- warning: {warning}" for warning in data["warnings"]), ""]


def text_of(lines: list[str]) -> str:
    """Lines as a file."""
    return "".join(f"{line}\n" for line in lines)


def keep(records: list[Baseline], folder: Path) -> None:
    """Write everything but the figures."""
    with OutputFolder.at(folder) as place:
        place.claim("tools/baseline keep", {PROVENANCE: has_line(TITLE)})
        # Read first: a record may lie where another one goes.
        write(records, [record.source.read_bytes() for record in records], place)


def write(records: list[Baseline], texts: list[bytes], place: OutputFolder) -> None:
    """Write the files into a folder that was claimed."""
    # Before all else: whatever ends this early, the folder can be told from somebody else's.
    if not place.file(PROVENANCE):
        place.write(PROVENANCE, f"{TITLE}\n\nNot written to its end: type the command again.\n")
    files = {"rows.csv": (table(records[0]), "every row: estimates, measurement, published value",
                          "record-1.json"),
             "mistakes.txt": (text_of(mistakes.lines(mistakes.check(records[0]))),
                              "the report's known mistakes against what was measured",
                              "record-1.json")}
    if len(records) > 1:
        files["agreement.txt"] = (text_of(agree.lines(agree.compare(*records[-2:]))),
                                  "whether two runs agree within their intervals",
                                  f"record-{len(records) - 1}.json and record-{len(records)}.json")
    lines = [TITLE, "",
             "Every file is made from the records, and the records by the commands below.", ""]
    for number, (record, text) in enumerate(zip(records, texts), 1):
        place.write(f"record-{number}.json", text)
        lines += from_where(number, record)
    lines += ["| file | what it is | made from |", "|---|---|---|"]
    for name, (table_text, what, source) in files.items():
        place.write(name, table_text)
        lines.append(f"| {name} | {what} | {source} |")
    lines.append("| figures/* | the report's figures and ours | record-1.json |")
    place.write(PROVENANCE, "\n".join(lines) + "\n")
