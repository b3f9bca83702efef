# SPDX-License-Identifier: GPL-2.0
"""Runs tools/baseline, and checks and asks its records."""
from __future__ import annotations

import json
import subprocess
from pathlib import Path

from helpers import schemas

ROOT = Path(__file__).resolve().parents[2]
BASELINE = ROOT / "tools" / "baseline"
PROGRAM = ROOT / "build" / "baseline"
SCHEMA = ROOT / "docs" / "baseline.schema.json"
MADE = ROOT / "tests" / "data" / "baseline-host.json"
# Far above what any run here takes: it only ends runs that hang.
TIMEOUT_S = 600
# Why a row has no number when its runs fall into two modes: the machine does that (docs/BASELINE.md).
TWO_MODES = "its runs fall into two modes"


def faults(record: dict) -> list[str]:
    """What the schema has against a record."""
    return schemas.faults(SCHEMA, record)


def run(*words, **options) -> subprocess.CompletedProcess:
    """Run tools/baseline with these words, as they are."""
    return subprocess.run([str(word) for word in (BASELINE, *words)], capture_output=True,
                          text=True, timeout=TIMEOUT_S, check=False, **options)


def rows_of(done: subprocess.CompletedProcess) -> dict[str, dict]:
    """The rows of a run that was told --json -, by name; the record is checked."""
    assert done.stdout.startswith("{"), f"no record, exit {done.returncode}: {done.stderr}"
    record = json.loads(done.stdout)
    assert not faults(record), "\n".join(faults(record))
    return {row["row"]: row for row in record["rows"]}


def quick(*names, more=(), **options) -> dict[str, dict]:
    """The rows of a quick run of two runs of these rows or families."""
    words = [word for name in names for word in ("--only", name)]
    return rows_of(run("--quick", "--runs", 2, *words, *more, "--json", "-", **options))


def not_valid(rows: dict[str, dict]) -> dict[str, str]:
    """Rows without a valid number, with the reason, but for those whose runs fell into two modes."""
    return {name: row["why"] for name, row in rows.items()
            if row["status"] != "valid" and not row["why"].startswith(TWO_MODES)}


def measured(rows: dict[str, dict]) -> dict[str, dict]:
    """What was measured of each row that has a number; not_valid() judges the others."""
    return {name: row["measured"] for name, row in rows.items() if row["measured"]}


def counted(row: dict, counter: str) -> float | None:
    """What was counted of that name in the counting pass."""
    for each in row["proof"]["invariants"]:
        if each["counter"] == counter:
            return each["counted"]
    raise AssertionError(f"{row['row']} has no invariant of {counter}")
