# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/compare."""
from __future__ import annotations

import json
import signal
import sys

from copyscope import cli
from copyscope.cli import Parser, complain
from copyscope.files.record_file import RecordFile

from . import sides
from .differences import differences
from .document import document
from .text import lines

NAME = "compare"
EPILOG = """\
A RECORD is the file of a run or of a watch, a folder of runs, the folder of a sweep, or an ID as
./tools/records list shows them, its beginning, or "last". Of two folders the runs with the same
variant, size and number of threads are compared. Ratios of times are given between passes without
probes alone.
exit: 0 compared, whatever differs; 2 bad usage or input
example: ./tools/compare results/before results/after"""


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/compare", EPILOG)
    parser.add_argument("first", metavar="RECORD", help="what the other is compared with")
    parser.add_argument("second", metavar="RECORD", help="the other")
    parser.add_argument("--json", metavar="FILE", help="write all of it there; - for stdout alone")
    return parser


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    options = build_parser().parse_args(words)
    first, second = (sides.load(source, lambda line: complain(NAME, line))
                     for source in (options.first, options.second))
    found = sides.matched(first, second)
    several = len(first.points) > 1 or len(second.points) > 1
    differing = differences(found, several)
    if options.json != "-":
        print(*lines(first, second, differing, found), sep="\n")
    if options.json:
        text = json.dumps(document(first, second, differing, found), indent=1) + "\n"
        if options.json == "-":
            sys.stdout.write(text)
        else:
            with RecordFile(options.json) as file:
                file.write(text)
    return 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return cli.run(act, words, NAME)
