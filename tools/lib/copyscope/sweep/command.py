# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/sweep: plan, run what is missing, write the tables."""
from __future__ import annotations

import argparse
import re
import signal
from typing import Any

from copyscope import command_line
from copyscope.command_line import Parser, complain, folder, number, whole
from copyscope.errors import Unusable
from copyscope.records import Record, load_record, load_sweep

from . import launch, plan as plans, profile as profiles, provenance, tables
from .folder import Folder
from .progress import Progress, clock

MOST_REPEATS = 10000
EPILOG = """\
Runs that are already whole in DIR/runs are not made again, so an interrupted sweep goes on where
it was when the same command is typed again; runs that failed are tried again.
exit: 0 all runs are there; 1 some failed, see DIR/failed; 2 bad usage, profile, record or disk;
3 this machine refuses
example: sudo ./tools/sweep --profile mt25023 --seconds 0.3 --repeats 3 --out results/mt25023"""


def numbers(text: str) -> list[int]:
    """Read a list like 64,4k,1M."""
    return [number(each) for each in text.split(",")]


def labels(text: str) -> list[str]:
    """Read a list of names."""
    if not text.strip(","):
        raise argparse.ArgumentTypeError("it names nothing")
    return [each for each in text.split(",") if each]


def seconds(text: str) -> float:
    """Read a duration."""
    fine = re.fullmatch(r"[0-9]*\.?[0-9]+", text) and 0 < float(text) <= profiles.MOST_SECONDS
    if not fine:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of seconds above 0, at most {profiles.MOST_SECONDS}")
    return float(text)


def build_parser() -> Parser:
    """Describe the options."""
    have = " ".join(sorted(each.stem for each in profiles.FOLDER.glob("*.toml")))
    parser = Parser("./tools/sweep", EPILOG)
    add = parser.add_argument
    add("--profile", required=True, metavar="NAME", help=f"{have}, or a .toml file of yours")
    add("--mode", choices=profiles.MODES, help="faults as published, or none (default corrected)")
    add("--sizes", type=numbers, metavar="N,...", help="instead of the profile's; k and M multiply")
    add("--threads", type=numbers, metavar="N,...", help="instead of the profile's")
    add("--variants", type=labels, metavar="LABEL,...", help="only these of the profile's")
    add("--repeats", type=whole(1, MOST_REPEATS), default=3, metavar="N", help="runs of each point (3)")
    add("--seconds", type=seconds, metavar="S", help="of each run, instead of the profile's")
    add("--kernel", default="host", metavar="RELEASE", help="each run in a guest (default host)")
    add("--out", type=folder, metavar="DIR", help="where all files go; needed without --dry-run")
    add("--dry-run", action="store_true", help="list the runs and how long they take; no root")
    add("--quiet", action="store_true", help="no progress")
    return parser


def list_plan(plan: dict[str, Any]) -> None:
    """Print every run in its order, then the sum."""
    for run in plans.runs(plan):
        command = launch.command_of(run, launch.ROOT / f"DIR/runs/{run.name}.json",
                                    plan["seconds"], plan["kernel"])
        print(f"{run.name:30} {' '.join(command)}")
    print(f"{plan['profile']} {plan['mode']}: {len(plan['points'])} points, {plan['repeats']} "
          f"repeats, {len(plans.runs(plan))} runs, about {clock(plans.duration_s(plan))}")


def make_run(folder: Folder, run: plans.Run, plan: dict[str, Any]) -> str:
    """Make one run; return why it failed, or ""."""
    path = folder.pending_path(run.name)
    outcome = launch.make(run, path, plan["seconds"], plan["kernel"])
    record = load_record(path) if path.exists() else None
    if outcome.status == launch.EXIT_FINE and not (record and record.incomplete):
        folder.keep(run)
        return ""
    why, status = launch.last_line(outcome.stderr), outcome.status
    if record:
        broken = record.broken_laws()
        why = record.incomplete or (f"a law broke: {', '.join(broken)}" if broken else why)
    folder.set_aside(run.name, status, outcome.stderr or why, outcome.command)
    return f"{why} (exit {status})"


def make_runs(folder: Folder, plan: dict[str, Any], quiet: bool) -> None:
    """Make every run that is missing."""
    ordered = plans.runs(plan)
    there = folder.take_stock(ordered)
    expected_s = plans.duration_s(plan) / len(ordered)
    progress = Progress(len(ordered), len(there), expected_s, quiet)
    try:
        for run in ordered:
            if run.name not in there:
                progress.show(run.name)
                progress.step(run.name, make_run(folder, run, plan))
    finally:
        progress.end()


def finish(folder: Folder, plan: dict[str, Any], arguments: list[str]) -> int:
    """Write what follows from the records."""
    records: list[Record] = load_sweep(folder.root)
    files = tables.write_all(folder.files, plan, records)
    failures = folder.failures()
    provenance.write(folder.files, plan, records, files, arguments, failures)
    for name in [*files, "PROVENANCE.md"]:
        print(folder.root / name)
    if failures:
        complain("sweep", f"{len(failures)} of {len(plans.runs(plan))} runs failed: see "
                 f"{folder.failed}; the same command tries them again")
    return 1 if failures else 0


def act(arguments: list[str]) -> int:
    """Do what the arguments ask for."""
    options = build_parser().parse_args(arguments)
    plan = plans.make(profiles.load(options.profile, options.mode), options.sizes, options.threads,
                      options.variants, options.seconds, options.repeats, options.kernel)
    if options.dry_run:
        list_plan(plan)
        return 0
    if not options.out:
        raise Unusable("--out DIR is missing: say where the records go")
    launch.check_built(options.kernel)
    with Folder(options.out, plan) as folder:
        make_runs(folder, plan, options.quiet)
        return finish(folder, plan, arguments)


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return command_line.run(act, words, "sweep",
                            stopped="interrupted; the same command goes on from here")
