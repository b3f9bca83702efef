# SPDX-License-Identifier: GPL-2.0
"""Keeps a sweep's folder: the plan, whole records, failures. Nothing else is state."""
from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from copyscope.common.errors import Unusable
from copyscope.files.output_folder import OutputFolder
from copyscope.records.documents import BadRecord, has_schema
from copyscope.records.load import load_plan, load_record
from copyscope.records.passes import COUNTED
from copyscope.records.run_record import Record

from . import plan as plans
from .paths import hidden, without_shells
from .series import BESIDE

PROOFS = {"plan.json": has_schema(plans.SCHEMA)}
# tools/predict puts the prices there before its own sweep begins.
BEGUN = {"baseline.json": has_schema("copyscope.baseline/1")}

PARTS = ("runs", "failed", "pending")


class Folder:
    """The folder of one sweep, locked and held open; `*_files` are its parts, by descriptor."""

    def __init__(self, root: Path, plan: dict[str, Any]) -> None:
        self.root, self.plan = root, plan

    def __enter__(self) -> Folder:
        """Make the folder or go on with it; refuse one of another plan or in use."""
        self.files = OutputFolder.at(self.root)
        opened = [self.files]
        # The open folder: runs get this name, so a link that changes later has no effect.
        self.root = Path(os.readlink(f"/proc/self/fd/{self.files.descriptor}"))
        self.runs, self.failed, self.pending = (self.root / name for name in PARTS)
        try:
            self.lock()
            self.files.claim("a sweep", PROOFS, BEGUN)
            # First: whatever ends this early, the folder can be told from somebody else's.
            if not self.files.file("plan.json"):
                self.refuse_runs_without_plan()
                self.write_plan()
            for name in PARTS:
                opened.append(self.files.subfolder(name))
            _, self.runs_files, self.failed_files, self.pending_files = opened
            self.keep_plan()
            self.clear_pending()
        except BaseException:
            for each in opened:
                each.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Close the folder, so that another sweep may use it."""
        for each in (self.pending_files, self.failed_files, self.runs_files, self.files):
            each.close()

    def lock(self) -> None:
        """Keep other sweeps out until the folder is closed."""
        try:
            fcntl.flock(self.files.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unusable(f"--out {self.root}: another sweep is running there") from None

    def refuse_runs_without_plan(self) -> None:
        """Refuse records without a plan."""
        if self.files.state("runs"):
            with self.files.subfolder("runs", make=False) as runs:
                if runs.names():
                    raise Unusable(f"{self.runs}: it holds records, but there is no plan.json; "
                                   "choose another --out")

    def kept_plan(self) -> dict[str, Any]:
        """The plan as its file has it."""
        return without_shells(self.plan)

    def write_plan(self) -> None:
        """Write the plan."""
        self.files.write("plan.json", json.dumps(self.kept_plan(), indent=2) + "\n")

    def keep_plan(self) -> None:
        """Write the plan, or check it against the one that the runs here were made by."""
        file = self.root / "plan.json"
        there = load_plan(self.root)
        # Those of older releases have how it is reached.
        old = without_shells(there)
        different = plans.differs(old, self.kept_plan())
        # A slip that no run came of, such as a wrong --kernel, binds nobody.
        if different and (self.runs_files.names() or self.failures()):
            raise Unusable(f"{file}: {different}: the folder holds runs of another plan; "
                           "repeat its options or choose another --out")
        if different or there != old:
            self.write_plan()

    def clear_pending(self) -> None:
        """Remove the plan's records of a sweep that was killed: nobody knows whether these runs
        would have ended well."""
        kinds = ("json", *BESIDE)
        wanted = {f"{run.name}.{kind}" for run in plans.runs(self.plan) for kind in kinds}
        for name in self.pending_files.names():
            if name in wanted:
                self.pending_files.remove(name)

    def pending_path(self, name: str) -> Path:
        """Where trace_run writes a record, until the run has ended well."""
        return self.pending / f"{name}.json"

    def drop(self, name: str) -> None:
        """Remove the record of a run whose times do not count."""
        self.pending_files.remove(f"{name}.json")

    def keep(self, run: plans.Run) -> None:
        """Move the record of a run that ended well to runs/: from now on it counts."""
        pending = self.pending_path(run.name)
        self.check_is_of(load_record(pending), run)
        self.pending_files.move(pending.name, self.runs_files, pending.name)
        for suffix in (".json", ".record"):
            self.failed_files.remove(f"{run.name}{suffix}")

    def check_is_of(self, record: Record, run: plans.Run) -> None:
        """Refuse a record under the name of a run that it is not of."""
        for key, value in (("variant", run.arguments[0]), ("bytes", int(run.arguments[1])),
                           ("threads", int(run.arguments[2]))):
            if record.workload(key) != value:
                raise BadRecord(record.source, f"experiment.workload.{key}",
                                f"it is {record.workload(key)!r}, the plan says {value!r}",
                                "remove the file to run that point again")
        if self.plan["pass"] != COUNTED and record.times.probed and not record.incomplete:
            raise BadRecord(record.source, "experiment.passes.timed",
                            "it is null, the plan has a timed pass",
                            "remove the file to run that point again")

    def take_stock(self, runs: list[plans.Run]) -> dict[str, Record]:
        """Return the whole records that are here; refuse corrupt and foreign files. A run that was
        not complete is set aside, so that it is made again."""
        wanted = {each.name: each for each in runs}
        found = {}
        for file in map(self.runs.joinpath, self.runs_files.names()):
            self.runs_files.file(file.name)
            if file.suffix != ".json" or file.stem not in wanted:
                raise Unusable(f"{file}: the plan has no such run; move the file away")
            record = load_record(file)
            self.check_is_of(record, wanted[file.stem])
            if record.incomplete:
                self.set_aside(file.stem, 1, record.incomplete, record.data["command"],
                               self.runs_files)
                continue
            if record.broken_laws():
                raise BadRecord(file, "laws", f"broken: {', '.join(record.broken_laws())}",
                                "remove the file to run that point again")
            found[file.stem] = record
        return found

    def set_aside(self, name: str, status: int, stderr: str, command: list[str],
                  left_in: OutputFolder | None = None) -> None:
        """Record a failed run, and put the record that it may have left beside it."""
        left_in = left_in or self.pending_files
        there = left_in.file(f"{name}.json")
        failure = {"schema": "copyscope.failure/1", "run": name, "exit_status": status,
                   "stderr": stderr, "command": hidden(command),
                   "record": f"{name}.record" if there else None,
                   "why": None if there else "record: the run ended without one"}
        self.failed_files.write(f"{name}.json", json.dumps(failure, indent=2) + "\n")
        if there:
            left_in.move(f"{name}.json", self.failed_files, f"{name}.record")

    def failures(self) -> list[str]:
        """Names of the runs that failed."""
        return [name.removesuffix(".json") for name in self.failed_files.names()
                if name.endswith(".json")]
