# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/advise: watch or read a record, price what was sent, say what pays."""
from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from copyscope import cli
from copyscope.cli import Parser, folder, numbers, seconds
from copyscope.common.errors import Refused, Unusable
from copyscope.common.text import now_utc
from copyscope.common.tree import BUILD, ROOT
from copyscope.files.cache import scratch_folder
from copyscope.files.record_file import RecordFile
from copyscope.model.choice import LEAVE, PAYS, UNDECIDED
from copyscope.records import documents
from copyscope.records.kept import find as kept_record
from copyscope.records.sizes import refuse_without
from copyscope.records.watch_record import Watched, check_watch, is_watch, whole_of
from copyscope.runs import launch, paths
from copyscope.runs.ways import BUDGET_S, SIZES

from . import of_path, prices, verified
from .advice import Advice, as_json, of_datagrams, of_process
from .route import Machine, by_datagrams, find
from .services import services
from .sources import Reading
from .text import by_turns, lines
from .verified import Verified

PROGRAM, FRONT = BUILD / "watch", ROOT / "tools" / "copyscope"
SECONDS = 3.0
FINE, PAYING, UNUSABLE, REFUSED, OPEN = 0, 1, 2, 3, 4
# Words that ask more closely, and have a command of their own.
MODES, TOOLS = ("crossover", "predict"), ROOT / "tools"
EPILOG = """\
Without a program it answers for a path: which way to send pays there from which size to which, by
turns in one connection, in under two minutes. With --out it does so for several paths and numbers
of connections, keeps what it found and goes on with what is missing; --against names the answers
that are the opposite in another such folder.
With a program a watch counts for some seconds; or give its record, made with --sizes (and --cpu).
What sends cost there is measured once, in about 20 s, and kept. A change is predicted
from these prices and from how large the sends were, in CPU time of both ends for each GB that is
sent; of its interval docs/MODEL.md tells. Nothing is changed.
"advise crossover A2 A3" searches from which size to which one way pays in place of another, and
"advise predict" holds what this model says against runs; each has its own --help.
exit: 0 leave all as it is, or a path's answer; 1 a change pays, or an answer flipped; 2 bad usage
or record, or a record without sizes; 3 this machine refuses; 4 undecided: measure it by the command
that is named
examples: sudo ./tools/advise --path lo
          sudo ./tools/advise -p 1234
          sudo ./tools/advise --comm nginx --source file
          sudo ./tools/advise --record watch.json --json advice.json
          ./tools/advise --host db1 --comm nginx"""


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/advise", EPILOG, usage="%(prog)s [options] [-p PID | --comm NAME | "
                    "--record RECORD]\n       %(prog)s [options] -- COMMAND [ARG...]")
    add = parser.add_argument
    add("-p", "--pid", metavar="PID", help="these processes: PID[,PID...], as copyscope watch")
    add("--comm", metavar="NAME", help="every process with this name")
    add("--record", type=kept_record, metavar="RECORD",
        help="a record of copyscope watch --sizes: a file, an ID as list shows it, or last")
    add("--seconds", type=seconds, metavar="S",
        help=f"how long to watch ({SECONDS:g}; of COMMAND, until it ends)")
    add("--source", choices=("file", "memory"), default="",
        help="where the program has what it sends (a file, if it reads as much as it sends)")
    add("--path", type=of_path.listed_paths, metavar="PATH", help="where packets go, if you know "
        "better; without a program the path that is asked about, or several with --out (lo)")
    paths.add_words(parser, host="of a program: watch it there, as copyscope watch --host does",
                    ssh="of --host: what reaches it (ssh)")
    add("--sizes", type=numbers, default=list(SIZES), metavar="N,N",
        help="without a program: bytes of a message (64,4k,16k,64k,256k,1M)")
    add("--threads", type=numbers, default=[1], metavar="N,N",
        help="without a program: connections (1)")
    add("--answer", type=cli.number, default=0, metavar="BYTES",
        help="without a program: the sender waits for an answer after so many (it never waits)")
    add("--budget", type=seconds, default=BUDGET_S, metavar="S",
        help=f"without a program: about how long the turns of a path may take ({BUDGET_S:g})")
    add("--out", type=folder, metavar="DIR", help="without a program: where many go")
    add("--sharpen", action="store_true", help="with --out: spend the budget of each path that is "
        "there on what is undecided")
    add("--against", type=Path, metavar="DIR", help="with --out: an older one")
    add("--baseline", type=Path, metavar="FILE",
        help="a record of tools/baseline on that machine, in place of prices measured now")
    add("--verify", action="store_true", help="of a program: let the ways take turns on its path, "
        "at its sizes, and say if the advice holds (up to five minutes more)")
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
    if len(whom) > 1:
        raise Unusable("name one of -p PID, --comm NAME, --record RECORD, -- COMMAND, or none for "
                       "a path; try ./tools/advise --help")
    check(options, bool(whom))
    if options.record and options.seconds:
        raise Unusable("--seconds says how long to watch: leave it out with --record")
    return options


