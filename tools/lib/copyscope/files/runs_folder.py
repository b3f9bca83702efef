# SPDX-License-Identifier: GPL-2.0
"""The folder of records that the user names no file for: results/runs/, or COPYSCOPE_RUNS."""
from __future__ import annotations

import os
from pathlib import Path

from copyscope.common.tree import ROOT

from .output_folder import OutputFolder


def runs_folder() -> Path:
    """Where a record goes for which nobody names a place."""
    return Path(os.environ.get("COPYSCOPE_RUNS") or ROOT / "results" / "runs")


def make_runs_folder() -> Path:
    """Have that folder there."""
    OutputFolder.at(runs_folder(), advice="name another by COPYSCOPE_RUNS").close()
    return runs_folder()
