# SPDX-License-Identifier: GPL-2.0
"""Keeps a sweep's folder: the plan, whole records, failures. Nothing else is state."""
from __future__ import annotations

import fcntl
import json
import os
import shutil
from pathlib import Path
from typing import Any

from copyscope.records import BadRecord, Record, load_record, read_json

from copyscope.errors import Unusable

from . import plan as plans


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there wholly or not at all; a device is just written to."""
    aside = path.with_name(f".{path.name}.part")
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        with open(aside, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise Unusable(f"{path}: {error.strerror}; free some room or choose another place") \
            from None


class Folder:
    """The folder of one sweep, locked while it is open."""

    def __init__(self, root: Path, plan: dict[str, Any]) -> None:
        self.root, self.plan = root, plan
        self.runs, self.failed, self.pending = root / "runs", root / "failed", root / "pending"
        self.lock: int | None = None

    def __enter__(self) -> "Folder":
        """Make the folder or go on with it; refuse one of another plan or in use."""
        self.make()
        return self

    def __exit__(self, *_: object) -> None:
        """Let another sweep in."""
        if self.lock is not None:
            os.close(self.lock)
        self.lock = None

    def make(self) -> None:
        """Make what is not there, lock it, and check what is."""
        try:
            for each in (self.root, self.runs, self.failed, self.pending):
                each.mkdir(parents=True, exist_ok=True)
            self.lock = os.open(self.runs, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise Unusable(f"--out {self.root}: {error.strerror}; choose another") from None
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unusable(f"--out {self.root}: another sweep is at work there") from None
        # Of a sweep that was killed: nobody knows whether these runs would have ended well.
        for left in self.pending.iterdir():
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink()
        self.keep_plan(self.root / "plan.json")

    def keep_plan(self, file: Path) -> None:
        """Write the plan, or hold it against the one that runs were made by."""
        made = any(self.runs.iterdir())
        if made and not file.exists():
            raise Unusable(f"{self.runs}: records but no plan.json; choose another --out")
        # A slip that no run came of, such as a wrong --kernel, binds nobody.
        if not made and not self.failures():
            write_whole(file, json.dumps(self.plan, indent=2) + "\n")
            return
        different = plans.differs(read_json(file), self.plan)
        if different:
            raise Unusable(f"{file}: {different}: another plan was begun there; "
                           "repeat its options or choose another --out")

    def pending_path(self, name: str) -> Path:
        """Where trace_run writes a record, until the run has ended well."""
        return self.pending / f"{name}.json"

    def keep(self, run: plans.Run) -> None:
        """A run ended well: its record counts from now on, whatever happens."""
        pending = self.pending_path(run.name)
        self.check_is_of(load_record(pending), run)
        os.replace(pending, self.runs / pending.name)
        for suffix in (".json", ".record"):
            (self.failed / f"{run.name}{suffix}").unlink(missing_ok=True)

    def check_is_of(self, record: Record, run: plans.Run) -> None:
        """Refuse a record under the name of a run that it is not of."""
        for key, value in (("variant", run.arguments[0]), ("bytes", int(run.arguments[1])),
                           ("threads", int(run.arguments[2]))):
            if record.at(f"workload.{key}") != value:
                raise BadRecord(record.source, f"workload.{key}",
                                f"it is {record.at(f'workload.{key}')!r}, the plan says {value!r}",
                                "remove the file to run that point again")

    def take_stock(self, runs: list[plans.Run]) -> dict[str, Record]:
        """Return the whole records that are here; refuse corrupt and foreign files."""
        wanted = {each.name: each for each in runs}
        found = {}
        for file in sorted(self.runs.iterdir()):
            if file.suffix != ".json" or file.stem not in wanted:
                raise Unusable(f"{file}: the plan has no such run; move the file away")
            record = load_record(file)
            self.check_is_of(record, wanted[file.stem])
            if record.broken_laws():
                raise BadRecord(file, "laws", f"broken: {', '.join(record.broken_laws())}",
                                "remove the file to run that point again")
            found[file.stem] = record
        return found

    def set_aside(self, name: str, status: int, stderr: str,
                  command: list[str]) -> None:
        """Record a failed run, and put the record that it may have left beside it."""
        record = self.pending_path(name)
        failure = {"schema": "copyscope.failure/1", "run": name, "exit_status": status,
                   "stderr": stderr, "command": command,
                   "record": f"{name}.record" if record.exists() else None,
                   "why": None if record.exists() else "record: the run ended without one"}
        write_whole(self.failed / f"{name}.json", json.dumps(failure, indent=2) + "\n")
        if record.exists():
            os.replace(record, self.failed / f"{name}.record")

    def failures(self) -> list[str]:
        """Names of the runs that failed."""
        return sorted(each.stem for each in self.failed.glob("*.json"))
