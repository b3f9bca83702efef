# SPDX-License-Identifier: GPL-2.0
"""What this machine's clock tells: how fast a run starts, what throughput its probes leave, and what
the workload reaches beside iperf3."""
from __future__ import annotations

import itertools
import json
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

from copyscope.common import spread
from copyscope.common.errors import CommandError
from copyscope_studies import beside_iperf3

ROOT = Path(__file__).resolve().parents[2]
TRACE_RUN = ROOT / "tools" / "trace_run"
VARIANTS = ("A1", "A1-plain", "A2", "A3")
# What throughput with probes is to reach of that without.
RATIO_TARGETS = {64: 0.85, 65536: 0.98}
# Two senders and two receivers: enough to keep two processors busy.
THREADS = 2
START_TARGET_MS = 300
# A run that went well, and one whose probes missed packets: it took its time all the same.
WELL = (0, 4)
IPERF3_BYTES, IPERF3_SECONDS = 65536, 2


def run(folder: Path, *words) -> tuple[int, dict]:
    """Make one run; return when it was started and its record."""
    record = folder / "record.json"
    record.unlink(missing_ok=True)
    command = [str(word) for word in (TRACE_RUN, *words, "--quiet", "--json", record)]
    started_ns = time.monotonic_ns()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    if done.returncode not in WELL:
        raise CommandError(f"{shlex.join(command[1:-2])} ended with {done.returncode}: "
                           f"{done.stderr.strip()} {broken_laws(record)}")
    return started_ns, json.loads(record.read_text(encoding="utf-8"))


def broken_laws(record: Path) -> str:
    """Say which laws a record holds for broken; a run that failed earlier left none."""
    if not record.exists():
        return ""
    laws = json.loads(record.read_text(encoding="utf-8"))["laws"]
    return "; ".join(f"law {law['law']}: {law['left']} against {law['right']}, {law['why']}"
                     for law in laws if law["status"] == "broken")


def summary(values: list[float], digits: int) -> dict:
    """Median, its interval, and all values."""
    found = spread.spread(values)
    return {"median": round(found.middle, digits), "low": round(found.low, digits),
            "high": round(found.high, digits), "values": [round(each, digits) for each in values]}


def starts(folder: Path, count: int) -> dict:
    """Time from the start of the tool to the first byte that a probe counted."""
    took_ms, again = [], 0
    for _ in range(count):
        started_ns, record = run(folder, "A1", 64, 1, "--messages", 10, "--pass", "counted")
        took_ms.append((record["experiment"]["timing"]["first_byte_monotonic_ns"] - started_ns) / 1e6)
        again += record["experiment"]["attempt"] > 1
    return {"what": "start of tools/trace_run A1 64 1 --messages 10 --pass counted to the first counted byte",
            "unit": "ms", "target": START_TARGET_MS, "runs": count,
            "runs_that_were_tried_again": again, **summary(took_ms, 1)}


def looking_at(folder: Path, variant: str, size: int, pairs: int, seconds: float) -> dict:
    """Pairs of runs with and without probes, each pair in the other order than the one before. Both
    check what arrives, so that the probes are all that differs."""
    ratios, bare = [], []
    for number in range(pairs):
        gbps = {}
        for probes in (True, False) if number % 2 else (False, True):
            _, record = run(folder, variant, size, THREADS, "--seconds", seconds,
                            "--verify", "--pass", "counted" if probes else "timed")
            gbps[probes] = record["experiment"]["timing"]["throughput_gbps"]
        ratios.append(gbps[True] / gbps[False])
        bare.append(gbps[False])
    return {"variant": variant, "bytes": size, "threads": THREADS, "pairs": pairs,
            "seconds": seconds, "target": RATIO_TARGETS[size],
            "throughput_ratio": summary(ratios, 3), "gbps_without_probes": summary(bare, 3)}


def looking(folder: Path, pairs: int, seconds: float) -> dict:
    """The ratio with probes over without, for every variant at the sizes that have a target."""
    rows = []
    for variant, size in itertools.product(VARIANTS, RATIO_TARGETS):
        print(f"bench: {variant} {size}", file=sys.stderr)
        rows.append(looking_at(folder, variant, size, pairs, seconds))
    return {"rows": rows}


def iperf3(pairs: int) -> dict:
    """The workload beside iperf3, in pairs, by number of connections."""
    program = beside_iperf3.find_iperf3(None)
    rows = []
    for connections in beside_iperf3.CONNECTIONS:
        print(f"bench: beside iperf3, {connections} connections", file=sys.stderr)
        found = beside_iperf3.compare(program, connections, IPERF3_BYTES, IPERF3_SECONDS, pairs, False)
        rows.append({"connections": connections, "pairs": pairs, "bytes": IPERF3_BYTES,
                     "seconds": IPERF3_SECONDS,
                     "gbps_ours": round(statistics.median(run.gbps for run in found.mine), 3),
                     "gbps_iperf3": round(statistics.median(run.gbps for run in found.other), 3),
                     **{key: vars(found.ratio(what)) for key, what in
                        (("throughput_ratio", "gbps"), ("cpu_ratio", "us_per_message"))}})
    return {"rows": rows}
