# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/crossover: search, print the answer, write the record."""
from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import Any

from copyscope.cli import command_line
from copyscope.cli.command_line import Parser
from copyscope.cli.options import number, seconds
from copyscope.common.errors import Unusable
from copyscope.common.limits import LEAST_BYTES, MOST_BYTES, MOST_THREADS
from copyscope.common.tables import PATHS_OF_ONE_HOST, RIGHT_VARIANTS
from copyscope.common.text import now_utc
from copyscope.files.record_file import RecordFile
from copyscope.records.costs import Costs
from copyscope.runs import launch

from .runs import Pairs, Workload
from .search import UNDECIDED, Found, search

SCHEMA = "copyscope.crossover/1"
LEAST_PAIRS, MOST_PAIRS = 6, 1000
EPILOG = """\
At each size both variants run in turn, without probes. A size is decided if the 95 % interval of
the median ratio of their times leaves out 1. At the end each variant runs once with probes, and its
laws must balance. The answer holds for this machine, kernel and path.
exit: 0 an answer, also "none" or "undecided"; 1 a run failed or a law broke; 2 bad usage;
3 this machine refuses
example: sudo ./tools/crossover A2 A3 --path veth"""


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/crossover", EPILOG)
    add = parser.add_argument
    add("first", metavar="VARIANT", help=" ".join(RIGHT_VARIANTS))
    add("second", metavar="VARIANT", help="another of them")
    add("--path", choices=PATHS_OF_ONE_HOST, default="veth", help="between the sockets (veth)")
    add("--pattern", choices=("stream", "rr"), default="stream", help="(stream)")
    add("--low", type=number, default=64, metavar="N", help="smallest size; k and M multiply (64)")
    add("--high", type=number, default=1 << 20, metavar="N", help="largest size (1M)")
    add("--nearness", type=float, default=1.1, metavar="R",
        help="end when the sizes around the crossover are this ratio apart (1.1)")
    add("--threads", type=number, default=1, metavar="N", help="connections (1)")
    add("--seconds", type=seconds, default=0.3, metavar="S", help="of each run (0.3)")
    add("--repeats", type=number, default=8, metavar="N", help="pairs at each size, 6 or more (8)")
    add("--baseline", type=Path, metavar="FILE",
        help="a record of tools/baseline on this machine: says what one copy costs at that size")
    add("--json", metavar="FILE", help="write the record there, - for stdout")
    add("--quiet", action="store_true", help="the answer alone, no line for each size")
    return parser


def check(options: argparse.Namespace) -> None:
    """Refuse what makes no sense before anything runs."""
    for name in (options.first, options.second):
        if name not in RIGHT_VARIANTS:
            raise Unusable(f"unknown VARIANT {name!r}; it must be one of "
                           f"{' '.join(RIGHT_VARIANTS)}")
    if options.first == options.second:
        raise Unusable(f"both variants are {options.first}: name two different ones")
    if not LEAST_BYTES <= options.low < options.high <= MOST_BYTES:
        raise Unusable(f"--low {options.low} --high {options.high}: must be {LEAST_BYTES} to "
                       f"{MOST_BYTES}, the lower one first")
    if not 1.005 <= options.nearness <= 4:
        raise Unusable(f"--nearness {options.nearness:g} is not 1.005 to 4")
    if not LEAST_PAIRS <= options.repeats <= MOST_PAIRS:
        raise Unusable(f"--repeats {options.repeats}: fewer than {LEAST_PAIRS} pairs give no 95 % "
                       f"interval; more than {MOST_PAIRS} take too long")
    if options.threads > MOST_THREADS:
        raise Unusable(f"--threads {options.threads} is not 1 to {MOST_THREADS}")


def sentence(found: Found, variants: tuple[str, str], where: str) -> str:
    """The answer in words."""
    name = {"first": variants[0], "second": variants[1]}
    if found.kind == "none":
        tail = f" but {', '.join(map(str, found.undecided))}" if found.undecided else ""
        return (f"none between {found.low} and {found.high} bytes on {where}: {name[found.below]} "
                f"is faster at every size measured{tail}")
    if found.kind == "undecided":
        known = "the interval holds 1 at every size measured" if found.below == UNDECIDED \
            else (f"{name[found.below]} is faster at some sizes, but at "
                  f"{', '.join(map(str, found.undecided))} the interval holds 1")
        return (f"undecided between {found.low} and {found.high} bytes on {where}: {known}; "
                "raise --repeats or --seconds")
    tail = f"; undecided between {found.low} and {found.high}" if found.undecided else ""
    if found.contrary:
        tail += f"; not at {', '.join(map(str, found.contrary))}: the curves cross more than once"
    return (f"{name[found.above]} beats {name[found.below]} from {found.high} bytes on, "
            f"on {where}; {name[found.below]} is faster up to {found.low}{tail}")


