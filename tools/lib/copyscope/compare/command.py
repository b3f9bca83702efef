# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/compare; a comparison as JSON, by docs/compare.schema.json."""
from __future__ import annotations

import json
import signal
import sys
from typing import Any

from copyscope import cli
from copyscope.cli import Parser, complain, whole
from copyscope.common.spread import Spread, kind
from copyscope.files.record_file import RecordFile
from copyscope.records.copies import Amount
from copyscope.records.run_record import Record

from . import services, sides
from .rows import Difference, TimeRow, causes, differences, sites, times
from .services import SAMPLED
from .sides import Match, Side, only_in
from .text import lines

SCHEMA = "copyscope.compare/1"


def side(mine: Side, runs: list[Record], other: Side) -> dict[str, Any]:
    """One side: where it is from, which runs of it are compared, and what the other lacks."""
    return {"source": mine.source, "records": [each.id for each in runs],
            "alone": only_in(mine, other)}


def point(runs: list[Record]) -> dict[str, Any]:
    """What some runs sent."""
    first = runs[0]
    return {"label": first.label, "variant": None if first.watched else first.variant,
            "size_bytes": None if first.watched else first.size,
            "threads": None if first.watched else first.setting, "runs": len(runs)}


def amount(value: Amount) -> dict[str, Any]:
    """Bytes per payload byte, or why they are not known."""
    return {"bytes_per_payload_byte": value.value, "how": value.how, "why": value.why or None}


def interval(value: Spread | None) -> dict[str, Any] | None:
    """A median with its interval."""
    return None if value is None else {
        "median": value.middle, "low": value.low, "high": value.high, "n": value.n,
        "interval": kind(value.n) or None}


def ratio(row: TimeRow) -> dict[str, Any] | None:
    """Second over first."""
    return None if row.ratio is None else {
        "median": row.ratio.middle, "low": row.ratio.low, "high": row.ratio.high,
        "n": row.ratio.n, "interval": row.interval or None, "in_turns": row.paired}


def time(each: TimeRow, sampled: bool = False) -> dict[str, Any]:
    """A time or a quantity of both sides."""
    found = {"what": each.what, "unit": each.unit, "first": interval(each.first),
             "second": interval(each.second), "ratio": ratio(each),
             "why": each.against or (None if each.ratio else "not measured on both sides")}
    for key in ("first", "second", "ratio") if sampled else ():
        found[key] = found[key] and {**found[key], "interval": SAMPLED}
    return found


def of_services(match: Match) -> dict[str, Any]:
    """What each service of watches did; nothing of runs."""
    if not match.first[0].watched:
        return {}
    found, alone = services.compared(match.first, match.second)
    return {"services": [{"service": each.name,
                          "quantities": [time(one.row, one.sampled) for one in each.quantities]}
                         for each in found],
            "services_alone": dict(zip(("first", "second"), alone))}


def compared(match: Match) -> dict[str, Any]:
    """All of one match."""
    return {
        "first": point(match.first), "second": point(match.second),
        "sites": [{"site": row.site, "first": amount(row.first), "second": amount(row.second)}
                  for row in sites(match)],
        "causes": [{"cause": row.cause, "site": row.site, "remedy": row.remedy or None,
                    "first_share": row.first, "second_share": row.second}
                   for row in causes(match)],
        "times": [time(row) for row in times(match)], **of_services(match)}


def document(first: Side, second: Side, differing: list[Difference],
             found: list[Match]) -> dict[str, Any]:
    """The whole comparison."""
    return {
        "schema": SCHEMA,
        "first": side(first, [run for each in found for run in each.first], second),
        "second": side(second, [run for each in found for run in each.second], first),
        "differs": [{"what": each.what, "first": each.first, "second": each.second}
                    for each in differing],
        "points": [compared(each) for each in found]}


NAME = "compare"
EPILOG = """\
A RECORD is the file of a run or of a watch, a folder of runs, the folder of a
sweep, or an ID as ./tools/records list shows them, its beginning, or "last".
Of two folders the runs with the same variant, size and number of threads are
compared. Of watches, services are compared by name; several watches of a side,
in a folder or parted by commas, give intervals. Ratios of times are given
between passes without probes alone.
exit: 0 compared, whatever differs; 2 bad usage or input
examples: ./tools/compare results/before results/after
          ./tools/compare 20261122T100144,20261122T100150 20261122T100201"""


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/compare", EPILOG)
    parser.add_argument("first", metavar="RECORD", help="what the other is compared with")
    parser.add_argument("second", metavar="RECORD", help="the other")
    parser.add_argument("--top", type=whole(1, 10_000), default=10, metavar="N",
                        help="services of watches that are printed; 10 unless told")
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
        print(*lines(first, second, differing, found, options.top), sep="\n")
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
