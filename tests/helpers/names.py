# SPDX-License-Identifier: GPL-2.0
"""The tables of the C source and the kernels, for tests that try every one."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from copyscope.common.releases import TESTED as KERNELS  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
TABLES: dict[str, list[Any]] = json.loads(
    (ROOT / "tools/lib/copyscope/common/tables.json").read_text())
VARIANTS = [row["name"] for row in TABLES["variants"]]
# Those that deliver what was sent.
RIGHT_VARIANTS = [row["name"] for row in TABLES["variants"] if not row["overwrites"]]
PATHS = [row["name"] for row in TABLES["paths"]]
SITES = [row["name"] for row in TABLES["sites"]]
LAWS = [row["name"] for row in TABLES["laws"]]
