# SPDX-License-Identifier: GPL-2.0
"""Where both ends of a start run: together on one processor, or apart on two, in turn.

What a way takes hangs on it by some 10 %: a page that the receiver copies late lies in the
sender's cache. Left alone, the scheduler decides by what else runs, and answers move with that."""
from __future__ import annotations

import os
from pathlib import Path

CPUS = "--cpus"
TOGETHER, APART = "together", "apart"
SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
# A list that trace_run takes.
MOST = 32


def cores() -> list[int]:
    """Processors that this process may run on: of threads of one core the first."""
    found: dict[str, int] = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        file = Path(SIBLINGS.format(cpu))
        found.setdefault(file.read_text(encoding="ascii") if file.exists() else str(cpu), cpu)
    return list(found.values())[:MOST]


def cpus_of(number: int) -> list[str]:
    """Words for trace_run: connection N has both ends on core N, and in every other start the
    receiver on the next one. Later starts begin with other cores. Nothing on a machine of one."""
    all_of = cores()
    if len(all_of) < 2:
        return []
    first = number // 2 % len(all_of)
    sender, apart = ([str(each) for each in all_of[at:] + all_of[:at]]
                     for at in (first, (first + 1) % len(all_of)))
    return [CPUS, ",".join(sender) + (f"/{','.join(apart)}" if number % 2 else "")]


def kind_of(cpus: dict[str, str] | None) -> str | None:
    """What the processors of a run were: together, apart; None where nobody said."""
    return cpus and (TOGETHER if cpus["sender"] == cpus["receiver"] else APART)
