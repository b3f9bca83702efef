# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/beside_lmbench: run both suites in turn, print ratios, write them."""
from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import sys
from pathlib import Path
from statistics import median
from typing import Any

from copyscope import cli
from copyscope.cli import Parser, folder, number
from copyscope.common.errors import Unusable
from copyscope.common.text import now_utc
from copyscope.files.output_folder import OutputFolder
from copyscope.records.documents import has_schema

from .judge import AGREES, EXPLAINED, LEAST, MOST, OPEN, Values, Verdict
from .pairs import PAIRS, Pair, Side
from .runs import ENOUGH_US, FILE_BYTES, Suite, check

SCHEMA = "copyscope.beside/1"
MOST_ROUNDS = 100
EPILOG = f"""\
In each round every row is measured once by each suite, one right after the other, and the median
of the rounds' ratios is printed: ours over theirs. Where they may differ for a known cause, the
same is measured with the cause removed; {LEAST} to {MOST} agrees. Debian has lmbench in its section
non-free; this command runs the programs in DIR unmodified.
exit: 0 every ratio agrees or is explained; 1 one is not, or a program failed; 2 bad usage; 3 this
machine refuses
example: sudo ./tools/beside_lmbench --bin /usr/lib/lmbench/bin/x86_64-linux-gnu"""


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/beside_lmbench", EPILOG)
    add = parser.add_argument
    add("--bin", type=Path, required=True, metavar="DIR", help="where lmbench's programs are")
    add("--version-is", default="not told", metavar="TEXT", help="lmbench's version, for records")
    add("--rounds", type=number, default=3, metavar="N", help="about a minute each (3)")
    add("--only", action="append", metavar="NAME", help="this comparison alone; can be repeated")
    add("--dir", type=Path, default=Path("."), metavar="DIR", help="where a file of "
        f"{FILE_BYTES >> 20} MiB is made, nameless, on a real disk (default .)")
    add("--out", type=folder, metavar="DIR",
        help="write beside.json and beside.md there")
    add("--quiet", action="store_true", help="no progress")
    return parser


def chosen(only: list[str] | None) -> list[Pair]:
    """The comparisons that were asked for."""
    names = [pair.name for pair in PAIRS]
    for each in only or []:
        if each not in names:
            raise Unusable(f"--only {each!r}: there are {', '.join(names)}")
    return [pair for pair in PAIRS if not only or pair.name in only]


def sides(pair: Pair) -> list[Side]:
    """Both sides of a pair: as it stands, and with the cause removed."""
    return [pair.plain] + ([pair.alike] if pair.alike else [])


def run(pairs: list[Pair], suite: Suite, rounds: int, quiet: bool) -> list[Verdict]:
    """Measure every pair in every round; who goes first changes from round to round."""
    found: dict[Side, tuple[list[float], list[float]]] = {
        side: ([], []) for pair in pairs for side in sides(pair)}
    suite.look()
    for turn in range(rounds):
        suite.begin_round()
        for pair in pairs:
            if not quiet and sys.stderr.isatty():
                print(f"\r\033[Kround {turn + 1} of {rounds}: {pair.name}", end="", file=sys.stderr)
            for side in sides(pair):
                first, second = (suite.ours, suite.theirs) if turn % 2 else \
                    (suite.theirs, suite.ours)
                values = {first: first(side), second: second(side)}
                found[side][0].append(values[suite.ours])
                found[side][1].append(values[suite.theirs])
    if not quiet and sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return [Verdict(pair, Values(*found[pair.plain]),
                    Values(*found[pair.alike]) if pair.alike else None) for pair in pairs]


def table(found: list[Verdict]) -> list[str]:
    """The table, one line for each pair."""
    lines = [f"{'':24}{'ours':>9} {'lmbench':>9} {'':7}{'ratio':>6} {'range':>12}  alike  verdict"]
    for each in found:
        ratio = each.plain.ratio
        alike = f"{each.alike.ratio.middle:6.2f}" if each.alike else "     -"
        span = f"{ratio.low:.2f}..{ratio.high:.2f}"
        lines.append(f"{each.pair.name:24}{median(each.plain.ours):9.4g} "
                     f"{median(each.plain.theirs):9.4g} {each.pair.unit:7}{ratio.middle:6.2f} "
                     f"{span:>12} {alike}  {each.kind}")
    return lines


