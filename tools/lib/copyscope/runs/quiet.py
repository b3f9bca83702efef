# SPDX-License-Identifier: GPL-2.0
"""Keeps times from a busy machine: says who else used the CPUs, and waits, but not for ever."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from copyscope.records.run_record import Record

LOOK_S = 1.0
# No command waits less than this in all for others to end.
LEAST_PATIENCE_S = 60.0
Made = TypeVar("Made")


def disturbed(record: Record, most: float | None) -> str:
    """Why the times of a run do not count, "" if they do or if nobody knows."""
    others = record.times.others_share
    if most is None or others is None or others <= most:
        return ""
    return f"other programs used {others:.1%} of the CPUs' time, more than {most:.1%}"


def cpu_ticks() -> tuple[int, int]:
    """Ticks since boot: that the CPUs were busy, and all of them."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, idle, iowait, irq, softirq, steal = map(
            int, file.readline().split()[1:9])
    busy = user + nice + system + irq + softirq
    return busy, busy + idle + iowait + steal


def busy_share(over_s: float) -> float:
    """Share of the CPUs' time that was used while this program slept."""
    busy, whole = cpu_ticks()
    time.sleep(over_s)
    busy_then, whole_then = cpu_ticks()
    return (busy_then - busy) / max(1, whole_then - whole)


class Quiet:
    """How much of the CPUs' time others may use beside a run, and how long a command insists on
    that, in all its runs. After that runs count as they are: no command ends with nothing because
    others work."""

    def __init__(self, most: float, expected_s: float, tell: Callable[[str], None]) -> None:
        self.most, self.tell = most, tell
        self.left_s = max(LEAST_PATIENCE_S, expected_s)

    def run(self, name: str, make: Callable[[float], tuple[Made, str]]) -> Made:
        """Make a run, again while others disturb it. `make` is told how much they may use, and
        returns the run and what disturbed it, or ""."""
        while True:
            began = time.monotonic()
            made, why = make(self.most)
            if not why:
                return made
            self.tell(f"{name}: {why}; it is made again")
            self.wait(began)

    def wait(self, began: float) -> None:
        """Return once the machine is quiet, or patience is at an end."""
        until, share = began + self.left_s, busy_share(LOOK_S)
        if share > self.most:
            self.tell(f"waiting, as other programs use {share:.1%} of the CPUs; with "
                      "--others-at-most 1 such runs count, too")
        while share > self.most and time.monotonic() < until:
            share = busy_share(LOOK_S)
        self.left_s = until - time.monotonic()
        if self.left_s <= 0:
            self.most = 1.0
            self.tell("the machine does not get quiet: from now on runs count as they are, and "
                      "intervals are as wide as they are")
