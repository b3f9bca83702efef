# SPDX-License-Identifier: GPL-2.0
"""A fact: a whole number, or why there is none; the record that holds facts, and the run that they
are counted beside.
"""
from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from copyscope.cli import version
from copyscope.common.errors import CommandError, Refused
from copyscope.common.programs import kill_with_parent
from copyscope.common.tree import ROOT
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
LOOK_S, PATIENCE_S = 0.02, 60


def run(words: str, seconds: float, look: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """Make one run of trace_run, look again and again until it ends, and return its record."""
    command = launch.command_of(launch.Run(words, tuple(words.split())), None, seconds, "host",
                                TIMED)
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complained, \
            subprocess.Popen(command, cwd=ROOT, env={**os.environ, "LC_ALL": "C"}, stdout=said,
                             stdin=subprocess.DEVNULL, stderr=complained,
                             preexec_fn=kill_with_parent()) as process:
        try:
            wait(process, seconds, look)
        except BaseException:
            process.kill()
            raise
        said.seek(0)
        complained.seek(0)
        line = launch.last_line(complained.read().decode(errors="replace"))
        if process.returncode == launch.EXIT_REFUSED:
            raise Refused(line)
        if process.returncode:
            raise CommandError(f"trace_run {words}: {line}")
        found: dict[str, Any] = json.loads(said.read())
    return found


def wait(process: subprocess.Popen[bytes], seconds: float, look: Callable[[], None]) -> None:
    """Wait for its end, and look again and again."""
    for _ in range(int((seconds + PATIENCE_S) / LOOK_S)):
        look()
        try:
            process.wait(LOOK_S)
            return
        except subprocess.TimeoutExpired:
            continue
    raise CommandError(f"{process.args}: it has not ended")
