# SPDX-License-Identifier: GPL-2.0
"""The tables of the C source and the kernels, for tests that try every one."""
from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "lib"))

from copyscope.guest.kernels import TESTED as KERNELS  # noqa: E402, F401  pylint: disable=C0413

TABLES: dict[str, list[Any]] = json.loads((ROOT / "tools/lib/copyscope/tables.json").read_text())
VARIANTS = [row["name"] for row in TABLES["variants"]]
# Those that deliver what was sent.
RIGHT_VARIANTS = [row["name"] for row in TABLES["variants"] if not row["overwrites"]]
PATHS = [row["name"] for row in TABLES["paths"]]
SITES = [row["name"] for row in TABLES["sites"]]
LAWS = [row["name"] for row in TABLES["laws"]]
