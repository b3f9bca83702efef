# SPDX-License-Identifier: GPL-2.0
"""Keeps the times of a sweep from a busy machine: says who else used the CPUs, and waits."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from copyscope.common.errors import Refused
from copyscope.records.run_record import Record

# How long other programs may keep a sweep waiting, and how long it looks each time.
WAIT_S, LOOK_S = 600.0, 1.0
# A run that other programs disturbed is made again this often.
MOST_TRIES = 10
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


def wait(most: float, tell: Callable[[str], None]) -> None:
    """Return once the machine is quiet; raise Refused if it stays busy."""
    began, share = time.monotonic(), busy_share(LOOK_S)
    if share > most:
        tell(f"waiting, as other programs use {share:.1%} of the CPUs; with --others-at-most 1 "
             "such runs count, too")
    while share > most:
        if time.monotonic() - began > WAIT_S:
            raise Refused(f"other programs use {share:.1%} of the CPUs, more than {most:.1%}: stop "
                          "them, or allow more with --others-at-most")
        share = busy_share(LOOK_S)


def undisturbed(name: str, most: float, make: Callable[[], tuple[Made, str]],
                tell: Callable[[str], None]) -> Made:
    """Make a run, again while other programs disturb it; raise Refused if they do not stop. `make`
    returns the run and what disturbed it, or ""."""
    why = ""
    for _ in range(MOST_TRIES):
        made, why = make()
        if not why:
            return made
        tell(f"{name}: {why}; it is made again")
        wait(most, tell)
    raise Refused(f"{name}: {why}, {MOST_TRIES} times in a row: stop them, or allow more with "
                  "--others-at-most")
