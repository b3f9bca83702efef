# SPDX-License-Identifier: GPL-2.0
"""A test's bound on a wait: seconds of a machine that runs whoever is waited for (copyscope.common.patience).

Where the kernel keeps no book of waits for a processor, the time in which the one who waits was itself not
run is left out: two processes that wake each other up on both processors can keep every other one from
running. On Linux 6.18 with autogroup (kernel.sched_autogroup_enabled), a run of pattern rr beside six busy
loops did so for 24 s. A guest does not see how long its host did not run it: there a wait is MOST times as long.
"""
from __future__ import annotations

import os
import time

from copyscope.common.patience import MOST, Stopwatch

# A sleep that takes so much longer than asked is no longer chance.
LATE_S = 0.3


class Patience:
    """So many seconds of a machine that runs whoever is to do what is waited for."""

    def __init__(self, seconds: float) -> None:
        self.watch, self.seconds = Stopwatch(), seconds * (MOST if "COPYSCOPE_GUEST" in os.environ else 1)
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
