# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/records: list and show."""
from __future__ import annotations

import argparse
import gc
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

from copyscope import cli
from copyscope.cli import Parser, folder, whole
from copyscope.common.errors import Unusable
from copyscope.common.tables import most
from copyscope.common.terminal import takes_colours
from copyscope.common.text import csv_text, wrapped
from copyscope.files.record_file import RecordFile
from copyscope.records.check import check
from copyscope.records.documents import read_json
from copyscope.records.kept import LAST, find, kept, place
from copyscope.records.load import load_plan, load_sweep
from copyscope.records.run_record import NO_PROFILE, Record
from copyscope.records.stacks import folded_lines, has
from copyscope.records.watch_record import check_watch, is_watch, whole_of
from copyscope.report import rows, run, watch
from copyscope.report.look import Look
from copyscope.report.page import View, joined
from copyscope.report.rows import ORDERS, TITLES
from copyscope.runs import answer, pairs, tables

from . import listing, others, page, pprof

NAME = "records"
# Options that write a file in place of the report.
FILES = ("html", "folded", "pprof")
EPILOG = """\
list      every record and sweep that is kept, the newest last
show ID   the report of a record again, the answer of a sweep, or a baseline, a crossover, facts or
          verdicts in short. ID is what list shows, or its beginning, or "last" for the newest, or
          the path of a file or folder

Records are kept in results/runs, or where COPYSCOPE_RUNS says.
exit: 0 shown; 2 bad usage, no such record, or a damaged one
examples: ./tools/records list
          ./tools/records show last
          ./tools/records show last --csv"""


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/records", EPILOG, usage="%(prog)s list|show [ID ...] [options]")
    add = parser.add_argument
    add("act", choices=("list", "show"), metavar="list|show", help="what to do; see below")
    add("ids", nargs="*", metavar="ID", help="what to show")
    add("--in", dest="folder", type=folder, metavar="DIR", help="another folder of records")
    add("--laws", action="store_true", help="show every law that was tested, with both sides")
    add("--exact", action="store_true", help="show: every digit, and a row for each site")
    add("--color", choices=("auto", "always", "never"), default="auto", metavar="WHEN",
        help="show: colours: auto (default: on a terminal, unless NO_COLOR), always or never")
    add("--by", choices=TITLES, metavar="WHAT",
        help="show: rows of a watch by service, process, socket, cgroup, peer or port (default as "
             "watched)")
    add("--sort", choices=ORDERS, metavar="HOW",
        help="show: which rows come first: copied, sent, received, avoidable, cpu or name "
             "(default as watched)")
    add("--top", type=whole(1, most("rows")), metavar="N",
        help="show: at most N rows, processes and stacks of a watch (default as watched)")
    add("--html", metavar="FILE", help="show: write the report as one page, with copy maps")
    add("--folded", metavar="FILE",
        help="show: write the stacks of a watch, a line each, as flame graphs are made of")
    add("--pprof", metavar="FILE", help="show: write the stacks of a watch as pprof reads them")
    add("--csv", action="store_true",
        help="show a row for each run, with the columns of a sweep's tidy.csv, or every row of a "
             "watch")
    return parser


def check_options(options: argparse.Namespace) -> None:
    """Refuse words that do not go together."""
    if options.act == "list" and (options.ids or options.laws or options.csv):
        raise Unusable("list takes a folder alone, as --in DIR; try ./tools/records --help")
    if options.act == "show" and not options.ids:
        raise Unusable(f"show needs an ID, or {LAST}; ./tools/records list has them")
    other = options.act == "list" or options.html
    if options.top and options.csv or (options.by or options.top or options.sort) and other:
        raise Unusable("--by, --sort and --top are of the rows of a watch: without list and "
                       "--html, and --top without --csv")
    if options.laws and options.csv:
        raise Unusable("--laws is of the report and --csv has none: leave out one")
    if options.exact and (options.act == "list" or options.csv or options.html):
        raise Unusable("--exact is of a report: without list, --csv, --html")
    asked = [each for each in FILES if getattr(options, each)]
    if asked and (options.act == "list" or options.laws or options.csv or len(options.ids) != 1 or
                  len(asked) > 1):
        raise Unusable(f"--{asked[0]} FILE is of show and one ID, without --laws and --csv")


def runs_of(path: Path) -> list[Record]:
    """The run of a file, or all of a sweep."""
    if path.is_dir():
        return load_sweep(path)
    data = read_json(path)
    check(data, path)
    return [Record(data, path)]


