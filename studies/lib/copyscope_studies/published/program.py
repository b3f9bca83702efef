# SPDX-License-Identifier: GPL-2.0
"""One program of a report: runs the workload in its place and says what it said."""
from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import Any

from copyscope import cli
from copyscope.common import programs as system
from copyscope.common.errors import CommandError
from copyscope.common.tree import BUILD
from copyscope.runs import profile

from . import programs
from .programs import Program

NS_PER_US = 1000


def quantities(program: Program, totals: dict[str, Any]) -> dict[str, float | None]:
    """What a report's column is of a client's totals; None is not measured."""
    settings = profile.load(program.report.name.lower(), "as-published").settings
    moved, elapsed_ns = totals["received_bytes"], totals["elapsed_ns"]
    over_s = program.seconds if settings["throughput_is"] == "nominal" else \
        elapsed_ns / 1e9 if elapsed_ns else None
    bits_per_s = 8 * moved / over_s if over_s else None
    mean_ns = (totals["latency_ns"] or {}).get("mean")
    latency_us = mean_ns / NS_PER_US if mean_ns is not None else None
    if settings["latency_is"] == "size/throughput":
        latency_us = 8e6 * totals["bytes"] / bits_per_s if bits_per_s else None
    return {"throughput_gbps": bits_per_s and bits_per_s / 1e9,
            "throughput_mbps": bits_per_s and bits_per_s / 1e6, "latency_us": latency_us,
            "total_bytes": moved, "total_messages": totals["messages"],
            "duration_s": elapsed_ns and elapsed_ns / 1e9}


def columns(program: Program) -> list[tuple[str, str]]:
    """What a client says: the lines of its report, else the columns that its tables have of it."""
    if program.report.says:
        return list(program.report.says)
    found = profile.load(program.report.name.lower(), "as-published")
    return list(dict.fromkeys((name, what) for table in found.tables
                              for name, what in table["columns"]))


def shown(value: float | None) -> str:
    """A number, as MT25023 printed it, or why there is none."""
    return "not measured: no byte arrived" if value is None else \
        str(value) if isinstance(value, int) else f"{value:.6f}"


def start(program: Program, ready: int) -> subprocess.Popen:
    """Start the workload; Ctrl-C reaches it by itself, and a SIGTERM is passed on."""
    words = [BUILD / "workload", *programs.workload(program), "--json", "--ready-fd", ready]
    process = system.start(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           pass_fds=(ready,), preexec_fn=system.kill_with_parent())
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda number, _: process.send_signal(number))
    return process


def act(words: list[str]) -> int:
    """Do what the program of the report does."""
    program = programs.read(words[0], words[1], words[2:])
    read_end, write_end = os.pipe()
    process = start(program, write_end)
    os.close(write_end)
    with os.fdopen(read_end) as told:
        line = told.readline()
    first = program.report.listening if program.serves else program.report.connected
    if line and first and program.serves:
        print(program.line(first), flush=True)
    said, complained = process.communicate()
    try:
        totals = json.loads(said)
    except ValueError:
        raise CommandError(complained.strip() or "the workload said nothing") from None
    # A client of these reports leaves when its time is over, which no server takes for an error.
    if totals["complaint"] or (process.returncode and not program.serves):
        raise CommandError(f"{words[1]}: {complained.strip().removeprefix('workload: ')}")
    if program.serves:
        return 0
    if first:
        print(program.line(first))
    found = quantities(program, totals)
    for name, what in columns(program):
        if what in found:
            print(name, shown(found[what]))
    return 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    return cli.run(act, words, "published")

