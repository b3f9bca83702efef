# SPDX-License-Identifier: GPL-2.0
"""Where this tree, or the installed copy of it, has its parts."""
from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
BUILD = ROOT / "build"
DOCS = ROOT / "docs"
PROFILES = ROOT / "tools" / "profiles"
CACHES = ROOT / "tools" / "caches"
GUEST = ROOT / "tools" / "guest"
