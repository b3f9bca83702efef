# SPDX-License-Identifier: GPL-2.0
"""trace_run --alternate: makes the starts, prints what they decide, writes the document."""
from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from typing import Any

from copyscope import cli
from copyscope.common.errors import Unusable
from copyscope.common.text import now_utc
from copyscope.files.record_file import RecordFile, new_in_runs
from copyscope.report import alternation
from copyscope.runs import alternation as runs, launch, paths
from copyscope.runs.alternation_document import document

NAME = "trace_run"
SECONDS = 1.0
MOST_STARTS, MOST_MESSAGES = 1000, 10 ** 9 - 1


def build_parser() -> cli.Parser:
    """The options that are not of each run; --help is trace_run's own."""
    parser = cli.Parser("./tools/trace_run", description="", add_help=False)
    add = parser.add_argument
    add("--alternate")
    add("--starts", type=cli.whole(1, MOST_STARTS))
    add("--seconds", type=cli.seconds, default=SECONDS)
    add("--block", type=cli.whole(1, 1000))
    add("--answer-every", type=cli.whole(1, MOST_MESSAGES), default=0)
    add("--every", type=cli.whole(0, 3600), default=runs.EVERY_S)
    add("--json")
    add("--quiet", "-q", action="store_true")
    # Passes of turns are timed; their report has neither laws nor sites.
    add("--pass", choices=("timed",))
    add("--color", choices=("auto", "always", "never"))
    for word in ("--no-probes", "--laws", "--exact"):
        add(word, action="store_true")
    return parser


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    started = now_utc()
    if cli.value_of(words, "--hosts", "FILE") is not None:
        raise Unusable("--alternate is of one host at a time: give --host in place of --hosts")
    options, rest = build_parser().parse_known_args(words)
    least, most = (options.starts,) * 2 if options.starts else \
        (runs.LEAST_STARTS, runs.MOST_STARTS)
    wanted = runs.Asked(options.alternate, tuple(rest), least, most, options.seconds,
                        (options.block,) if options.block else (),
                        answer_every=options.answer_every, every_s=options.every)
    launch.check_built(launch.HOST)
    with ExitStack() as stack:
        # Before the work.
        file = None if options.json == "-" else \
            stack.enter_context(RecordFile(options.json or new_in_runs("alternate")))
        made = runs.make(wanted, (lambda line: None) if options.quiet else launch.overwrite)
        launch.overwrite("")
        data = document(made, started, ["./tools/trace_run", *paths.hidden(words)])
        write(data, file, options.quiet)
    return 0


def write(data: dict[str, Any], file: RecordFile | None, quiet: bool) -> None:
    """Print the report, and keep the document."""
    text = json.dumps(data) + "\n"
    if file is None:
        sys.stdout.write(text)
        return
    file.write(text)
    if not quiet:
        print(*alternation.lines(data), "", f"record         {file.path}", sep="\n")


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    return cli.run(act, words, NAME)
