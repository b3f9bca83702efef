# SPDX-License-Identifier: GPL-2.0
"""A fact: a whole number, or why there is none; the record that holds facts, and the run that they
are counted beside.
"""
from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from copyscope.cli import version
from copyscope.records.passes import TIMED
from copyscope.runs import launch

SCHEMA = "copyscope.facts/1"


@dataclass(frozen=True)
class Fact:
    """One number: `name` and `of` find it, `means` and `how` say what it is. None has a `why`."""

    name: str
    of: str
    number: int | None
    means: str
    how: str
    why: str | None = None


def unknown(facts: list[tuple[str, str, str]], how: str, why: str) -> list[Fact]:
    """Facts that could not be found out, by name, of and meaning."""
    return [Fact(name, of, None, means, how, why) for name, of, means in facts]


def cpu_model() -> str:
    """What the processor calls itself."""
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text("utf-8"),
                      re.MULTILINE)
    return found[1].strip() if found else os.uname().machine


def record(facts: list[Fact], command: list[str]) -> dict[str, Any]:
    """All facts as a document."""
    now = datetime.now(UTC)
    name = f"{now:%Y%m%dT%H%M%S}.{now.microsecond // 1000:03}-{os.getpid()}"
    return {"schema": SCHEMA, "id": name,
            "started": f"{now:%Y-%m-%dT%H:%M:%SZ}", "command": command, "tool": version(),
            "machine": {"cpu_model": cpu_model(), "cpus": os.cpu_count(),
                        "kernel": os.uname().release, "arch": os.uname().machine},
            "facts": [asdict(each) for each in facts]}


# The workload runs without probes while tracepoints watch it.

# The workload's threads and nobody else; softirqs that run on top of them count, too.
OURS = 'comm == "workload"'


def run(words: str, seconds: float, look: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """Make one run of trace_run, look again and again until it ends, and return its record."""
    asked = launch.Run(f"trace_run {words}", tuple(words.split()))
    found: dict[str, Any] = json.loads(launch.record_of(asked, seconds, TIMED, look))
    return found
