# SPDX-License-Identifier: GPL-2.0
"""Where this tree, or the installed copy of it, has its parts."""
from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
BUILD = ROOT / "build"
DOCS = ROOT / "docs"
PROFILES = ROOT / "tools" / "profiles"
CACHES = ROOT / "tools" / "caches"
GUEST = ROOT / "tools" / "guest"
# tools/install_tree leaves the set-up behind.
INSTALLED = not (ROOT / "tools" / "setup").exists()


def cache() -> Path:
    """Where what was fetched, or can be made again, is kept. Nothing is written beside the programs
    of an installed copy: whoever removes it would leave that behind."""
    named = os.environ.get("COPYSCOPE_CACHE")
    if named:
        return Path(os.path.abspath(named))
    if not INSTALLED:
        return BUILD
    if os.geteuid() == 0:
        return Path("/var/cache/copyscope")
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "copyscope"


CACHE = cache()
