# SPDX-License-Identifier: GPL-2.0
"""Conducts a sweep: makes every run of a plan that its folder lacks, then writes the tables."""
from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from copyscope.records.load import load_record, load_sweep
from copyscope.records.passes import COUNTED
from copyscope.records.run_record import Record

from . import guests, launch, pairs, plan as plans, tables
from .folder import Folder
from .guests import Absent, Begun, Told
from .launch import Progress
from .quiet import Quiet, disturbed
from .series import Series


@dataclass(frozen=True)
class Result:
    """What a sweep left: the files it wrote, which runs failed, "" if none, the others, and what
    comparing them said."""

    files: list[Path]
    failures: str
    records: list[Record]
    compared: list[pairs.Pair]


def settle(folder: Folder, run: plans.Run, outcome: launch.Outcome,
           most_others: float) -> tuple[str, str]:
    """Keep a run, or set it aside; return why it failed, or "", and what disturbed it, or ""."""
    path = folder.pending_path(run.name)
    record = load_record(path) if path.exists() else None
    if outcome.status == launch.EXIT_FINE and not (record and record.incomplete):
        disturbance = disturbed(record, most_others) if record else ""
        if disturbance:
            folder.drop(run.name)
        else:
            folder.keep(run)
        return "", disturbance
    why, status = launch.last_line(outcome.stderr), outcome.status
    if record:
        broken = record.broken_laws()
        why = record.incomplete or (f"a law broke: {', '.join(broken)}" if broken else why)
    folder.set_aside(run.name, status, outcome.stderr or why, outcome.command)
    return f"{why} (exit {status})", ""


def maker(folder: Folder, plan: dict[str, Any],
          held: contextlib.ExitStack) -> Callable[[plans.Run], launch.Outcome]:
    """What makes a run: a process of its own or, where all runs are counted alone, one whose probes
    stay attached."""
    two_hosts = any(launch.word_after(run, "--host") for run in plans.runs(plan))
    if plan["pass"] == COUNTED and not two_hosts:
        return held.enter_context(Series(folder.pending_files, plan["seconds"], COUNTED)).make
    return lambda run: launch.make(run, folder.pending_path(run.name), plan["seconds"],
                                   plan["kernel"], plan["pass"])


def try_run(folder: Folder, make: Callable[[plans.Run], launch.Outcome], run: plans.Run,
            most_others: float) -> tuple[str, str]:
    """Make one run; return what became of it."""
    return settle(folder, run, make(run), most_others)


def make_here(folder: Folder, missing: list[plans.Run], plan: dict[str, Any],
              progress: Progress) -> None:
    """Make runs in turn, each again if other programs disturbed its times."""
    most = plan.get("most_others", 1.0)
    patience = Quiet(most, progress.left_s(),
                     lambda line: progress.tell(f"sweep: {line}"))
    if not progress.quiet:
        progress.tell(f"sweep: {len(missing)} runs, about {launch.clock(progress.left_s())}" + (
            f", and at most {launch.clock(patience.left_s)} more if others use the CPUs"
            if most < 1 else ""))
    with contextlib.ExitStack() as held:
        make = maker(folder, plan, held)
        for run in missing:
            progress.show(run.name)
            progress.step(run.name, patience.run(run.name, partial(try_run, folder, make, run)))


def make_in_guests(folder: Folder, missing: list[plans.Run], plan: dict[str, Any],
                   progress: Progress) -> None:
    """Make runs in a few guests, many in each, and keep each run as soon as it has ended."""
    runs = {run.name: run for run in missing}
    words = {run.name: launch.command_in_guest(run, plan["seconds"], plan["pass"])
             for run in missing}
    kind = guests.Kind(launch.guest_options(missing[0], plan["kernel"]), words)
    patience_s = plan["seconds"] + launch.GUEST_PATIENCE_S
    with contextlib.closing(guests.make({"": kind}, patience_s,
                                        guests.side_by_side(len(words)))) as told:
        for _, each in told:
            if isinstance(each, Absent):
                raise each.error
            if isinstance(each, Told):
                progress.tell(f"sweep: {each.line}")
            elif isinstance(each, Begun):
                progress.show(each.name)
            else:
                run, path = runs[each.name], folder.pending_path(each.name)
                if each.record:
                    folder.pending_files.write(path.name, each.record)
                launch.refuse(run, path, each.status, each.said)
                alone = launch.command_of(run, path, plan["seconds"], plan["kernel"], plan["pass"])
                outcome = launch.Outcome(each.status, each.said, alone)
                progress.step(run.name, settle(folder, run, outcome, 1.0)[0])


def make_runs(folder: Folder, plan: dict[str, Any], quiet: bool) -> None:
    """Make every run that is missing."""
    ordered = plans.runs(plan)
    there = folder.take_stock(ordered)
    expected_s = plans.duration_s(plan) / len(ordered)
    progress = Progress(len(ordered), len(there), expected_s, quiet)
    missing = [run for run in ordered if run.name not in there]
    try:
        if missing and plan["kernel"] != launch.HOST:
            make_in_guests(folder, missing, plan, progress)
        elif missing:
            make_here(folder, missing, plan, progress)
    finally:
        progress.end()


def finish(folder: Folder, plan: dict[str, Any], arguments: list[str]) -> Result:
    """Write what follows from the records."""
    records = load_sweep(folder.root)
    compared = pairs.paired(plan, records)
    files = tables.write_all(folder.files, plan, records, compared)
    failures = folder.failures()
    tables.write_provenance(folder.files, plan, records, files, arguments, failures)
    return Result([folder.root / name for name in [*files, "PROVENANCE.md"]],
                  f"{len(failures)} of {len(plans.runs(plan))} runs failed: see {folder.failed}"
                  if failures else "", records, compared)


def conduct(root: Path, plan: dict[str, Any], arguments: list[str], quiet: bool) -> Result:
    """Make all runs of a plan in a folder; `arguments` is the command line that asked for it."""
    launch.check_built(plan["kernel"])
    with Folder(root, plan) as folder:
        make_runs(folder, plan, quiet)
        return finish(folder, plan, arguments)
