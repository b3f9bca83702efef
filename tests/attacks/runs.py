# SPDX-License-Identifier: GPL-2.0
"""Runs of trace_run under attack, and what must hold of whatever record they leave."""
from __future__ import annotations

import json
import os
from pathlib import Path

from attacks import judge, started
from attacks.attack import Broken, Skipped
from helpers import records

TRACE_RUN = records.TRACE_RUN
COMPLETE, FAILED, INTERRUPTED, BLIND = "complete", "failed", "interrupted", "blind"


def bound_s(seconds: float) -> float:
    """A bound on a quiet machine; as much longer as there is more to run than processors."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def read(file: Path, done: started.Done) -> dict | None:
    """The record that a run left: whole, and as the schema wants it; None if there is none."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        record = json.loads(text)
    except ValueError as error:
        raise Broken(f"a record that is not whole ({error}): {text[-200:]!r}: {done}") from None
    faults = records.faults(record)
    if faults:
        raise Broken(f"the schema refuses the record: {faults[:5]}: {done}")
    return record


def outcome(record: dict) -> str:
    """How the run ended, by its record."""
    return record["experiment"]["outcome"]["status"]


def agree(done: started.Done, record: dict | None) -> None:
    """Exit status and record tell the same."""
    if record is None:
        if done.status == judge.FINE:
            raise Broken(f"exit 0 without a record: {done}")
        return
    broken = records.laws_with(record, "broken")
    status = outcome(record)
    fits = {judge.FINE: (COMPLETE,), judge.BLIND: (BLIND,)}.get(done.status, (status,))
    if status not in fits or broken and done.status in judge.WELL:
        raise Broken(f"exit {done.status}, but the record says {status}, broken {sorted(broken)}: {done}")
    if done.status in judge.ASKED_TO_END and status != INTERRUPTED:
        raise Broken(f"exit {done.status}, but the record says {status}: {done}")
    # Killed when the record had its name already, while the run was taken down.
    killed = b"the process that measured was killed" in done.err
    if done.status == judge.FAILED and status == COMPLETE and not broken and not killed:
        raise Broken(f"exit 1, but the record says complete and no law is broken: {done}")
    if status == COMPLETE:
        ends = record["experiment"]["outcome"]["sender"], record["experiment"]["outcome"]["receiver"]
        if any(each["exit_status"] != 0 or each["signal"] for each in ends):
            raise Broken(f"complete, but an end ended otherwise: {record['experiment']['outcome']}: {done}")
        check_books(record, done)


def skip_if_retried(record: dict) -> None:
    """A run that holds proves nothing if what was done to it met an earlier, blind try."""
    if record["experiment"]["attempt"] > 1:
        raise Skipped("a try that was blind met what was done to it, and the next one, which held, did "
                      "not")


def check_books(record: dict, done: started.Done) -> None:
    """Of a complete run: no law is broken, and every byte that was sent was received."""
    broken = [each for each in record["laws"] if each["status"] == "broken"]
    if broken:
        raise Broken(f"laws broken: {broken}: {done}")
    if record["experiment"]["workload"]["content_errors"] and record["experiment"]["workload"]["variant"] != "A3-reuse":
        raise Broken(f"{record['experiment']['workload']['content_errors']} bytes arrived wrong: {done}")


def run(case, *words, timeout_s: float = 60, **options) -> tuple[started.Done, dict | None]:
    """One run with its record in the case's folder; what it said and what it left agree."""
    file = case.place / "record.json"
    done = started.run([TRACE_RUN, *words, "--json", file, "--quiet"], case.place,
                       timeout_s=bound_s(timeout_s), **options)
    judge.ended_soundly(done, judge.ASKED_TO_END)
    record = read(file, done)
    agree(done, record)
    return done, record
