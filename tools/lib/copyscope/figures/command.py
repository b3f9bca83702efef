# SPDX-License-Identifier: GPL-2.0
"""The command plot: reads the command line and the records, and draws every figure of them."""
from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator

from copyscope.cli import command_line
from copyscope.cli.command_line import Parser, complain
from copyscope.cli.options import folder
from copyscope.files.output_folder import OutputFolder
from copyscope.records.documents import BadRecord
from copyscope.records.load import load_any, load_records
from copyscope.records.run_record import Record

from . import specs
from .groups import Group, slugs, split

try:
    from matplotlib.figure import Figure

    from copyscope.drawing import style

    from . import draw_bars, draw_lines, draw_map
except ImportError as error:
    print(f"plot: {error}: run tools/setup, which makes build/venv", file=sys.stderr)
    sys.exit(3)

EPILOG = """\
Runs that differ in path, kernel, backend and the like go to separate files.
exit: 0 all drawn; 2 bad input, nothing drawn; 3 matplotlib is missing
example: ./tools/plot results/mine --profile mt25023 --out results/mine/figures"""
# Watched processes of one figure.
MOST_WATCHED = 12
# Name of its files without ending, and what draws it.
Job = tuple[str, Callable[[], Figure]]


def parser() -> Parser:
    """The command line."""
    made = Parser("./tools/plot", EPILOG)
    made.add_argument("records", nargs="+", metavar="RECORDS",
                      help="records of runs or watches, folders of them, or a sweep's folder")
    made.add_argument("--out", required=True, type=folder, metavar="DIR",
                      help="where the figures go")
    made.add_argument("--profile", metavar="NAME",
                      help="draw the line figures of tools/profiles/NAME.toml, or of a file .toml")
    return made


def line_figures(group: Group, profile: str | None) -> list[specs.Spec]:
    """Which line figures to draw of a group."""
    if group.watched:
        return []
    if profile is None:
        return list(specs.DEFAULTS)
    point = group.records[0].point
    return specs.load(profile, point.mode if point else "")


def jobs(groups: list[Group], profile: str | None) -> Iterator[Job]:
    """Everything to draw. Names contain what their groups differ in."""
    for group in groups:
        for spec in line_figures(group, profile):
            yield spec.file + group.suffix, lambda g=group, s=spec: draw_lines.draw(g, s)
        bars = [("copies-by-site", draw_bars.copy_bars), ("pins-per-message", draw_bars.pin_bars)]
        for name, draw in bars[:1] if group.watched else bars:
            yield name + group.suffix, lambda g=group, d=draw: d(g)
        labelled = draw_bars.by_label(group)
        names = slugs(labelled)
        for label, mine in labelled.items():
            yield (f"copymap-{names[label]}{group.suffix}",
                   lambda g=group, name=label, m=mine: draw_map.draw(g, name, m))


def load(sources: list[str]) -> list[Record]:
    """Load all records, each run once even if it was named twice."""
    found = {(record.id, record.source.resolve(), record.label): record
             for record in load_records(sources, lambda line: complain("plot", line), load_any)}
    if not found:
        raise BadRecord(", ".join(sources), "records", "there are none",
                        "run the sweep first, or unpack its runs.tar.xz")
    return few_watched(list(found.values()))


def few_watched(records: list[Record]) -> list[Record]:
    """The records, of watched processes those that moved most; says so if others are left out."""
    watched = [record for record in records if record.watched]
    rest = sorted(watched, key=lambda each: -(each.payload_bytes or 0))[MOST_WATCHED:]
    if rest:
        complain("plot", f"{len(rest)} of {len(watched)} processes are left out: they moved least")
    return [record for record in records if record not in rest]


def split_kinds(records: list[Record]) -> list[Group]:
    """Groups of records; says so if times of both kinds are among them, which no figure mixes."""
    if len({record.times.probed for record in records if not record.watched}) > 1:
        complain("plot", "some runs were timed with probes attached and some without: they are "
                 "drawn apart")
    return split(records)


def run(options: argparse.Namespace) -> None:
    """Draw it all; print the names of the files."""
    # Every input is read and checked before the first file is written.
    work = list(jobs(split_kinds(load(options.records)), options.profile))
    twice = [name for name, times in Counter(name for name, _ in work).items() if times > 1]
    if twice:
        raise BadRecord(options.profile, "figures.file", f"{twice[0]!r} is drawn already",
                        "choose another name")
    OutputFolder.at(options.out).close()
    live = sys.stderr.isatty()
    for done, (name, draw) in enumerate(work, 1):
        for file in style.save(draw(), options.out / name):
            print(file)
        if live:
            print(f"\r\033[K{done}/{len(work)} {name[:60]}", end="", file=sys.stderr, flush=True)
    if live:
        print("\r\033[K", end="", file=sys.stderr)


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    try:
        run(parser().parse_args(words))
    except BrokenPipeError:
        # The reader of the list has left; what it wanted is drawn.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    return command_line.run(act, words, "plot", advice="; choose another --out or make room")
