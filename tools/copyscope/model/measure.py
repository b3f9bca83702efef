# SPDX-License-Identifier: GPL-2.0
"""Measures what the model needs: the baseline's prices, and the runs of the profile model."""
from __future__ import annotations

import os
import subprocess
from pathlib import Path

from copyscope.records import read_json
from copyscope.sweep import command as sweep
from copyscope.sweep import launch
from copyscope.errors import Refused, CommandError, Unusable

from .terms import ROWS

PROGRAM = launch.ROOT / "build" / "baseline"
INVALID = 1                 # exit status: a row did not prove what it measures
ATTEMPTS = 3                # neighbours can spoil a proof
REPEATS = 5
QUICK_SECONDS, QUICK_REPEATS = 0.1, 1


class Failed(CommandError):
    """Something else has said what went wrong; its exit status is passed on."""

    def __init__(self, what: str, status: int) -> None:
        super().__init__(f"{what}; the same command goes on from here")
        self.status = status


def doubts(file: Path) -> str:
    """Which rows of a record are not valid, and why."""
    rows = read_json(file)["rows"] if file.exists() else []
    found = [f"{row['row']} is {row['status']}: {row['why']}" for row in rows
             if row["status"] != "valid"]
    return "; ".join(found) or "it failed, see above"


def measure_baseline(file: Path, quick: bool) -> None:
    """Measure the prices; keep them only if all rows are valid."""
    aside = file.with_name(f".{file.name}.part")
    words = [word for row in ROWS for word in ("--only", row)] + ["--quick"] * quick
    try:
        for _ in range(ATTEMPTS):
            status = subprocess.run([PROGRAM, *words, "--quiet", "--json", aside], check=False,
                                    stdin=subprocess.DEVNULL).returncode
            if status == 0:
                os.replace(aside, file)
                return
            if status != INVALID:
                break
        raise Failed(f"the baseline: {doubts(aside)}", status if status > 0 else INVALID)
    finally:
        aside.unlink(missing_ok=True)


def measure(folder: Path, seconds: float | None, repeats: int | None, quick: bool,
            quiet: bool) -> Path:
    """Measure all into a folder, or what an earlier call left out; return the baseline's file."""
    launch.check_built("host")
    if not PROGRAM.exists():
        raise Refused("build/baseline is not there: run make first")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unusable(f"--out {folder}: {error.strerror}; choose another") from None
    baseline = folder / "baseline.json"
    if not baseline.exists():
        measure_baseline(baseline, quick)
    repeats = repeats or (QUICK_REPEATS if quick else REPEATS)
    seconds = seconds or (QUICK_SECONDS if quick else None)
    words = ["--profile", "model", "--repeats", str(repeats), "--out", str(folder)]
    words += ["--seconds", f"{seconds:g}"] if seconds else []
    status = sweep.main(words + ["--quiet"] * quiet)
    if status:
        raise Failed("the sweep failed, see above", status)
    return baseline
