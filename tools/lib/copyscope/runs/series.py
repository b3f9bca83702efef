# SPDX-License-Identifier: GPL-2.0
"""Makes runs on this kernel by one trace_run, whose probes stay attached from one to the next."""
from __future__ import annotations

import os
import select
import shlex
import subprocess
import time

from copyscope.common.programs import kill_with_parent
from copyscope.common.tree import ROOT
from copyscope.files.output_folder import OutputFolder

from .launch import PATIENCE_S, Outcome, Run, command_of, refuse

# What trace_run leaves of a run beside its record.
BESIDE = ("out", "err", "status")
STATUS_LOST, STATUS_TIME = 1, 124


class Series:
    """A trace_run that waits for the next run; `folder` gets their records."""

    def __init__(self, folder: OutputFolder, seconds: float, passes: str) -> None:
        self.folder, self.seconds, self.passes = folder, seconds, passes
        self.process: subprocess.Popen | None = None

    def __enter__(self) -> Series:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End it, whatever it does."""
        if self.process:
            self.process.kill()
            self.process.communicate()
        self.process = None

    def started(self) -> subprocess.Popen:
        """The process; another one if the last has died."""
        if self.process and self.process.poll() is None:
            return self.process
        self.end()
        self.process = subprocess.Popen(
            ["build/trace_run", "--runs", os.path.relpath(self.folder.path, ROOT)], cwd=ROOT,
            env={**os.environ, "LC_ALL": "C"}, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=kill_with_parent())
        return self.process

    def wait(self, process: subprocess.Popen, patience_s: float) -> int:
        """The exit status of the run that was just begun."""
        assert process.stdout
        until, said = time.monotonic() + patience_s, b""
        while not said.endswith(b"\n") or b"\nend " not in said:
            left = until - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                self.end()
                return STATUS_TIME
            data = os.read(process.stdout.fileno(), 1 << 12)
            if not data:
                self.end()
                return STATUS_LOST
            said += data
        return int(said.split()[-1])

    def make(self, run: Run) -> Outcome:
        """Make one run, its record in the folder. Raise an error that every other run would meet,
        too."""
        record = self.folder.path / f"{run.name}.json"
        command = command_of(run, record, self.seconds, "host", self.passes)
        process, patience_s = self.started(), self.seconds + PATIENCE_S
        assert process.stdin
        # The program and --json FILE are its own.
        line = f"{run.name} {shlex.join(command[1:-2])}\n"
        try:
            process.stdin.write(line.encode())
            process.stdin.flush()
            status = self.wait(process, patience_s)
        except BrokenPipeError:
            status = STATUS_LOST
        stderr = self.said(run, status, patience_s)
        refuse(run, record, status, stderr)
        return Outcome(status, stderr, command)

    def said(self, run: Run, status: int, patience_s: float) -> str:
        """What the run said on stderr; its files are removed."""
        name = f"{run.name}.err"
        text = self.folder.read(name).decode("utf-8", "replace") if self.folder.file(name) else ""
        for suffix in BESIDE:
            self.folder.remove(f"{run.name}.{suffix}")
        if status == STATUS_TIME:
            text += f"killed: it had not ended after {patience_s:g} s\n"
        return text
