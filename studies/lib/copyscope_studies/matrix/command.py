# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/matrix: boot the guests, read their records, write the table."""
from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from copyscope import cli
from copyscope.cli import Parser, folder, whole
from copyscope.common.errors import Unusable
from copyscope.common.releases import SUITES
from copyscope.common.tables import PATHS_OF_ONE_HOST
from copyscope.common.tree import BUILD, ROOT
from copyscope.files import cache
from copyscope.files.output_folder import OutputFolder, has_line
from copyscope.runs import launch, paths
from copyscope.runs.guests import side_by_side
from copyscope.runs.launch import HOST

from . import cells, rows as reader, runs, table, ways
from .ways import Made

EXIT_FINE, EXIT_BROKEN = 0, 1
PAGE = "matrix.md"
EPILOG = """\
Every number comes from a run record; the records go to DIR/KERNEL/. The table shows why a cell
could not run. --ways has every way to send and to receive instead, and writes ways.md, ways.csv
and a figure: copies of each byte, pages pinned, system calls, from what size it pays.
exit: 0 every law of every cell that ran balances; 1 one does not, or a guest died; 2 bad usage
examples: ./tools/matrix --out results/matrix
          ./tools/matrix --ways --kernels 6.12 --resume --out results/ways
          sudo ./tools/matrix --path peer --host lab2 --out results/lab2"""


def words(known: tuple[str, ...]):
    """Return a reader of a list, separated by semicolons, of words from `known`."""
    def read(text: str) -> list[str]:
        # Named twice it would be made twice, into the same files.
        found = list(dict.fromkeys(each.strip() for each in text.split(";") if each.strip()))
        for each in found:
            if each not in known:
                raise argparse.ArgumentTypeError(f"{each!r} is none of {'; '.join(known)}")
        if not found:
            raise argparse.ArgumentTypeError(f"nothing named; known are {'; '.join(known)}")
        return found
    return read


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/matrix", EPILOG)
    add = parser.add_argument
    add("--kernels", type=words((*SUITES, *(f"{each}{cells.ARM64}" for each in SUITES))),
        metavar="K;K",
        help=f"releases ({'; '.join(cells.KERNELS)}); known: {'; '.join(SUITES)}, "
             f"each also with {cells.ARM64}")
    add("--paths", type=words(tuple(cells.PATHS)), metavar="P;P",
        help=f"rows ({'; '.join(cells.PATHS)})".replace("%", "%%"))
    add("--variants", type=words(cells.VARIANTS), metavar="V;V",
        help=f"({'; '.join(cells.VARIANTS)})")
    add("--path", choices=[each for each in paths.PATHS if paths.two_hosts(each)],
        help="between this host and --host, by their own kernels, not in guests")
    paths.add_words(parser)
    add("--ways", action="store_true", help="every way to send and to receive instead of variants, "
        f"on {', '.join(PATHS_OF_ONE_HOST)}")
    add("--resume", action="store_true", help="keep what DIR has of these runs; make the others")
    add("--bytes", type=whole(8, 1 << 20), default=65536, metavar="N", help="a message (65536)")
    add("--messages", type=whole(1, 10**6), default=200, metavar="N", help="a run (200)")
    add("--jobs", type=whole(1, 64), default=side_by_side(), metavar="N",
        help="guests at a time (one for each processor, as memory allows)")
    add("--out", type=folder, metavar="DIR", help="where the table and the records go")
    add("--quiet", action="store_true", help="no progress")
    return parser


def shown_command(arguments: list[str]) -> str:
    """The command as typed, with names inside the tree made relative to it."""
    return shlex.join(["./tools/matrix", *(os.path.relpath(word, ROOT) if os.path.isabs(word)
                                           else word for word in arguments)])


def words_of_path(options: argparse.Namespace) -> list[str]:
    """What trace_run is told of a path to another host."""
    if options.path is None:
        paths.settings_of(options, "veth")
        return []
    for name in ("paths", "kernels", "ways"):
        if getattr(options, name):
            raise Unusable(f"--{name} is for guests: leave it out with --path {options.path}")
    launch.check_built(HOST)
    return ["--path", options.path, *paths.words_of(paths.settings_of(options, options.path))]


