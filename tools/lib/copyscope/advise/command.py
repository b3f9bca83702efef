# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/advise: watch or read a record, price what was sent, say what pays."""
from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from copyscope import cli
from copyscope.cli import Parser, seconds
from copyscope.common.errors import Refused, Unusable
from copyscope.common.tables import PATHS
from copyscope.common.text import now_utc
from copyscope.common.tree import BUILD
from copyscope.files.cache import scratch_folder
from copyscope.files.record_file import RecordFile
from copyscope.model.choice import LEAVE, PAYS
from copyscope.records import documents
from copyscope.records.sizes import refuse_without
from copyscope.records.watch_record import Watched, check_watch, is_watch, whole_of

from . import prices
from .advice import Advice, as_json, of_process
from .route import Machine, find
from .text import lines

PROGRAM = BUILD / "watch"
SECONDS = 10.0
FINE, PAYING, UNUSABLE, REFUSED, OPEN = 0, 1, 2, 3, 4
EPILOG = """\
A watch counts for some seconds; or give its record, made with --sizes (and --cpu). What sends cost
on this machine is measured once, in about 20 s, and kept. A change is predicted from these
prices and from how large the sends were, in CPU time of both ends for each GB that is sent; of its
interval docs/MODEL.md tells. Nothing is changed.
exit: 0 leave all as it is; 1 a change pays; 2 bad usage or record, or a record without sizes;
3 this machine refuses; 4 undecided: measure it by the command that is named
examples: sudo ./tools/advise -p 1234
          sudo ./tools/advise --comm nginx --source file
          sudo ./tools/advise --record watch.json --json advice.json"""


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/advise", EPILOG, usage="%(prog)s [options] (-p PID | --comm NAME | "
                    "--record RECORD)\n       %(prog)s [options] -- COMMAND [ARG...]")
    add = parser.add_argument
    add("-p", "--pid", metavar="PID", help="these processes: PID[,PID...], as copyscope watch")
    add("--comm", metavar="NAME", help="every process with this name")
    add("--record", type=Path, metavar="RECORD", help="a record of copyscope watch --sizes")
    add("--seconds", type=seconds, metavar="S",
        help=f"how long to watch ({SECONDS:g}; of COMMAND, until it ends)")
    add("--source", choices=("file", "memory"), default="",
        help="where the program has what it sends; a watch cannot tell")
    add("--path", choices=PATHS, help="where packets go, if you know better")
    add("--baseline", type=Path, metavar="FILE",
        help="a record of tools/baseline on that machine, in place of prices measured now")
    add("--json", metavar="FILE", help="write the advice there, - for stdout")
    add("--quiet", action="store_true", help="no text")
    add("stray", nargs="*", help=argparse.SUPPRESS)
    return parser


def parse(words: list[str]) -> argparse.Namespace:
    """Read the words: what stands behind -- is another program's."""
    place = words.index("--") if "--" in words else len(words)
    options = build_parser().parse_args(words[:place])
    options.command = words[place + 1:]
    if options.stray:
        word = options.stray[0]
        meant = "-p before it means that process" if word.isdigit() else \
            "--comm before it means running programs of that name, -- before it starts one"
        raise Unusable(f"{word!r} is no option: {meant}; try ./tools/advise --help")
    whom = [each for each in (options.pid, options.comm, options.record, options.command) if each]
    if len(whom) != 1:
        raise Unusable("name one of -p PID, --comm NAME, --record RECORD, -- COMMAND; "
                       "try ./tools/advise --help")
    if options.record and options.seconds:
        raise Unusable("--seconds says how long to watch: leave it out with --record")
    return options


def watch_words(options: argparse.Namespace, record: Path) -> list[str]:
    """The command line of the watch."""
    window = options.seconds or (None if options.command else SECONDS)
    words = [str(PROGRAM), "--sizes", "--cpu", "--quiet", "--json", str(record)]
    words += ["--seconds", f"{window:g}"] if window else []
    if options.command:
        return [*words, "--", *options.command]
    return [*words, *(["-p", options.pid] if options.pid else ["--comm", options.comm])]


def watch(options: argparse.Namespace, record: Path) -> int:
    """Watch; 0 if the record is there then, else the status of a watch that has told why not."""
    if not PROGRAM.exists():
        raise Refused("build/watch is not there: run make first")
    done = subprocess.run(watch_words(options, record), check=False)
    if record.exists():
        return FINE
    return done.returncode if done.returncode in (UNUSABLE, REFUSED) else UNUSABLE


def load(source: Path) -> Watched:
    """The record of a watch that has sizes."""
    data = documents.read_json(source)
    if not is_watch(data):
        raise Unusable(f"{source}: it is no record of a watch: make one by copyscope watch --sizes "
                       "--json FILE")
    check_watch(data, source)
    refuse_without(data["processes"], source)
    return whole_of(data, source)


def advise(record: Watched, options: argparse.Namespace, live: bool) -> list[Advice]:
    """The advice for each process that moved anything, most first."""
    costs = prices.of_machine(record, options.baseline, live)
    machine = Machine(record.at("machine.kernel"), live)
    found = [of_process(verdict["process"], process,
                        find(record.data, process, machine, options.path), costs, options.source)
             for process, verdict in zip(record.data["processes"], record.data["verdicts"])]
    return sorted((each for each in found if each.choices),
                  key=lambda each: -sum(sent.bytes for sent in (*each.sent, *each.referenced)))


def document(record: Watched, found: list[Advice]) -> dict[str, Any]:
    """The advice as JSON."""
    return {"schema": "copyscope.advice/1", "made": now_utc(), "record": record.data["id"],
            "machine": record.data["machine"], "processes": [as_json(each) for each in found]}


def status_of(found: list[Advice]) -> int:
    """The exit status."""
    verdicts = {each.verdict for each in found}
    return PAYING if PAYS in verdicts else FINE if verdicts <= {LEAVE} else OPEN


def tell(record: Watched, options: argparse.Namespace, live: bool, out: RecordFile | None) -> int:
    """Say and write the advice."""
    found = advise(record, options, live)
    written = json.dumps(document(record, found), indent=1) + "\n"
    if out:
        out.write(written)
    elif options.json:
        print(written, end="")
    if not options.quiet:
        named = str(options.record) if options.record else ""
        said = [line for each in found for line in lines(each, named)] or \
            ["no process sent anything: there is nothing to advise on"]
        print(*said, sep="\n", file=sys.stderr if options.json == "-" else sys.stdout)
    return status_of(found)


def conduct(options: argparse.Namespace, out: RecordFile | None) -> int:
    """Watch or read, then advise."""
    if options.record:
        return tell(load(options.record), options, False, out)
    with scratch_folder() as folder:
        record = folder / "watch.json"
        return watch(options, record) or tell(load(record), options, True, out)


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    options = parse(words)
    if options.json in (None, "-"):
        return conduct(options, None)
    with RecordFile(options.json) as out:
        return conduct(options, out)


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return cli.run(act, words, "advise")
