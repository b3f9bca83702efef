# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/sweep: plan, run what is missing, write the tables."""
from __future__ import annotations

import argparse
import signal
from typing import Any

from copyscope.cli import command_line
from copyscope.cli.command_line import Parser, complain
from copyscope.cli.options import folder, number, seconds, share, whole
from copyscope.common.errors import Unusable
from copyscope.common.tree import PROFILES, ROOT
from copyscope.records.passes import BOTH, PASSES
from copyscope.runs import launch, plan as plans, profile as profiles
from copyscope.runs.progress import clock
from copyscope.runs.sweep import conduct

MOST_REPEATS = 10000
EPILOG = """\
The sweep skips runs that DIR/runs already holds. To continue an interrupted sweep, type the same
command again; it also tries failed runs again.
exit: 0 all runs are there; 1 some failed, see DIR/failed; 2 bad usage, profile, record or disk;
3 this machine refuses
example: sudo ./tools/sweep --profile mt25023 --seconds 0.3 --repeats 3 --out results/mt25023"""


def numbers(text: str) -> list[int]:
    """Read a list like 64,4k,1M."""
    return [number(each) for each in text.split(",")]


def labels(text: str) -> list[str]:
    """Read a list of names."""
    if not text.strip(","):
        raise argparse.ArgumentTypeError("the list is empty")
    return [each for each in text.split(",") if each]


def model(text: str) -> str:
    """Read the name of an emulator's counters."""
    wrong = profiles.counters(text)
    if wrong:
        raise argparse.ArgumentTypeError(wrong)
    return text


def build_parser() -> Parser:
    """Describe the options."""
    have = " ".join(sorted(each.stem for each in PROFILES.glob("*.toml")))
    parser = Parser("./tools/sweep", EPILOG)
    add = parser.add_argument
    add("--profile", required=True, metavar="NAME", help=f"{have}, or a .toml file of yours")
    add("--mode", choices=profiles.MODES, help="faults as published, or none (default corrected)")
    add("--sizes", type=numbers, metavar="N,...", help="instead of the profile's; k and M multiply")
    add("--threads", type=numbers, metavar="N,...", help="instead of the profile's")
    add("--variants", type=labels, metavar="LABEL,...", help="only these of the profile's")
    add("--repeats", type=whole(1, MOST_REPEATS), metavar="N",
        help="runs of each point (3; with --counters model 1, as counts repeat)")
    add("--seconds", type=seconds, metavar="S", help="of each run, instead of the profile's")
    add("--pass", dest="passes", choices=(*PASSES, BOTH),
        help="of each run: timed without probes, counted with them, or both, which share its "
             "seconds (default both)")
    add("--others-at-most", type=share, metavar="SHARE",
        help="of the CPUs' time that other programs may use beside a timed run, 0 to 1 (default "
             f"{plans.MOST_OTHERS:g}); a run with more is made again once the machine is quiet")
    add("--kernel", default="host", metavar="RELEASE", help="each run in a guest (default host)")
    add("--counters", type=model, metavar="model[:NAME]",
        help="with --kernel: instructions and misses of modelled caches, as tools/trace_run")
    add("--out", type=folder, metavar="DIR", help="where all files go; needed without --dry-run")
    add("--dry-run", action="store_true", help="list the runs and how long they take; no root")
    add("--quiet", action="store_true", help="no progress")
    return parser


def list_plan(plan: dict[str, Any]) -> None:
    """Print every run in its order, then the sum."""
    for run in plans.runs(plan):
        command = launch.command_of(run, ROOT / f"DIR/runs/{run.name}.json",
                                    plan["seconds"], plan["kernel"], plan["pass"])
        print(f"{run.name:30} {' '.join(command)}")
    print(f"{plan['profile']} {plan['mode']}: {len(plan['points'])} points, {plan['repeats']} "
          f"repeats, {len(plans.runs(plan))} runs, about {clock(plans.duration_s(plan))}")
    if plan.get("counters"):
        print(f"an emulator makes them: a message takes about {plans.MODEL_SLOWER:,} times as long "
              "as on this machine")


def act(arguments: list[str]) -> int:
    """Do what the arguments ask for."""
    options = build_parser().parse_args(arguments)
    profile = profiles.load(options.profile, options.mode)
    repeats = options.repeats or (1 if options.counters or profile.counters else 3)
    plan = plans.make(profile, options.sizes, options.threads, options.variants, options.seconds,
                      repeats, options.kernel, options.passes, options.others_at_most,
                      options.counters)
    if options.dry_run:
        list_plan(plan)
        return 0
    if not options.out:
        raise Unusable("--out DIR is missing: say where the records go")
    result = conduct(options.out, plan, arguments, options.quiet)
    print(*result.files, sep="\n")
    if result.failures:
        complain("sweep", f"{result.failures}; the same command tries them again")
    return 1 if result.failures else 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return command_line.run(act, words, "sweep",
                            stopped="interrupted; the same command continues from here")
