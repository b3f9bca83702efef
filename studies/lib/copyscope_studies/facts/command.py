# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/facts: find facts out, print them, write the record."""
from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack

from copyscope import cli
from copyscope.cli import Parser
from copyscope.common.errors import Refused, escaped
from copyscope.files.record_file import RecordFile
from copyscope.runs import launch

from . import of_calls, of_held, of_layout, of_locks, of_messages, of_ports, of_shared
from .fact import Fact, record

NAME = "facts"
# In the order in which they are made; the last one takes a network of its own for good.
GROUPS: dict[str, Callable[[Callable[[str], None]], list[Fact]]] = {
    "layout": of_layout.facts, "fields": of_messages.fields, "packets": of_messages.packets,
    "locks": of_locks.facts, "shared": of_shared.facts, "calls": of_calls.facts,
    "held": of_held.facts, "ports": of_ports.facts}
TEXTS = {"layout": "lines of the cache that the lock, the queue and the counts of a socket lie in",
         "fields": "fields of a message that lie apart in the sender's memory",
         "packets": "bytes of a zero-copy packet that do not lie in user pages",
         "locks": "locks that sends of 8 connections wait for",
         "shared": "waits of threads that share a socket for its lock",
         "calls": "system calls that each way to send and to receive takes for a message",
         "held": "pages of a zero-copy send that are swapped or moved, in a guest",
         "ports": "a million connections one after another (a minute or two), and closes"}
EPILOG = "\n".join([
    "Facts that claims of the reports rest on and no run counts:", "",
    *(f"{name:9} {text}" for name, text in TEXTS.items()), "",
    "They are counts, so that other programs beside do not change them.",
    "All but layout and held need root.",
    "exit: 0 done, also if a fact could not be found out; 1 a run failed; 2 bad usage; 3 this",
    "machine refuses",
    "example: sudo ./tools/facts --json facts.json"])


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/facts", EPILOG)
    add = parser.add_argument
    add("--only", action="append", choices=GROUPS, metavar="GROUP",
        help="these facts alone; can be repeated")
    add("--json", metavar="FILE", help="write the record there, - for stdout")
    add("--quiet", action="store_true", help="no progress")
    return parser


def check(groups: list[str]) -> None:
    """Refuse before anything runs."""
    if set(groups) - {"layout", "held"} and os.geteuid() != 0:
        raise Refused("these facts need root: type sudo ./tools/facts ..., or --only layout")
    if {"fields", "packets", "locks", "shared", "calls"} & set(groups):
        launch.check_built("host")


def found_out(groups: list[str], tell: Callable[[str], None]) -> list[Fact]:
    """The facts of each group."""
    found: list[Fact] = []
    for each in groups:
        tell(TEXTS[each])
        found += GROUPS[each](tell)
    return found


def line(fact: Fact) -> str:
    """A fact for people."""
    number = f"not measured: {fact.why}" if fact.number is None else str(fact.number)
    return escaped(f"{fact.name} {fact.of}: {number} ({fact.means})")


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    options: argparse.Namespace = build_parser().parse_args(words)
    groups = [each for each in GROUPS if not options.only or each in options.only]
    check(groups)
    shown = sys.stderr.isatty() and not options.quiet
    with ExitStack() as stack:
        # Before minutes are spent on what could not be written then.
        file = stack.enter_context(RecordFile(options.json)) \
            if options.json not in (None, "-") else None
        found = found_out(groups, lambda text: print(f"\r\033[K{text}", end="", file=sys.stderr,
                                                     flush=True) if shown else None)
        if shown:
            print("\r\033[K", end="", file=sys.stderr)
        text = json.dumps(record(found, ["./tools/facts", *words]), indent=1) + "\n"
        if file:
            file.write(text)
    print(text if options.json == "-" else "\n".join(map(line, found)),
          end="" if options.json == "-" else "\n")
    return 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    return cli.run(act, words, NAME)
