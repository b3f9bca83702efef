# SPDX-License-Identifier: GPL-2.0
"""Searches for the crossover of every two variants of a profile, or of the plain way and each other
one, and writes one table of them.
"""
from __future__ import annotations

import argparse
import json
import sys
from itertools import combinations, groupby
from typing import Any

from copyscope.common.errors import Refused, Unusable
from copyscope.common.text import csv_text
from copyscope.files.output_folder import OutputFolder, has_line
from copyscope.records import documents
from copyscope.runs import launch, paths, profile as profiles
from copyscope_studies.ways import PLAIN, WAYS

from .answer import SCHEMA, Question, answer
from .runs import Effort, Side, Workload, side_of

TITLE = "# From which size each way to send wins"
PROOFS = {"crossovers.md": has_line(TITLE), "crossovers.csv": has_line("profile,")}
NOTE = ("Both sides took turns in one connection, over several starts, or ran in turn where they",
        "cannot share one; without probes. A size is decided if the 95 % interval of the median of",
        "the ratios of what they take leaves out 1, and alike if all of it lies within 3 %. Of a",
        "search's intervals the widest is told as a share of the ratio, with its size. `*.json`",
        "have every size that was measured.")
# Of records of ways, in place of a profile's name.
NO_PROFILE = "ways"
HEAD = ("profile", "path", "pattern", "connections", "first", "first_variant", "second",
        "second_variant", "answer", "faster_below", "low_bytes", "faster_above", "high_bytes",
        "undecided_bytes", "contrary_bytes", "wide_bytes", "pairs", "most_pairs", "seconds",
        "started_utc")


def check(options: argparse.Namespace) -> None:
    """Refuse what the profile says already, and what has no place there."""
    option = "--ways" if options.ways else "--profile"
    if options.profile and options.ways:
        raise Unusable("--profile and --ways both say what is compared: give one")
    if options.first:
        raise Unusable(f"{option} names the variants: leave out VARIANT")
    if not options.out:
        raise Unusable(f"--out DIR is missing: say where the records of {option} go")
    for each in ("json", "baseline") if options.ways else ("pattern", "json", "baseline"):
        if getattr(options, each) is not None:
            raise Unusable(f"--{each} does not go with {option}")
    if options.profile:
        paths.refuse_beside(options, "the profile")


def workload(options: argparse.Namespace) -> Workload:
    """What both sides have in common, where the options say it."""
    path = options.path or "veth"
    between = paths.words_of(paths.runnable(options, path))
    return Workload(path, options.threads, options.seconds, options.pattern or "stream",
                    options.others_at_most, tuple(between))


def sides(profile: profiles.Profile) -> list[tuple[Side, Side]]:
    """Every two of its variants."""
    found = []
    for each in profile.variants:
        found.append(Side(each["label"], each["variant"], each.get("receiver", "recv"),
                          tuple(paths.words_of(profile.settings))))
    return list(combinations(found, 2))


def questions(options: argparse.Namespace, efforts: tuple[Effort, Effort],
              quantity: str) -> list[Question]:
    """What is asked of a profile, or of the ways."""
    if options.ways:
        words = dict.fromkeys(way.word for way in WAYS if way.word != PLAIN)
        return [Question((side_of(PLAIN), side_of(each)), workload(options), options.low,
                         options.high, options.nearness, *efforts, "", quantity) for each in words]
    profile = profiles.load(options.profile, "corrected")
    settings = profile.settings
    if settings["threads_are"] == "readers":
        raise Unusable(f"--profile {profile.name}: its readers see no messages, so none is timed")
    work = Workload(settings["path"], options.threads, options.seconds, settings["pattern"],
                    options.others_at_most)
    return [Question(pair, work, options.low, options.high, options.nearness, *efforts,
                     profile.name, quantity) for pair in sides(profile)]


def name_of(question: Question) -> str:
    """The file of a record."""
    first, second = question.sides
    threads = question.workload.threads
    of = question.profile or f"{NO_PROFILE}-{question.workload.path}"
    return f"{of}_{first.name}-{second.name}_{threads}T.json".replace(":", "-")


def names_of(record: dict[str, Any]) -> list[str]:
    """What both sides are called."""
    return record.get("labels") or [record["first"], record["second"]]


