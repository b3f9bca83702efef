# SPDX-License-Identifier: GPL-2.0
"""Measures what the model needs: the baseline's prices, and the runs of the profile model."""
from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from copyscope.files.output_folder import OutputFolder, has_line
from copyscope.model.terms import ROWS
from copyscope.runs import baseline, launch, plan as plans, profile as profiles
from copyscope.runs.baseline import Failed
from copyscope.runs.folder import BEGUN, PROOFS as SWEEP_PROOFS
from copyscope.runs.sweep import conduct

PAGE, TITLE = "predictions.md", "# Time per message, predicted by the composite model"
# Its own sweep's folder, too: tools/predict goes on with that.
PROOFS = {PAGE: has_line(TITLE), **SWEEP_PROOFS}
PRICES = "baseline.json"
FAILED = 1                  # exit status: a run failed
REPEATS = 5
QUICK_SECONDS, QUICK_REPEATS = 0.1, 1
CONTINUES = "the same command continues from here"


def profile_on(path: str, between: dict[str, Any]) -> profiles.Profile:
    """The profile "model", on that path."""
    found = profiles.load("model")
    title = f"{found.title}, path {path}"
    return replace(found, title=title, settings={**found.settings, **between, "path": path})


def measure(folder: Path, seconds: float | None, repeats: int | None, quick: bool, quiet: bool,
            most_others: float | None, path: str, between: dict[str, Any]) -> Path:
    """Measure all into a folder, or what an earlier call left out; return the baseline's file."""
    launch.check_built("host")
    baseline.check_built()
    with OutputFolder.at(folder) as place:
        place.claim("tools/predict", PROOFS, BEGUN)
        if not place.file(PRICES):
            try:
                place.write(PRICES, baseline.measure(ROWS, quick))
            except Failed as error:
                raise Failed(f"{error}; {CONTINUES}", error.status) from None
    repeats = repeats or (QUICK_REPEATS if quick else REPEATS)
    seconds = seconds or (QUICK_SECONDS if quick else None)
    words = ["--profile", "model", "--repeats", str(repeats), "--out", str(folder)]
    words += ["--seconds", f"{seconds:g}"] if seconds else []
    words += ["--others-at-most", f"{most_others:g}"] if most_others is not None else []
    plan = plans.make(profile_on(path, between), None, None, None, seconds, repeats, plans.HOST,
                      most_others=1.0 if quick and most_others is None else most_others)
    result = conduct(folder, plan, words + ["--quiet"] * quiet, quiet)
    print(*result.files, sep="\n")
    if result.failures:
        raise Failed(f"the sweep failed: {result.failures}; {CONTINUES}", FAILED)
    return folder / PRICES
