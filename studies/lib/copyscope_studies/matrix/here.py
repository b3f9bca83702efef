# SPDX-License-Identifier: GPL-2.0
"""Makes the runs of the table between this host and another one, in place of guests."""
from __future__ import annotations

import argparse
from pathlib import Path

from copyscope.common.errors import Unusable
from copyscope.files.output_folder import OutputFolder
from copyscope.records.passes import COUNTED
from copyscope.runs import launch, paths
from copyscope.runs.launch import HOST

from .guests import Outcome, Runs, Say, remove_earlier


def add_options(parser: argparse.ArgumentParser) -> None:
    """--path peer, and what belongs to it."""
    parser.add_argument("--path", choices=[each for each in paths.PATHS if paths.two_hosts(each)],
                        help="between this host and --host, by their own kernels, not in guests")
    paths.add_words(parser)


def words(options: argparse.Namespace) -> list[str]:
    """What trace_run is told of the path."""
    if options.path is None:
        paths.settings_of(options, "veth")
        return []
    for name in ("paths", "kernels", "ways"):
        if getattr(options, name):
            raise Unusable(f"--{name} is for guests: leave it out with --path {options.path}")
    launch.check_built(HOST)
    return ["--path", options.path, *paths.words_of(paths.settings_of(options, options.path))]


def make_all(runs: Runs, folder: Path, step: Say) -> Outcome:
    """Make the runs, each with its files in the folder as a guest leaves them. Raise what every
    other run would meet, too: the other host is not there, or has another build."""
    with OutputFolder.at(folder) as place, place.subfolder(HOST) as mine:
        remove_earlier(mine, runs)
        for name, arguments in runs.items():
            done = launch.make(launch.Run(name, tuple(arguments)), folder / HOST / f"{name}.json",
                               0, HOST, COUNTED)
            mine.write(f"{name}.err", done.stderr)
            mine.write(f"{name}.status", f"{done.status}\n")
            step(name)
    return Outcome(HOST, folder / HOST)
