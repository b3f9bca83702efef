# SPDX-License-Identifier: GPL-2.0
"""The commands of tools/baseline that read records: plot, mistakes, agree, keep; without root."""
from __future__ import annotations

from pathlib import Path

from copyscope import cli
from copyscope.cli import Parser, folder
from copyscope.common.needs import drawing

from . import agree, keep, mistakes
from .records import BadBaseline, load

FINE, DISAGREES = 0, 1


def parser() -> Parser:
    """The command line."""
    made = Parser("./tools/baseline", description=__doc__)
    commands = made.add_subparsers(dest="command", required=True)

    def add(name: str, does: str) -> Parser:
        return commands.add_parser(name, help=does, description=does)

    plot = add("plot", "draw the figures of a record: SVG and PNG")
    plot.add_argument("record", metavar="RECORD")
    plot.add_argument("--out", required=True, type=folder, metavar="DIR",
                      help="where the figures go")
    wrong = add("mistakes", "check the published report's known mistakes against a record")
    wrong.add_argument("record", metavar="RECORD")
    both = add("agree", "say whether two runs agree; exit 1 if they do not")
    both.add_argument("first", metavar="RECORD")
    both.add_argument("second", metavar="RECORD")
    kept = add("keep", "keep runs in a folder: table and figures of the first, agreement of the "
               "last two, and where it is all from")
    kept.add_argument("records", nargs="+", metavar="RECORD")
    kept.add_argument("--out", required=True, type=folder, metavar="DIR", help="where it all goes")
    return made


def tell_mistakes(path: str) -> int:
    """Print every mistake with its verdict; 1 if the record contradicts one of them."""
    found = mistakes.check(load(path))
    print("\n".join(mistakes.lines(found)))
    return DISAGREES if any(each.verdict == mistakes.NOT_SHOWN for each in found) else FINE


def tell_agreement(first: str, second: str) -> int:
    """Print every row that both have; 1 if one disagrees."""
    found = agree.compare(load(first), load(second))
    if not found:
        raise BadBaseline(f"{first} and {second}: no row is measured in both")
    print("\n".join(agree.lines(found)))
    return FINE if all(each.agrees for each in found) else DISAGREES


def draw(path: str, out: Path) -> int:
    """Draw every figure that the record has data for."""
    record = load(path)
    for file in drawing(f"{__package__}.figures").draw_all(record, out):
        print(file)
    return FINE


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    options = parser().parse_args(words)
    if options.command == "mistakes":
        return tell_mistakes(options.record)
    if options.command == "agree":
        return tell_agreement(options.first, options.second)
    if options.command == "keep":
        keep.keep([load(path) for path in options.records], options.out)
        return draw(options.records[0], options.out / "figures")
    return draw(options.record, options.out)


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    return cli.run(act, words, "baseline", advice="; choose another --out or make room")
