# SPDX-License-Identifier: GPL-2.0
"""The tables of the C source and the kernels, for tests that try every one."""
from __future__ import annotations

import json
import subprocess
from pathlib import Path

from copyscope.common.releases import TESTED as KERNELS  # noqa: F401
from copyscope.common.tables import (  # noqa: F401
    PATHS,
    SITES,
    TABLES,
    names,
)

ROOT = Path(__file__).resolve().parents[2]
# Of plain TCP: kernel TLS needs a module, and has laws of its own (tests/guest/test_tls.py).
VARIANTS = names("variants", tls=False)
LAWS = names("laws", of_runs=True, of_tls=False)
WATCH_LAWS = names("laws", of_sockets=True)
OPTION_LAWS = names("laws", of_sockets=False, of_runs=False)


def all_tables() -> dict[str, list[dict]]:
    """Every table of the source, those for documents alone too."""
    done = subprocess.run([ROOT / "build/print_tables"], capture_output=True, check=True)
    return json.loads(done.stdout)