def check(options: argparse.Namespace, program: bool) -> None:
    """Refuse what is of a program alone, or of a path alone."""
    options.program = program
    if not program:
        for name in ("seconds", "source", "baseline", "verify", "host", "ssh"):
            if getattr(options, name):
                raise Unusable(f"--{name} is of a program: name one, as with -p PID")
        if (options.against or options.sharpen) and not options.out:
            raise Unusable("--against and --sharpen are of what --out DIR keeps: give it, too")
        if options.out and options.json:
            raise Unusable("--json is of one path: --out DIR has a file for each")
        if options.out and options.answer:
            raise Unusable("--answer is of one path: leave out --out")
        return
    for name in ("out", "against", "sharpen", "answer"):
        if getattr(options, name):
            raise Unusable(f"--{name} is of paths: leave out the program")
    if options.path and len(options.path) > 1:
        raise Unusable("--path of a program is one")
    options.path = options.path[0] if options.path else None
    check_host(options)


def check_host(options: argparse.Namespace) -> None:
    """Refuse what only programs of this machine can be asked."""
    if options.host is None:
        if options.ssh is not None:
            raise Unusable("--ssh is of --host: give it, too")
        return
    for name in ("record", "command", "verify"):
        if getattr(options, name):
            word = "-- COMMAND" if name == "command" else f"--{name}"
            raise Unusable(f"{word} is of this machine: leave out {word} or --host")


def watch_words(options: argparse.Namespace, record: Path) -> list[str]:
    """The command line of the watch, here or on another host."""
    window = options.seconds or (None if options.command else SECONDS)
    far = [] if options.host is None else prices.far_words(options.host, options.ssh)
    words = [str(FRONT), "watch", *far]
    words += ["--sizes", "--cpu", "--quiet", "--json", str(record)]
    words += ["--seconds", f"{window:g}"] if window else []
    if options.command:
        return [*words, "--", *options.command]
    return [*words, *(["-p", options.pid] if options.pid else ["--comm", options.comm])]


def watch(options: argparse.Namespace, record: Path) -> int:
    """Watch; 0 if the record is there then, else the status of a watch that has told why not."""
    if options.host is None and not PROGRAM.exists():
        raise Refused("build/watch is not there: run make first")
    done = subprocess.run(watch_words(options, record), check=False)
    if record.exists():
        return FINE
    return done.returncode if done.returncode in (UNUSABLE, REFUSED) else UNUSABLE


def load(file: Path, source: Path | None = None) -> Watched:
    """The record of a watch that has sizes; `source` is what messages call it."""
    source = source or file
    data = documents.read_json(file)
    if not is_watch(data):
        raise Unusable(f"{source}: it is no record of a watch: make one by copyscope watch --sizes "
                       "--json FILE")
    check_watch(data, source)
    refuse_without(data["processes"], source)
    return whole_of(data, source)


