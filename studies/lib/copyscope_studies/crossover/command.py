# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/crossover: search, print the answer, write the record."""
from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import Any, TextIO

from copyscope import cli
from copyscope.cli import Parser, folder, number, seconds, share
from copyscope.common.errors import Unusable
from copyscope.common.tables import (
    LEAST_BYTES,
    MOST_BYTES,
    MOST_THREADS,
    RECEIVERS,
    RIGHT_VARIANTS,
)
from copyscope.common.text import laws_text
from copyscope.files.record_file import RecordFile
from copyscope.model.costs import Costs
from copyscope.runs import launch, paths
from copyscope.runs.alternation import LEAST_STARTS, MOST_STARTS
from copyscope.runs.plan import MOST_OTHERS

from . import of_profile
from .answer import Question, answer
from .runs import MOST_PAIRS, PROCESSOR_TIME, TIME, Effort, side_of
from .turns import EFFORT

LEAST_PAIRS, PAIRS = 6, 8
QUANTITIES = {"processor": PROCESSOR_TIME, "time": TIME}
EPILOG = """\
At each size both variants take turns in one connection, over several starts, without probes; where
they cannot share one, whole runs of both follow each other. A size is decided if the 95 % interval
of the median ratio of what they take leaves out 1, and alike if it lies within 3 %. At the end each
variant runs once with probes, and its laws must balance. The answer holds for this machine, kernel
and path. How long it takes at most is told first; what is known when that time is up is the answer.
exit: 0 an answer, also "none" or "undecided"; 1 a run failed or a law broke; 2 bad usage;
3 this machine refuses
examples: sudo ./tools/crossover A2 A3 --path veth
          sudo ./tools/crossover A1-plain A1-plain:trunc --path lo
          sudo ./tools/crossover --ways --path lo --out results/ways/crossovers
          sudo ./tools/crossover --profile mt25029 --out results/crossovers"""


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/crossover", EPILOG)
    add = parser.add_argument
    add("first", nargs="?", metavar="VARIANT", help=f"{' '.join(RIGHT_VARIANTS)}; with :RECEIVER "
        f"behind it, {' '.join(RECEIVERS)}")
    add("second", nargs="?", metavar="VARIANT", help="another of them")
    add("--ways", action="store_true", help="instead of two variants: A1-plain and each other way "
        "to send or to receive in turn; needs --out")
    add("--profile", metavar="NAME", help="instead of two variants: every two of a profile, "
        "corrected, with its path, pattern and receivers; needs --out")
    add("--out", type=folder, metavar="DIR",
        help="where records and table of a profile or of ways go")
    paths.add_options(parser, "veth")
    add("--pattern", choices=("stream", "rr"), help="(stream)")
    add("--low", type=number, default=64, metavar="N", help="smallest size; k and M multiply (64)")
    add("--high", type=number, default=1 << 20, metavar="N", help="largest size (1M)")
    add("--nearness", type=float, default=1.1, metavar="R",
        help="end when the sizes around the crossover are this ratio apart (1.1)")
    add("--threads", type=number, default=1, metavar="N", help="connections (1)")
    add("--by", choices=QUANTITIES, help="what decides: processor time of both ends, or time on "
        "the clock (processor in turns; of pairs of runs and of a profile time)")
    add("--seconds", type=seconds, default=0.3, metavar="S", help="of each run or start (0.3)")
    add("--others-at-most", type=share, default=MOST_OTHERS, metavar="SHARE",
        help="of the CPUs' time that other programs may use beside a run "
             f"({MOST_OTHERS:g}); a run with more is made again, until the waiting "
             "has taken as long as the runs may; from then on all count")
    add("--repeats", type=number, metavar="N", help="starts or pairs of runs at each size, 6 or "
        f"more ({LEAST_STARTS} to {MOST_STARTS} starts, until the interval is narrow; "
        f"{PAIRS} pairs)")
    add("--most-repeats", type=number, metavar="N", help="pairs at a size whose interval is wider "
        "than --interval, --repeats more at a time, up to N; or starts, one at a time (--repeats)")
    add("--interval", type=share, default=0.1, metavar="SHARE", help="how wide the interval of "
        "pairs may be, from end to end; the answer names sizes where it is wider (0.1)")
    add("--baseline", type=Path, metavar="FILE",
        help="a record of tools/baseline on this machine: says what one copy costs at that size")
    add("--json", metavar="FILE", help="write the record there, - for stdout")
    add("--quiet", action="store_true", help="the answer alone, no line for each size")
    return parser


