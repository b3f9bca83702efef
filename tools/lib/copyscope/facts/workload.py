# SPDX-License-Identifier: GPL-2.0
"""Runs the workload without probes while tracepoints watch it."""
from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

from copyscope.common.errors import CommandError, Refused
from copyscope.common.programs import kill_with_parent
from copyscope.common.tree import ROOT
from copyscope.records.passes import TIMED
from copyscope.runs import launch

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