def wanted_cells(options: argparse.Namespace) -> list[cells.Cell]:
    """The runs that were asked for."""
    if options.ways:
        return cells.cells_of_ways(options.paths or PATHS_OF_ONE_HOST)
    return cells.cells([options.path] if options.path else options.paths or list(cells.PATHS),
                       options.variants or cells.VARIANTS, words_of_path(options))


def missing_runs(options: argparse.Namespace, folder: Path,
                 wanted: list[cells.Cell]) -> dict[str, runs.Runs]:
    """The runs that are to be made, by kernel and name."""
    size, messages = options.bytes, options.messages
    return {kernel: {cell.name: cell.words(size, messages) for cell in wanted
                     if not options.resume or
                     not reader.is_there(folder / kernel, cell, size, messages)}
            for kernel in ([HOST] if options.path else options.kernels or cells.KERNELS)}


def run(options: argparse.Namespace, folder: Path, wanted: list[cells.Cell],
        arguments: list[str]) -> int:
    """Make all runs into `folder` and print the table."""
    missing = missing_runs(options, folder, wanted)
    total, done = sum(map(len, missing.values())), 0

    def step(name: str) -> None:
        nonlocal done
        done += 1
        if not options.quiet:
            print(f"{done}/{total} {name}", file=sys.stderr, flush=True)

    outcomes = [runs.between_hosts(missing[HOST], folder, step)] if options.path else \
        runs.in_guests(missing, folder, options.jobs, step)
    found = reader.rows(outcomes, wanted)
    write(options, found, arguments)
    broken = [row for row in found if row.record and not row.fine]
    for row in broken:
        print(f"matrix: {row.kernel}, {row.cell.path}, {row.cell.variant}, "
              f"{row.cell.receiver}: {row.laws}", file=sys.stderr)
    lost = [outcome for outcome in outcomes if outcome.why]
    for outcome in lost:
        print(f"matrix: {outcome.kernel}: {outcome.why}", file=sys.stderr)
    return EXIT_BROKEN if broken or lost else EXIT_FINE


def write(options: argparse.Namespace, found: list[reader.Row], arguments: list[str]) -> None:
    """Write the files of the folder, if there is one, and print the page."""
    made = Made(shown_command(arguments), options.bytes, options.messages)
    if options.ways:
        files = ways.files(found, made, options.out)
    else:
        files = {PAGE: table.page(found, made.command, made.size, made.messages, options.host),
                 "matrix.csv": table.sheet(found)}
    if options.out:
        with OutputFolder.at(options.out) as place:
            for name, text in files.items():
                place.write(name, text)
        if options.ways:
            ways.draw(options.out)
    print(next(iter(files.values())))


def claim(out: Path, page: str, title: str) -> None:
    """Refuse a folder of somebody else's, and mark a new one as ours."""
    with OutputFolder.at(out) as place:
        place.claim("tools/matrix", {page: has_line(title)})
        if not place.file(page):
            place.write(page, f"{title}\n\nThe guests still run, or were stopped.\n")


def act(arguments: list[str]) -> int:
    """Do what the arguments ask for."""
    options = build_parser().parse_args(arguments)
    if not os.access(BUILD / "trace_run", os.X_OK):
        raise Unusable("build/trace_run is not built: run make first")
    if options.ways and options.variants:
        raise Unusable("--ways has every variant: leave out --variants")
    if options.resume and not options.out:
        raise Unusable("--resume needs the DIR to go on with: give --out")
    wanted = wanted_cells(options)
    if not options.out:
        with cache.scratch_folder() as folder:
            return run(options, folder, wanted, arguments)
    if options.ways:
        ways.load_drawing()
        claim(options.out, ways.PAGE, ways.TITLE)
    else:
        claim(options.out, PAGE, table.TITLE)
    return run(options, options.out, wanted, arguments)


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    cli.unwind_on_signals()
    return cli.run(act, words, "matrix")
