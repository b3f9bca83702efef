# SPDX-License-Identifier: GPL-2.0
"""Measures what the model needs: the baseline's prices, and the runs of the profile model."""
from __future__ import annotations

import subprocess
from pathlib import Path

from copyscope.common.errors import CommandError, Refused
from copyscope.common.tree import BUILD
from copyscope.files.output_folder import OutputFolder, has_line
from copyscope.records import documents
from copyscope.runs import launch, plan as plans, profile as profiles
from copyscope.runs.folder import BEGUN, PROOFS as SWEEP_PROOFS
from copyscope.runs.sweep import conduct

from .terms import ROWS

PROGRAM = BUILD / "baseline"
PAGE, TITLE = "predictions.md", "# Time per message, predicted by the composite model"
# Its own sweep's folder, too: tools/predict goes on with that.
PROOFS = {PAGE: has_line(TITLE), **SWEEP_PROOFS}
PRICES = "baseline.json"
INVALID, FAILED = 1, 1      # exit statuses: a row did not prove what it measures; a run failed
ATTEMPTS = 3                # other programs can disturb a proof
REPEATS = 5
QUICK_SECONDS, QUICK_REPEATS = 0.1, 1


class Failed(CommandError):
    """Something else has said what went wrong; its exit status is passed on."""

    def __init__(self, what: str, status: int) -> None:
        super().__init__(f"{what}; the same command continues from here")
        self.status = status


def invalid_rows(record: bytes) -> str:
    """Which rows of a record are not valid, and why."""
    try:
        data = documents.parse_json(record, "the baseline's record")
        documents.check(data, "baseline", "the baseline's record", "run it again")
    except documents.BadRecord:
        return "it failed, see above"
    rows = data["rows"]
    found = [f"{row['row']} is {row['status']}: {row['why']}" for row in rows
             if row["status"] != "valid"]
    return "; ".join(found) or "it failed, see above"


def measure_baseline(folder: OutputFolder, quick: bool) -> None:
    """Measure the prices; keep them only if all rows are valid."""
    words = [word for row in ROWS for word in ("--only", row)] + ["--quick"] * quick
    for _ in range(ATTEMPTS):
        done = subprocess.run([PROGRAM, *words, "--quiet", "--json", "-"], check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        if done.returncode == 0:
            folder.write(PRICES, done.stdout)
            return
        if done.returncode != INVALID:
            break
    raise Failed(f"the baseline: {invalid_rows(done.stdout)}",
                 done.returncode if done.returncode > 0 else INVALID)


def measure(folder: Path, seconds: float | None, repeats: int | None, quick: bool,
            quiet: bool, most_others: float | None) -> Path:
    """Measure all into a folder, or what an earlier call left out; return the baseline's file."""
    launch.check_built("host")
    if not PROGRAM.exists():
        raise Refused("build/baseline is not there: run make first")
    with OutputFolder.at(folder) as place:
        place.claim("tools/predict", PROOFS, BEGUN)
        if not place.file(PRICES):
            measure_baseline(place, quick)
    repeats = repeats or (QUICK_REPEATS if quick else REPEATS)
    seconds = seconds or (QUICK_SECONDS if quick else None)
    words = ["--profile", "model", "--repeats", str(repeats), "--out", str(folder)]
    words += ["--seconds", f"{seconds:g}"] if seconds else []
    words += ["--others-at-most", f"{most_others:g}"] if most_others is not None else []
    plan = plans.make(profiles.load("model"), None, None, None, seconds, repeats, plans.HOST,
                      most_others=1.0 if quick and most_others is None else most_others)
    result = conduct(folder, plan, words + ["--quiet"] * quiet, quiet)
    print(*result.files, sep="\n")
    if result.failures:
        raise Failed(f"the sweep failed: {result.failures}", FAILED)
    return folder / PRICES
