# SPDX-License-Identifier: GPL-2.0
"""tools/beside_iperf3: runs the workload and iperf3, a load generator that others wrote, in turn
over a private loopback device, and prints the ratios.
"""
from __future__ import annotations

import json
import os
import re
import resource
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from copyscope import cli
from copyscope.cli import Parser, whole
from copyscope.common import programs
from copyscope.common.errors import CommandError, Refused, Unusable
from copyscope.common.spread import Spread, kind, spread
from copyscope.common.tables import MOST_BYTES
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
CONNECTIONS = (1, 2, 4, 8)
MOST_PAIRS, MOST_CONNECTIONS, MOST_SECONDS = 1000, 128, 3600
EPILOG = f"""\
Both programs send over a private loopback device; the one that runs first changes from pair to
pair. The workload sends by {VARIANT} and touches no content. A ratio is ours over theirs, the
median of the pairs with its interval: of throughput, where more is better, and of the processor
time of both ends for a message, which other programs on the machine disturb less.
exit: 0 for no number of connections is the workload slower beyond the interval; 1 for one it is, or
a program failed; 2 bad usage; 3 this machine refuses
example: sudo ./tools/beside_iperf3 --pairs 12"""


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


@dataclass(frozen=True)
class Compared:
    """All pairs with one number of connections."""

    connections: int
    mine: list[Run]
    other: list[Run]

    def ratio(self, what: str) -> Spread:
        """The spread of ours over theirs, pair by pair."""
        return spread([getattr(a, what) / getattr(b, what) for a, b in zip(self.mine, self.other)])

    @property
    def slower(self) -> bool:
        """True if the whole interval of the throughput's ratio lies below 1."""
        return self.ratio("gbps").high < 1


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/beside_iperf3", EPILOG)
    add = parser.add_argument
    add("--bin", type=Path, metavar="FILE", help="iperf3 itself (the system's)")
    add("--connections", type=whole(1, MOST_CONNECTIONS), action="append", metavar="N",
        help="can be repeated (1 2 4 8)")
    add("--bytes", type=whole(8, MOST_BYTES), default=65536, metavar="N",
        help="of a message, iperf3's -l (65536)")
    add("--pairs", type=whole(1, MOST_PAIRS), default=6, metavar="N", help="of runs (6)")
    add("--seconds", type=whole(1, MOST_SECONDS), default=2, metavar="S",
        help="of each run; iperf3 takes whole ones (2)")
    add("--quiet", action="store_true", help="no progress")
    return parser


def find_iperf3(given: Path | None) -> Path:
    """iperf3, or a refusal that says what to do."""
    found = given or programs.find("iperf3")
    if given and not os.access(given, os.X_OK):
        raise Unusable(f"--bin {given}: no such program")
    if not found:
        raise Refused("iperf3 is missing: install the package iperf3, or name it by --bin FILE")
    return Path(found).resolve()


def check() -> None:
    """Refuse before anything runs."""
    if not WORKLOAD.exists():
        raise Refused("build/workload is not there: run make first")
    if os.geteuid() != 0:
        raise Refused("a private network needs root: type sudo ./tools/beside_iperf3 ...")
    for tool in ("unshare", "ip"):
        if not programs.find(tool):
            raise Refused(f"{tool} is missing: install util-linux and iproute2")


def compare(iperf3: Path, connections: int, size: int, length_s: int, pairs: int,
            progress: bool) -> Compared:
    """Make the pairs of one number of connections."""
    found = Compared(connections, [], [])
    for turn in range(pairs):
        if progress:
            print(f"\r\033[K{connections} connections, pair {turn + 1} of {pairs}", end="",
                  file=sys.stderr)
        for mine in (True, False) if turn % 2 else (False, True):
            if mine:
                found.mine.append(ours(size, connections, length_s))
            else:
                found.other.append(theirs(iperf3, size, connections, length_s))
    if progress:
        print("\r\033[K", end="", file=sys.stderr)
    return found


def shown(ratio: Spread) -> str:
    """A ratio and its interval."""
    return f"{ratio.middle:6.3f} {ratio.low:6.3f}..{ratio.high:.3f}"


def table(found: list[Compared], size: int) -> list[str]:
    """One line for each number of connections."""
    head = [f"{'ours':>7} {'iperf3':>7} {unit}  {'ratio':>6} {'interval':>13}"
            for unit in ("Gbit/s", "us CPU")]
    lines = [f"{'connections':>11} {'  '.join(head)}"]
    for each in found:
        cells = []
        for what in ("gbps", "us_per_message"):
            mine, other = (median(getattr(run, what) for run in side)
                           for side in (each.mine, each.other))
            cells.append(f"{mine:7.2f} {other:7.2f} {'':6}  {shown(each.ratio(what))}")
        lines.append(f"{each.connections:>11} {'  '.join(cells)}")
    count = len(found[0].mine)
    means = f" and {kind(count)}" if kind(count) else ""
    return [*lines, f"{VARIANT}, {size} bytes, {count} pairs: medians of the pairs{means}"]


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    options = build_parser().parse_args(words)
    iperf3 = find_iperf3(options.bin)
    check()
    progress = not options.quiet and sys.stderr.isatty()
    found = [compare(iperf3, each, options.bytes, options.seconds, options.pairs, progress)
             for each in options.connections or CONNECTIONS]
    print(*table(found, options.bytes), sep="\n")
    return 1 if any(each.slower for each in found) else 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return cli.run(act, words, "beside_iperf3")