def record_of(options: argparse.Namespace, pairs: Pairs, found: Found, started: str, said: str,
              words: list[str]) -> dict[str, Any]:
    """The JSON record; tool and machine are taken from the runs' records."""
    run = pairs.first_record
    assert run is not None
    kind = {"first": options.first, "second": options.second, UNDECIDED: None}
    return {
        "schema": SCHEMA, "started": started, "command": ["./tools/crossover", *words],
        "tool": run.data["tool"], "machine": run.data["machine"], "path": run.data["path"],
        "first": options.first, "second": options.second, "threads": options.threads,
        "pattern": options.pattern, "seconds": options.seconds, "pairs": options.repeats,
        "nearness": options.nearness, "low_bytes": options.low, "high_bytes": options.high,
        "interval": "95 % interval of the median of paired ratios, first's time over second's",
        "answer": {"kind": found.kind, "faster_below": kind[found.below],
                   "faster_above": kind[found.above], "low_bytes": found.low,
                   "high_bytes": found.high, "undecided_bytes": list(found.undecided),
                   "contrary_bytes": list(found.contrary), "sentence": said},
        "sizes": [pairs.sizes[size] for size in sorted(pairs.sizes)], "proofs": []}


def copy_cost(costs: Costs, size: int, pairs: Pairs) -> dict[str, Any]:
    """The time of one copy of a message, and its share of the message's time."""
    at = min(pairs.sizes, key=lambda each: abs(each - size))
    times = sorted(pairs.sizes[at]["first_ns"])
    copy_ns = costs.copy_ns(size)
    return {"baseline": costs.id, "bytes": size, "copy_ns": copy_ns,
            "share_of_first": copy_ns / times[len(times) // 2]}


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    options = build_parser().parse_args(words)
    check(options)
    if options.json in (None, "-"):
        return answer(options, words, None)
    # Before minutes are spent on what could not be written then.
    with RecordFile(options.json) as file:
        return answer(options, words, file)


def answer(options: argparse.Namespace, words: list[str], file: RecordFile | None) -> int:
    """Search, print the answer and write the record."""
    costs = Costs.load(options.baseline) if options.baseline else None
    launch.check_built("host")
    talk = sys.stderr if options.json == "-" else sys.stdout
    started = now_utc()
    work = Workload(options.path, options.threads, options.seconds, options.pattern)
    pairs = Pairs((options.first, options.second), work, options.repeats,
                  lambda line: None if options.quiet else print(line, file=talk, flush=True))
    # Not counted: the first run finds cold caches and a slow clock.
    pairs.time_ns(options.first, options.low)
    if costs:
        costs.check_machine(pairs.first_record)
    found = search(pairs.judge, options.low, options.high, options.nearness)
    where = f"path {options.path}, {options.threads} " + \
        ("connection" if options.threads == 1 else "connections")
    said = sentence(found, (options.first, options.second), where)
    record = record_of(options, pairs, found, started, said, words)
    record["proofs"] = pairs.prove(found.high)
    if costs:
        record["copy"] = copy_cost(costs, found.high, pairs)
    print(said, file=talk)
    if costs:
        print(f"one copy of {found.high} bytes takes {record['copy']['copy_ns']:.0f} ns here, "
              f"{record['copy']['share_of_first']:.0%} of a message's time", file=talk)
    for proof in record["proofs"]:
        laws = list(proof["laws"].values())
        print(f"books of {proof['variant']} at {found.high} bytes: {laws.count('balanced')} laws "
              f"balanced, {laws.count('not testable')} not testable, none broken", file=talk)
    if options.json == "-":
        print(json.dumps(record, indent=1))
    elif file:
        file.write(json.dumps(record, indent=1) + "\n")
    return 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return command_line.run(act, words, "crossover")