def advise(record: Watched, options: argparse.Namespace,
           reading: Reading | None) -> list[Advice]:
    """The advice for each service that moved anything, most first; `reading` of those that run."""
    live, window_s = reading is not None, record.at("window.seconds")
    costs = prices.of_machine(record, options.baseline, live, options.host or "", options.ssh)
    machine, found = Machine(record.at("machine.kernel"), live), []
    for name, service in services(record.data):
        told = reading.told(service, window_s) if reading and not options.source else ""
        way = find(record.data, service, machine, options.path)
        if by_datagrams(record.data, service["pids"]):
            found.append(of_datagrams(name, service, way, options.source))
        else:
            found.append(of_process(name, service, way, costs,
                                    options.source or "file" * bool(told), told))
    return sorted((each for each in found if each.tells or each.little is not None),
                  key=lambda each: -sum(sent.bytes for sent in (*each.sent, *each.referenced)))


def verify(found: list[Advice], quiet: bool) -> dict[int, list[Verified]]:
    """What turns say of the advice for each service, by its place; of one whose path has no turns
    nothing."""
    told = {}
    for number, each in enumerate(found):
        if each.tells and by_turns(each):
            launch.check_built(launch.HOST)
            told[number] = verified.verify(each, (lambda line: None) if quiet else launch.overwrite)
    return told


def document(record: Watched, found: list[Advice],
             told: dict[int, list[Verified]]) -> dict[str, Any]:
    """The advice as JSON."""
    of_all = [as_json(each) for each in found]
    for number, each in told.items():
        of_all[number]["verified"] = [{
            "way": one.way, "outcome": one.outcome, "held": one.held, "ratio": {
                "median": one.ratio.middle, "low": one.ratio.low, "high": one.ratio.high,
                "n": one.ratio.n}, "change": vars(one.per_gb)} for one in each]
    return {"schema": "copyscope.advice/1", "made": now_utc(), "record": record.data["id"],
            "machine": record.data["machine"], "processes": of_all}


def verdict_of(advice: Advice, told: list[Verified] | None) -> str:
    """What turns say where they were taken, or else the advice."""
    if not told:
        return advice.verdict
    return PAYS if verified.paying(advice, told) else \
        UNDECIDED if verified.still_open(advice, told) else LEAVE


def status_of(found: list[Advice], told: dict[int, list[Verified]]) -> int:
    """The exit status."""
    verdicts = {verdict_of(each, told.get(number)) for number, each in enumerate(found)}
    return PAYING if PAYS in verdicts else FINE if verdicts <= {LEAVE} else OPEN


def tell(record: Watched, options: argparse.Namespace, reading: Reading | None,
         out: RecordFile | None) -> int:
    """Say and write the advice."""
    found = advise(record, options, reading)
    told = verify(found, options.quiet) if options.verify else {}
    written = json.dumps(document(record, found, told), indent=1) + "\n"
    if out:
        out.write(written)
    elif options.json:
        print(written, end="")
    if not options.quiet:
        named = str(options.record) if options.record else ""
        said = [line for number, each in enumerate(found)
                for line in lines(each, named, told.get(number, ()), options.host or "")] or \
            ["no service moved anything that could go another way: there is nothing to advise on"]
        print(*said, sep="\n", file=sys.stderr if options.json == "-" else sys.stdout)
    return status_of(found, told)


def conduct(options: argparse.Namespace, out: RecordFile | None) -> int:
    """Watch or read, then advise."""
    if options.record:
        return tell(load(options.record), options, None, out)
    with scratch_folder() as folder:
        record = folder / "watch.json"
        if options.host is not None:
            # Nothing more is known of that machine than a kept record tells.
            return watch(options, record) or \
                tell(load(record, Path(options.host)), options, None, out)
        reading = Reading(options.pid, options.comm)
        return watch(options, record) or tell(load(record), options, reading, out)


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    if words[:1] and words[0] in MODES:
        program = str(TOOLS / words[0])
        os.execv(program, [program, *words[1:]])
    options = parse(words)
    if not options.program:
        return of_path.act(options, ["./tools/advise", *words])
    if options.json in (None, "-"):
        return conduct(options, None)
    with RecordFile(options.json) as out:
        return conduct(options, out)


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return cli.run(act, words, "advise")
