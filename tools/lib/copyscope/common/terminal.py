# SPDX-License-Identifier: GPL-2.0
"""What the terminal that a report goes to is like."""
from __future__ import annotations

import os

WIDE = 80


def columns(out: int) -> str:
    """How wide what is written there may be: as the terminal now is; elsewhere as COLUMNS says."""
    try:
        return str(os.get_terminal_size(out).columns or WIDE)
    except OSError:
        return os.environ.get("COLUMNS", str(WIDE))


def takes_colours(out: int, when: str = "auto") -> bool:
    """As --color says; else a terminal that knows some does, unless NO_COLOR refuses them
    (no-color.org)."""
    if when != "auto":
        return when == "always"
    return os.isatty(out) and not os.environ.get("NO_COLOR") and \
        os.environ.get("TERM", "dumb") not in ("", "dumb")
