# SPDX-License-Identifier: GPL-2.0
"""Runs the workload and iperf3 in turn over a private loopback device."""
from __future__ import annotations

import json
import re
import resource
from dataclasses import dataclass
from pathlib import Path

from copyscope.common import programs
from copyscope.common.errors import CommandError
from copyscope.common.tree import BUILD

WORKLOAD = BUILD / "workload"
VARIANT = "A1-plain"
PATIENCE_S = 30
# A namespace for each run: whatever is left of it dies with its first process.
PRIVATE = ("unshare", "--net", "--pid", "--fork", "--kill-child", "sh", "-c")
OURS = ('ip link set lo up && { "$0" server "$1" "$2" --clients "$3" --seconds "$4" --check none '
        '--patience 10 >/dev/null & "$0" client "$2" "$3" --check none --patience 10 --json; '
        'status=$?; wait; exit $status; }')
# iperf3's client does not wait for its server, so it is tried again until the server listens. With
# -J its exit status is 0 even then; what it printed tells.
THEIRS = ('ip link set lo up && { "$0" -s -1 >/dev/null 2>&1 & n=0; '
          'until out=$("$0" -c 127.0.0.1 -l "$1" -P "$2" -t "$3" -J); '
          "case $out in *'\"error\"'*) false ;; esac; do n=$((n + 1)); "
          '[ $n -lt 40 ] || break; sleep 0.05; done; printf %s "$out"; '
          '[ $n -lt 40 ] || exit 0; wait; }')


@dataclass(frozen=True)
class Run:
    """What one run moved, and the processor time of both its ends."""

    gbps: float
    us_per_message: float


def cpu_s() -> float:
    """Processor time of the children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def call(words: list[str], seconds: int) -> tuple[str, float]:
    """Run both ends of one program; return what the receiver said and their processor time."""
    before = cpu_s()
    name = Path(words[1]).name
    done = programs.run_in_time([*PRIVATE, *words], name, seconds + PATIENCE_S)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise CommandError(f"{name}: {lines[-1] if lines else 'it failed'}")
    return done.stdout, cpu_s() - before


def run_of(program: str, received_bytes: float, gbps: float, used_s: float, size: int) -> Run:
    """A run, unless nothing was moved."""
    if not received_bytes > 0 or not gbps > 0:
        raise CommandError(f"{program}: no byte was received: give it more --seconds")
    return Run(gbps, used_s * 1e6 * size / received_bytes)


def ours(size: int, connections: int, seconds: int) -> Run:
    """One run of the workload, whose ends touch no content."""
    said, used_s = call([OURS, str(WORKLOAD), VARIANT, str(size), str(connections), str(seconds)],
                        seconds)
    return ours_of(said, used_s, size)


def ours_of(said: str, used_s: float, size: int) -> Run:
    """Read the totals of the workload's client."""
    try:
        totals = json.loads(said)
        moved = float(totals["received_bytes"])
        gbps = 8 * moved / float(totals["elapsed_ns"]) if moved else 0.0
    except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        raise CommandError("workload: it printed no totals") from error
    return run_of("workload", moved, gbps, used_s, size)


def theirs(program: Path, size: int, connections: int, seconds: int) -> Run:
    """One run of iperf3."""
    said, used_s = call([THEIRS, str(program), str(size), str(connections), str(seconds)], seconds)
    return theirs_of(said, used_s, size)


def theirs_of(said: str, used_s: float, size: int) -> Run:
    """Read what iperf3's client reports of its receiver."""
    try:
        total = json.loads(said)["end"]["sum_received"]
        moved, gbps = float(total["bytes"]), float(total["bits_per_second"]) / 1e9
    except (ValueError, KeyError, TypeError) as error:
        why = re.search(r'"error":\s*"([ -~]{1,200})"', said)
        raise CommandError(f"iperf3: {why[1] if why else 'it printed no result'}") from error
    return run_of("iperf3", moved, gbps, used_s, size)