def row(record: dict[str, Any]) -> list[Any]:
    """One crossover in the table."""
    found = record["answer"]
    labels = names_of(record)
    name = dict(zip((record["first"], record["second"]), labels))
    return [record.get("profile", NO_PROFILE), record["path"]["kind"], record["pattern"],
            record["threads"], labels[0], record["first"], labels[1], record["second"],
            found["kind"], name.get(found["faster_below"]), found["low_bytes"],
            name.get(found["faster_above"]), found["high_bytes"],
            " ".join(map(str, found["undecided_bytes"])),
            " ".join(map(str, found["contrary_bytes"])),
            " ".join(map(str, found.get("wide_bytes", []))), record["pairs"],
            record.get("most_pairs"), record["seconds"], record["started"]]


def to_most(record: dict[str, Any]) -> str:
    """How far the pairs of a size may grow in number, if they may."""
    most = record.get("most_pairs", record["pairs"])
    return f" to {most}" if most > record["pairs"] else ""


def widest(record: dict[str, Any]) -> str:
    """How wide the widest interval is, and at which size."""
    widths = {each["bytes"]: (each["ratio_high"] - each["ratio_low"]) / each["ratio"]
              for each in record["sizes"]}
    at = max(widths, key=lambda size: widths[size])
    return f"{widths[at] * 100:.0f} % at {at}"


def answers(records: list[dict[str, Any]]) -> list[str]:
    """A table for each profile: its pairs, each with all numbers of connections."""
    lines: list[str] = []
    for head, mine in groupby(records, lambda each: f"## {each.get('profile', NO_PROFILE)}: "
                              f"{each['path']['kind']}, {each['pattern']}"):
        lines += [head, "", "| pair | connections | answer | widest interval |",
                  "|---|---:|---|---:|"]
        for each in mine:
            variants = (each["first"], each["second"])
            pair = " / ".join(f"{label} ({variant})" if label != variant else label
                              for label, variant in zip(names_of(each), variants))
            lines.append(f"| {pair} | {each['threads']} | {each['answer']['sentence']} | "
                         f"{widest(each)} |")
        lines.append("")
    return lines


def page(records: list[dict[str, Any]]) -> str:
    """The same for people: the answers in words, then where they hold."""
    lines = [TITLE, "", *NOTE, "", *answers(records)]
    machines = dict.fromkeys(
        f"- {each['machine']['cpu_model']}, {each['machine']['cpus']} CPUs, kernel "
        f"{each['machine']['kernel']}, commit {each['tool']['commit']}: "
        f"{each['pairs']}{to_most(each)} {each.get('method', 'pairs of runs')} of "
        f"{each['seconds']:g} s a size" for each in records)
    commands = dict.fromkeys(f"- `{' '.join(each['command'])}`" for each in records)
    return "\n".join([*lines, "Measured on:", "", *machines, "", "By:", "", *commands, ""])


def write_table(place: OutputFolder) -> None:
    """Write the table of all records in the folder, of whatever profile."""
    records = [documents.load(place.path / name, "crossover", "remove the file to measure it again")
               for name in sorted(place.names()) if name.endswith(".json")]
    records = [each for each in records if each.get("schema") == SCHEMA]
    place.write("crossovers.csv", csv_text(HEAD, map(row, records)))
    place.write("crossovers.md", page(records))


def conduct(options: argparse.Namespace, efforts: tuple[Effort, Effort], quantity: str,
            command: list[str]) -> int:
    """Search for all that the folder lacks, then write the table. 0, or an error is raised."""
    asked = questions(options, efforts, quantity)
    launch.check_built("host")
    with OutputFolder.at(options.out) as place:
        place.claim("tools/crossover --profile", PROOFS, {})
        # First: whatever ends this early, the folder can be told from somebody else's.
        write_table(place)
        for question in asked:
            name = name_of(question)
            if place.file(name):
                print(f"{name}: measured already", file=sys.stderr)
                continue
            if not options.quiet:
                print(f"{question.sides[0].name} and {question.sides[1].name} of "
                      f"{question.profile or NO_PROFILE}:", flush=True)
            record = found(question, options, command)
            if record:
                place.write(name, json.dumps(record, indent=1) + "\n")
                print(record["answer"]["sentence"], flush=True)
                write_table(place)
        write_table(place)
    return 0


def found(question: Question, options: argparse.Namespace,
          command: list[str]) -> dict[str, Any] | None:
    """The record of one search; None for a way that this kernel lacks."""
    try:
        return answer(question, None, lambda line: None if options.quiet else
                      print(line, flush=True), command)
    except Refused as error:
        if question.profile:
            raise
        print(f"{question.sides[1].name}: not searched: {error}", file=sys.stderr)
        return None
