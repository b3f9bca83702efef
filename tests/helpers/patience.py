# SPDX-License-Identifier: GPL-2.0
"""A bound on a wait that leaves out the time in which the machine had no processor for somebody.

The kernel keeps a book of it (/proc/pressure/cpu): for how long at least one task was ready and did not
run. A wait of 10 s is one of 10 s on a quiet machine; on a busy one it is longer, and so no test fails
because others compute. What hangs is told all the same, MOST times later at most.

Where the kernel keeps no such book, the time in which the one who waits was itself not run is left out:
two processes that wake each other up on both processors can keep every other one from running. On Linux
6.18 with autogroup (kernel.sched_autogroup_enabled), a run of pattern rr beside six busy loops did so for
24 s.
"""
from __future__ import annotations

import re
import time
from pathlib import Path

PRESSURE = Path("/proc/pressure/cpu")
# A sleep that takes so much longer than asked is no longer chance.
LATE_S = 0.3
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
        return took if self.stalled is None else max(took - (stalled_s() - self.stalled), took / MOST)


class Patience:
    """So many seconds of a machine that runs whoever is to do what is waited for."""

    def __init__(self, seconds: float) -> None:
        self.watch, self.seconds = Stopwatch(), seconds
        self.late_s = 0.0

    def is_over(self) -> bool:
        """Has the time passed?"""
        lasted = time.monotonic() - self.watch.began - self.late_s
        # The book is opened when it matters.
        return lasted > self.seconds and self.watch.seconds() - self.late_s > self.seconds

    def sleep(self, seconds: float) -> bool:
        """Sleep; False, at once, if the time has passed."""
        if self.is_over():
            return False
        began = time.monotonic()
        time.sleep(seconds)
        late = time.monotonic() - began - seconds
        if late > LATE_S:
            self.late_s += late
        return True
