# SPDX-License-Identifier: GPL-2.0
"""Makes baseline records and runs without probes, of prices that are easy to add up."""
from __future__ import annotations

import json
from typing import Any

from helpers.pictures import DATA, made

MACHINE = {"cpu_model": "Example CPU", "cpus": 2, "kernel": "6.12.0", "arch": "x86_64"}
SIZES = (8, 64, 512, 4096, 32768)


def row(name: str, value: float, unit: str = "ns", points: dict[float, float] | None = None,
        status: str = "valid") -> dict[str, Any]:
    """One row as tools/baseline writes it; `points` are its curve."""
    spread = {"value": value, "low": value, "high": value}
    curve = {"x_unit": "bytes", "unit": unit, "points": [
        {"x": x, "value": y, "low": y, "high": y, "n": 1, "disk_bytes": None}
        for x, y in points.items()]} if points else None
    measured = {**spread, "interval": "range of runs", "mean": value, "sd": None,
                "trimmed_mean": None, "runs": 1, "rounds": 1, "calls": 1, "waited_share": None,
                "values": [value]}
    held = {"means": "a call is made", "counter": "calls", "relation": "exactly", "expected": 1,
            "slack": 0, "counted": 1, "held": True}
    return {"row": name, "family": "made", "title": name, "unit": unit, "in_summary": False,
            "status": status, "why": None if status == "valid" else "a neighbour", "how": None,
            "estimate": {"hardware": None, "hardware_basis": "", "software": None,
                         "software_basis": "", "prediction": None},
            "measured": measured if status in ("valid", "unchecked") else None, "curve": curve,
            "seconds": 0, "proof": {"calls": 1, "invariants": [held]}}


def baseline(**changes: dict[str, Any]) -> dict[str, Any]:
    """A baseline: a system call takes 100 ns, a copy 1 ns for 10 bytes; a piece 20 ns, a switch
    2 us; a piece by reference 1000 ns beyond 500. A keyword replaces a row."""
    rows = {
        "syscall": row("syscall", 100.0), "switch_process": row("switch-process", 2.0, "us"),
        "memory_copy": row("memory-copy", 10.0, "GB/s", {4096: 10.0, 1 << 20: 10.0}),
        "send_copy": row("send-copy", 700.0, points={8: 600.0, 4096: 700.0}),
        "zerocopy_pieces": row("zerocopy-pieces", 1500.0,
                               points={n: 500.0 + 1000 * n for n in (1, 2, 4, 8, 16)}),
        "write_pieces": row("write-pieces", 520.0, points={n: 500.0 + 20 * n for n in (1, 2, 4, 8)}),
        "write_whole": row("write-whole", 450.0), **changes}
    real = json.loads((DATA / "baseline-host.json").read_text())
    return {**real, "machine": {**real["machine"], **MACHINE}, "rows": list(rows.values())}


def timed(variant: str, size: int, time_ns: float, **changes: Any) -> dict[str, Any]:
    """A run without probes over loopback of 1000 messages, of which every tenth has a switch."""
    data = made("A1-host", **{
        "workload__variant": variant, "workload__bytes": size, "workload__messages": 1000,
        "workload__threads": 1, "workload__connections": 1, "workload__pattern": "stream",
        "timing__elapsed_ns": round(time_ns * 1000), "backend__name": "none", "path__kind": "lo",
        "machine__emulated": False, **{f"machine__{key}": value for key, value in MACHINE.items()},
        **changes})
    for end, count in (("sender", 40), ("receiver", 100)):
        data["experiment"]["counters"][end]["context-switches"] = {"value": count, "why": None, "scaled": False}
    return data


def plain_ns(size: float) -> float:
    """What A1-plain takes in these runs."""
    return 1000 + size / 2
