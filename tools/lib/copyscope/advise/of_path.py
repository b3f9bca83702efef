# SPDX-License-Identifier: GPL-2.0
"""Advice for a path, without a program: prices every way there, tells or keeps what it found."""
from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from copyscope.common.errors import Unusable
from copyscope.common.tables import LEAST_BYTES, MOST_BYTES, MOST_THREADS, PATHS
from copyscope.common.text import now_utc, wrapped
from copyscope.files.output_folder import OutputFolder, has_line
from copyscope.files.record_file import RecordFile
from copyscope.records import documents, ways as answers
from copyscope.report import ways as report
from copyscope.runs import launch, paths, ways
from copyscope.runs.plan import check_range
from copyscope.runs.ways import Place

FINE, FLIPPED = 0, 1
PAGE, TITLE = "turns.md", "# Which way to send pays, by turns in one connection"
REMEDY = "remove the file to measure it again"


def listed_paths(text: str) -> tuple[str, ...]:
    """lo,veth."""
    found = tuple(text.split(","))
    for each in found:
        if each not in PATHS:
            raise argparse.ArgumentTypeError(f"{each!r} is none of {', '.join(PATHS)}")
    return found


def places(options: argparse.Namespace) -> list[Place]:
    """Each path with each number of connections."""
    check_range("--sizes", options.sizes, LEAST_BYTES, MOST_BYTES)
    check_range("--threads", options.threads, 1, MOST_THREADS)
    found = []
    for path in options.path or ("lo",):
        if paths.two_hosts(path):
            raise Unusable(f"--path {path}: ways take turns on one host; ./tools/sweep --path "
                           f"{path} compares runs")
        between = tuple(paths.words_of(paths.runnable(options, path)))
        found += [Place(path, threads, between, options.answer) for threads in options.threads]
    if len(found) > 1 and not options.out:
        raise Unusable("several paths or numbers of connections need --out DIR")
    return found


def measured(place: Place, options: argparse.Namespace, command: list[str],
             tell: Callable[[str], None]) -> dict[str, Any]:
    """The document of a place."""
    started = now_utc()
    found = ways.measure(place, tuple(sorted(options.sizes)), options.budget, tell)
    ways.count_all(found, place, tell)
    tell("")
    return ways.document(found, place, started, command)


def sharpened(data: dict[str, Any], place: Place, options: argparse.Namespace,
              command: list[str], tell: Callable[[str], None]) -> dict[str, Any]:
    """A document with more turns for what is undecided in it."""
    ways.refuse_elsewhere(data)
    found = ways.Found({each["variant"]: each["sizes"] for each in data["ways"]})
    ways.sharpen(found, place, time.monotonic() + options.budget, tell)
    tell("")
    for each in data["ways"]:
        each["answer"] = answers.told(answers.outcomes(each["sizes"]))
    return {**data, "sharpened": command}


def page(found: list[dict[str, Any]]) -> str:
    """All places for people."""
    text = [TITLE, ""]
    for data in found:
        text += [f"## {data['path']['kind']}, connections: {data['threads']}", "", "```",
                 *report.lines(data), "```", ""]
    commands = dict.fromkeys(" ".join(each[key]) for key in ("command", "sharpened")
                             for each in found if key in each)
    days = sorted({each["started"][:10] for each in found})
    clear, cells = (sum(each) for each in zip(*map(answers.decided, found)))
    return "\n".join([*text, f"{clear} of {cells} cells are decided or alike. Measured "
                      f"{' to '.join(dict.fromkeys((days[0], days[-1])))}, by", "",
                      *(f"    {each}" for each in commands)]) + "\n"


def load(place: OutputFolder, name: str) -> dict[str, Any]:
    """A document that is there."""
    return documents.load(place.path / name, "ways", REMEDY)


def keep_all(options: argparse.Namespace, command: list[str],
             tell: Callable[[str], None]) -> int:
    """Measure what the folder lacks, and write its page; 1 if an answer is the opposite of that in
    another folder."""
    wanted = {f"{place.path}-{place.threads}.json": place for place in places(options)}
    with OutputFolder.at(options.out) as folder:
        folder.claim("tools/advise --out", {PAGE: has_line(TITLE)}, {})
        if not folder.file(PAGE):
            folder.write(PAGE, TITLE + "\n")
        for name, place in wanted.items():
            if not folder.file(name):
                data = measured(place, options, command, tell)
            elif options.sharpen:
                data = sharpened(load(folder, name), place, options, command, tell)
            else:
                print(f"{name}: measured already", file=sys.stderr)
                continue
            folder.write(name, json.dumps(data) + "\n")
        found = [load(folder, name) for name in wanted]
        folder.write(PAGE, page(found))
    for data in found:
        clear, cells = answers.decided(data)
        print(f"{data['path']['kind']}, connections: {data['threads']}: {clear} of {cells} cells "
              "decided or alike")
    return against(options, found) if options.against else FINE


def against(options: argparse.Namespace, found: list[dict[str, Any]]) -> int:
    """Say which answers are the opposite of those in another folder."""
    before = [documents.load(file, "ways", REMEDY)
              for file in sorted(options.against.glob("*.json"))]
    if not before:
        raise Unusable(f"--against {options.against}: it has no record of ways")
    flips = answers.flips(before, found)
    machines = {data["machine"]["cpu_model"] for data in (*before, *found)}
    print(*flips, f"{len(flips)} answers are the opposite of those in {options.against}" +
          (f", on other processors: {', '.join(sorted(machines))}" if len(machines) > 1 else ""),
          sep="\n")
    return FLIPPED if flips else FINE


def conduct(place: Place, options: argparse.Namespace, command: list[str],
            file: RecordFile | None, tell: Callable[[str], None]) -> int:
    """Answer for one path."""
    data = measured(place, options, command, tell)
    text = json.dumps(data) + "\n"
    if file:
        file.write(text)
    elif options.json:
        sys.stdout.write(text)
    if not options.quiet:
        print(*report.lines(data), "",
              *wrapped(paths.told(place.path, data["machine"]["kernel"])), sep="\n",
              file=sys.stderr if options.json == "-" else sys.stdout)
    return FINE


def act(options: argparse.Namespace, command: list[str]) -> int:
    """Answer, or measure many."""
    launch.check_built(launch.HOST)
    tell = (lambda line: None) if options.quiet else launch.overwrite
    if options.out:
        return keep_all(options, command, tell)
    place, = places(options)
    if options.json in (None, "-"):
        return conduct(place, options, command, None, tell)
    with RecordFile(options.json) as file:
        return conduct(place, options, command, file, tell)