def causes(found: list[Verdict]) -> list[str]:
    """Of what lies outside the band: the cause, and the ratio without it."""
    lines = []
    for each in found:
        if each.kind == EXPLAINED and each.alike:
            lines.append(f"{each.pair.name}: {each.pair.cause}: {each.alike.ratio.middle:.2f}")
        elif each.kind == OPEN:
            tried = f"; not only because {each.pair.cause}: {each.alike.ratio.middle:.2f}" \
                if each.alike else ""
            lines.append(f"{each.pair.name}: {each.plain.ratio.middle:.2f} is not explained{tried}")
    return lines


def shown(words: list[str], programs: Path) -> list[str]:
    """The command line for records, without the path of lmbench on this machine."""
    return [word.replace(str(programs), "DIR") for word in words]


def record_of(found: list[Verdict], suite: Suite, options: argparse.Namespace, started: str,
              words: list[str]) -> dict[str, Any]:
    """The record: all values, so that others can judge them by other rules."""
    def values(side: Side, both: Values) -> dict[str, Any]:
        return {"rows": list(side.rows), "lmbench": list(side.program.words),
                "pinned": side.program.pinned, "huge_pages": side.program.huge,
                "preloaded": side.program.preloaded,
                "ours": list(both.ours), "theirs": list(both.theirs), "ratio": both.ratio.middle}
    return {"schema": SCHEMA, "started": started, "tool": suite.tool,
            "machine": suite.machine,
            "command": ["./tools/beside_lmbench", *words], "lmbench_version": options.version_is,
            "enough_us": os.environ.get("ENOUGH", ENOUGH_US), "rounds": options.rounds,
            "band": [LEAST, MOST], "pairs": [{
                "name": each.pair.name, "unit": each.pair.unit, "verdict": each.kind,
                "cause": each.pair.cause or None, "plain": values(each.pair.plain, each.plain),
                "alike": values(each.pair.alike, each.alike) if each.alike and each.pair.alike
                else None} for each in found]}


def page(found: list[Verdict], suite: Suite, options: argparse.Namespace, started: str,
         words: list[str]) -> str:
    """The record as Markdown."""
    machine = suite.machine
    return "\n".join([
        "# The machine baseline beside lmbench", "",
        f"- command: `./tools/beside_lmbench {shlex.join(words)}`", f"- date: {started}",
        f"- commit: {suite.tool['commit']}",
        f"- machine: {machine['cpu_model']}, {machine['cpus']} CPUs, kernel {machine['kernel']}",
        f"- lmbench: {options.version_is}, unmodified; "
        f"ENOUGH={os.environ.get('ENOUGH', ENOUGH_US)}",
        f"- {options.rounds} rounds; the ratio is ours over lmbench's, the median of the rounds; "
        "alike is the same with the cause removed", "",
        *(f"    {line}" for line in table(found)), "", *(f"- {line}" for line in causes(found))]) \
        + "\n"


def make_place(folder: Path) -> None:
    """Refuse a folder that cannot be written to before minutes of measuring."""
    with OutputFolder.at(folder) as place:
        place.claim("tools/beside_lmbench", {"beside.json": has_schema(SCHEMA)})
    if not os.access(folder, os.W_OK):
        raise Unusable(f"--out {folder}: cannot be written to; choose another")


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    options = build_parser().parse_args(words)
    pairs = chosen(options.only)
    if options.rounds > MOST_ROUNDS:
        raise Unusable(f"--rounds {options.rounds} is not 1 to {MOST_ROUNDS}")
    check(options.bin)
    if options.out:
        make_place(options.out)
    started = now_utc()
    suite = Suite(options.bin, options.dir)
    suite.renew_file()
    found = run(pairs, suite, options.rounds, options.quiet)
    print(*table(found), *causes(found), sep="\n")
    if options.out:
        words = shown(words, options.bin)
        with OutputFolder.at(options.out) as place:
            place.write("beside.json", json.dumps(
                record_of(found, suite, options, started, words), indent=1) + "\n")
            place.write("beside.md", page(found, suite, options, started, words))
    return 0 if all(each.kind in (AGREES, EXPLAINED) for each in found) else 1


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return cli.run(act, words, "beside_lmbench")
