# SPDX-License-Identifier: GPL-2.0
"""The command plot: reads the command line and the records, and draws every figure of them."""
from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

from copyscope import cli
from copyscope.cli import Parser, complain, folder
from copyscope.common.needs import drawing
from copyscope.files.output_folder import OutputFolder
from copyscope.pictures import flame
from copyscope.pictures.groups import Group, split
from copyscope.records import stacks
from copyscope.records.documents import BadRecord
from copyscope.records.load import load_any, load_records
from copyscope.records.run_record import Record

EPILOG = """\
Runs that differ in path, kernel, backend and the like go to separate files. index.md names every
figure, and those that are left out with the reason: nothing was measured, or one point is no line.
exit: 0 all drawn; 2 bad input, nothing drawn; 3 matplotlib is missing
example: ./tools/plot results/mine --profile mt25023 --out results/mine/figures"""
# Watched processes of one figure.
MOST_WATCHED = 12


def parser() -> Parser:
    """The command line."""
    made = Parser("./tools/plot", EPILOG)
    made.add_argument("records", nargs="+", metavar="RECORDS",
                      help="records of runs or watches, folders of them, or a sweep's folder")
    made.add_argument("--out", required=True, type=folder, metavar="DIR",
                      help="where the figures go")
    made.add_argument("--profile", metavar="NAME",
                      help="draw the line figures of studies/profiles/NAME.toml or of a .toml file")
    made.add_argument("--flame", action="store_true",
                      help="draw flame graphs alone: the stacks of watches with --stacks")
    return made


def flames(sources: list[str], place: Path) -> None:
    """Draw the stacks of each watch; print the names of the files."""
    found = {record.id: record for record in load(sources) if stacks.has(record)}
    if not found:
        raise BadRecord(", ".join(sources), "stacks", "no record has any",
                        "watch with --stacks first")
    with OutputFolder.at(place) as out:
        for record in found.values():
            name = f"flame-{record.id}.svg"
            out.write(name, flame.flame(record))
            print(place / name)


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
    left_out = {id(record) for record in rest}
    return [record for record in records if id(record) not in left_out]


def split_kinds(records: list[Record]) -> list[Group]:
    """Groups of records; says so if times of both kinds are among them, which no figure mixes."""
    if len({record.times.probed for record in records if not record.watched}) > 1:
        complain("plot", "some runs were timed with probes attached and some without: they are "
                 "drawn apart")
    return split(records)


def run(options: argparse.Namespace) -> None:
    """Draw it all; print the names of the files."""
    jobs = drawing(f"{__package__}.jobs")
    # Every input is read and checked before the first file is written.
    work = list(jobs.jobs(split_kinds(load(options.records)), options.profile))
    twice = [name for name, times in Counter(job.name for job in work).items() if times > 1]
    if twice:
        raise BadRecord(options.profile, "figures.file", f"{twice[0]!r} is drawn already",
                        "choose another name")
    live = sys.stderr.isatty()
    with OutputFolder.at(options.out) as out:
        for done, job in enumerate(work, 1):
            for file in jobs.make(out, job, options.out):
                print(file)
            if live:
                print(f"\r\033[K{done}/{len(work)} {job.name[:60]}", end="", file=sys.stderr,
                      flush=True)
        jobs.write_index(out, work, jobs.modelled_pages(options.records, options.out))
    if live:
        print("\r\033[K", end="", file=sys.stderr)
    print(options.out / jobs.INDEX)


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    options = parser().parse_args(words)
    try:
        if options.flame:
            flames(options.records, options.out)
        else:
            run(options)
    except BrokenPipeError:
        # The reader of the list has left; what it wanted is drawn.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    return cli.run(act, words, "plot", advice="; choose another --out or make room")
