# SPDX-License-Identifier: GPL-2.0
"""Bounds on a wait that leave out the time in which the machine had no processor for somebody.

The kernel keeps a book of it (/proc/pressure/cpu): for how long at least one task was ready and
did not run. A wait of 10 s is one of 10 s on a quiet machine and longer on a busy one, so that
nothing fails because others compute. What hangs is told all the same, MOST times later at most.
"""
from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

PRESSURE = Path("/proc/pressure/cpu")
MOST = 10


def stalled_s() -> float | None:
    """For how long a task waited for a processor until now; None where the kernel does not say."""
    try:
        said = PRESSURE.read_text(encoding="ascii")
    except OSError:
        return None
    return int(re.search(r"^some .*total=(\d+)$", said, re.MULTILINE)[1]) / 1e6


class Stopwatch:
    """Seconds since it was made, but for those in which somebody waited for a processor."""

    def __init__(self) -> None:
        self.began, self.stalled = time.monotonic(), stalled_s()

    def seconds(self) -> float:
        """How many are over."""
        took = time.monotonic() - self.began
        if self.stalled is None:
            return took
        return max(took - (stalled_s() - self.stalled), took / MOST)


def within(seconds: float) -> Callable[[], float]:
    """What says how many of so many seconds are left."""
    watch = Stopwatch()
    return lambda: seconds - watch.seconds()