def show_rows(paths: list[Path], options: argparse.Namespace) -> None:
    """The rows of watches."""
    found = []
    for path in paths:
        data = read_json(path)
        check_watch(data, path)
        view = view_of(data, options)
        found += [[data["id"], view.by, *row] for row in rows.csv_rows(data, view.by, view.sort)]
    print(csv_text(("id", "by", *rows.CSV_HEAD), found), end="")


def show_csv(paths: list[Path], options: argparse.Namespace) -> None:
    """A row for each run, or the rows of watches."""
    watched = {path.is_file() and is_watch(read_json(path)) for path in paths}
    if watched == {True, False}:
        raise Unusable("--csv: one is of a watch, another is not: rows of both have no common head")
    if watched == {True}:
        return show_rows(paths, options)
    records = [record for path in paths for record in runs_of(path)]
    modelled = any(record.modelled for record in records)
    cells = ([tables.cell(each) for each in tables.tidy_row(record, modelled)]
             for record in records)
    print(csv_text(tables.tidy_header(modelled), cells), end="")
    return None


def sweep_lines(path: Path) -> list[str]:
    """What a sweep is of, and its answer."""
    plan = load_plan(path)
    records = load_sweep(path)
    profile = "" if plan["profile"] == NO_PROFILE else plan["profile"]
    head = f"{plan['title']}: {len(records)} of {len(plan['points']) * plan['repeats']} runs, " \
           f"path {plan['settings']['path']}, pattern {plan['settings']['pattern']}"
    complete = [each for each in records if not each.incomplete]
    return [head, *answer.lines(plan, complete, pairs.paired(plan, complete), path, profile)]


def view_of(data: dict[str, Any], options: argparse.Namespace) -> View:
    """What is shown of a watch: what that was asked to show, unless these options say otherwise."""
    asked = {"by": options.by, "sort": options.sort, "top": options.top}
    return replace(watch.view_of(data), laws=options.laws, exact=options.exact,
                   **{key: value for key, value in asked.items() if value})


def show(path: Path, options: argparse.Namespace) -> list[str]:
    """The report of what lies at a path."""
    if path.is_dir():
        return sweep_lines(path)
    data = read_json(path)
    if is_watch(data):
        check_watch(data, path)
        said = watch.lines(data, view_of(data, options))
    else:
        other = others.lines(data, path)
        if other is not None:
            return other
        check(data, path)
        said = run.lines(Record(data, path), Look(options.laws, options.exact))
    return [*said, "", *wrapped(run.foot(Record(data, path)))]


def watch_of(path: Path, option: str) -> Record:
    """The watch that lies at a path, with its stacks."""
    data = {} if path.is_dir() else read_json(path)
    if not is_watch(data):
        raise Unusable(f"{path}: --{option} is of a watch")
    check_watch(data, path)
    record = whole_of(data, path)
    if not has(record):
        raise Unusable(f"{path}: the watch kept no stacks: watch again with --stacks")
    return record


def write_stacks(path: Path, option: str, file: str) -> None:
    """Write the stacks of a watch as other tools read them."""
    with RecordFile(file, f"--{option}") as place:
        record = watch_of(path, option)
        place.write("".join(f"{line}\n" for line in folded_lines(record)) if option == "folded"
                    else pprof.profile(record))


def write_page(path: Path, file: str) -> None:
    """Write the report of a run or a watch as a page."""
    with RecordFile(file, "--html") as place:
        if path.is_dir():
            raise Unusable(f"{path}: a sweep has figures: ./tools/plot draws them; --html is of a "
                           "record")
        data = read_json(path)
        if is_watch(data):
            check_watch(data, path)
            record: Record = whole_of(data, path)
        else:
            check(data, path)
            record = Record(data, path)
        place.write(page.page(record, path))


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    options = build_parser().parse_intermixed_args(words)
    check_options(options)
    if options.act == "list":
        there = place(options.folder)
        found = kept(there)
        print(*(listing.lines(found) if found else
                [f"No record is kept in {there}: make a run first, or name a folder with --in."]),
              sep="\n")
        return 0
    paths = [find(wanted, options.folder) for wanted in options.ids]
    if options.csv:
        show_csv(paths, options)
        return 0
    if options.html:
        write_page(paths[0], options.html)
        return 0
    for option in ("folded", "pprof"):
        if getattr(options, option):
            write_stacks(paths[0], option, getattr(options, option))
            return 0
    shown = [show(path, options) for path in paths]
    between = [line for lines in shown for line in (*lines, "", "")][:-2]
    print(joined(between, takes_colours(1, options.color)), end="")
    return 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # What is read stays until the end: to look through all of it for cycles again and again takes
    # a third of the time of a large record.
    gc.disable()
    try:
        return cli.run(act, words, NAME)
    finally:
        # Nor does the end of Python look through it.
        gc.freeze()