def check_variants(options: argparse.Namespace) -> None:
    """Refuse variants and receivers that are unknown, and two that are the same."""
    for word in (options.first, options.second):
        variant, colon, receiver = word.partition(":")
        if variant not in RIGHT_VARIANTS:
            raise Unusable(f"unknown VARIANT {variant!r}; it must be one of "
                           f"{' '.join(RIGHT_VARIANTS)}")
        if colon and receiver not in RECEIVERS:
            raise Unusable(f"{word}: unknown RECEIVER {receiver!r}; it must be one of "
                           f"{' '.join(RECEIVERS)}")
    if options.first == options.second:
        raise Unusable(f"both variants are {options.first}: name two different ones")


def check(options: argparse.Namespace) -> None:
    """Refuse what makes no sense before anything runs."""
    if options.profile or options.ways:
        of_profile.check(options)
    elif options.first is None or options.second is None:
        raise Unusable("name two variants, or give --profile NAME or --ways, and --out DIR")
    elif options.out:
        raise Unusable("--out is of --profile or --ways; the record of two variants goes to "
                       "--json FILE")
    else:
        check_variants(options)
    if not LEAST_BYTES <= options.low < options.high <= MOST_BYTES:
        raise Unusable(f"--low {options.low} --high {options.high}: must be {LEAST_BYTES} to "
                       f"{MOST_BYTES}, the lower one first")
    if not 1.005 <= options.nearness <= 4:
        raise Unusable(f"--nearness {options.nearness:g} is not 1.005 to 4")
    options.asked = options.repeats is not None or options.most_repeats is not None
    options.repeats = PAIRS if options.repeats is None else options.repeats
    if not LEAST_PAIRS <= options.repeats <= MOST_PAIRS:
        raise Unusable(f"--repeats {options.repeats}: fewer than {LEAST_PAIRS} pairs give no 95 % "
                       f"interval; more than {MOST_PAIRS} take too long")
    options.most_repeats = options.most_repeats or options.repeats
    if not options.repeats <= options.most_repeats <= MOST_PAIRS:
        raise Unusable(f"--most-repeats {options.most_repeats} is not {options.repeats} "
                       f"(--repeats) to {MOST_PAIRS}")
    if options.threads > MOST_THREADS:
        raise Unusable(f"--threads {options.threads} is not 1 to {MOST_THREADS}")


def efforts(options: argparse.Namespace) -> tuple[Effort, Effort]:
    """How many pairs of runs a size gets, and how many starts."""
    asked = Effort(options.repeats, options.most_repeats, options.interval)
    return asked, asked if options.asked else EFFORT


def quantity(options: argparse.Namespace) -> str:
    """What decides; a report's claims are about time."""
    return QUANTITIES[options.by] if options.by else TIME if options.profile else ""


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    options = build_parser().parse_args(words)
    check(options)
    command = ["./tools/crossover", *words]
    if options.profile or options.ways:
        return of_profile.conduct(options, efforts(options), quantity(options), command)
    if options.json in (None, "-"):
        return conduct(options, command, None)
    # Before minutes are spent on what could not be written then.
    with RecordFile(options.json) as file:
        return conduct(options, command, file)


def conduct(options: argparse.Namespace, command: list[str], file: RecordFile | None) -> int:
    """Search, print the answer and write the record."""
    costs = Costs.load(options.baseline) if options.baseline else None
    launch.check_built("host")
    talk = sys.stderr if options.json == "-" else sys.stdout
    question = Question((side_of(options.first), side_of(options.second)),
                        of_profile.workload(options), options.low, options.high,
                        options.nearness, *efforts(options), "", quantity(options))
    record = answer(question, costs, lambda line: None if options.quiet else
                    print(line, file=talk, flush=True), command)
    say(record, talk)
    if options.json == "-":
        print(json.dumps(record, indent=1))
    elif file:
        file.write(json.dumps(record, indent=1) + "\n")
    return 0


def say(record: dict[str, Any], talk: TextIO) -> None:
    """Print the answer, what a copy costs there, and how the books of both sides balanced."""
    size = record["answer"]["high_bytes"]
    print(record["answer"]["sentence"], file=talk)
    print(f"{paths.told(record['path']['kind'], record['machine']['kernel'])} "
          f"{record['pairs']} or more a size, {record['method']}, of {record['seconds']:g} s, "
          "without probes; intervals are of 95%.", file=talk)
    if "copy" in record:
        print(f"one copy of {size} bytes takes {record['copy']['copy_ns']:.0f} ns here, "
              f"{record['copy']['share_of_first']:.0%} of a message's time", file=talk)
    for proof in record["proofs"]:
        laws = list(proof["laws"].values())
        counts = (laws.count(each) for each in ("balanced", "broken", "not testable"))
        print(f"laws of {proof['variant']} at {size} bytes: {laws_text(*counts)}", file=talk)


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return cli.run(act, words, "crossover")
