# SPDX-License-Identifier: GPL-2.0
"""A bound on a wait that leaves out the time in which the waiting process itself was not run.

Two processes that wake each other up on both processors can keep every other process of the machine
from running: on Linux 6.18 with autogroup (kernel.sched_autogroup_enabled), a run of pattern rr
beside six busy loops did so for 24 s. What did not end in that time had no chance to.
"""
from __future__ import annotations

import time

# A sleep that takes so much longer than asked is no longer chance.
LATE_S = 0.3


class Patience:
    """So many seconds of a machine that runs the one who waits."""

    def __init__(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds

    def sleep(self, seconds: float) -> bool:
        """Sleep; False, at once, if the time has passed."""
        began = time.monotonic()
        if began > self.deadline:
            return False
        time.sleep(seconds)
        late = time.monotonic() - began - seconds
        if late > LATE_S:
            self.deadline += late
        return True
