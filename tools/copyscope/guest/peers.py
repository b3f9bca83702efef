# SPDX-License-Identifier: GPL-2.0
"""Boot two guests that share one network and nothing else, and make one run between them."""
from __future__ import annotations

import os
import secrets
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from copyscope import command_line
from copyscope.command_line import Parser, whole
from copyscope.errors import Refused, Unusable

from . import kernels
from .command import memory
from .kernels import ROOT
from .tied import GUEST, TIED

EPILOG = """\
The first kernel listens and sends, the second connects and receives; --role sender turns it round.
The guests' NICs are joined by a pair of sockets that no one else can reach.
exit: that of the connecting trace_run
example: ./tools/peers --kernel 6.1,6.12 A3 65536 4"""
LISTENER, CONNECTOR = "10.0.0.1", "10.0.0.2"
# Whoever starts both guests need not be kept from anything by himself; memory is still looked at.
ALL_ALLOWED = ["--max-bytes", "64M", "--max-connections", "1024", "--max-seconds", "86400"]
SET_UP = "ip address add {address}/24 dev eth0 && ip link set eth0 up && exec {command}"
WAITING, PLAN = "trace_run: waiting for a partner", "asks for"


def build_parser() -> Parser:
    """Describe the options; what is none of them is for trace_run."""
    parser = Parser("./tools/peers", EPILOG,
                    usage="%(prog)s [options] VARIANT BYTES THREADS [trace_run's options]")
    add = parser.add_argument
    add("--kernel", metavar="RELEASE[,RELEASE]", default="6.12", help="of both, or of each (6.12)")
    add("--memory", type=memory, default="768M", help="of each guest (768M)")
    add("--timeout", type=whole(1, 10**6), default=600, help="seconds, boot included (600)")
    add("--json", metavar="FILE", help="where the joined record goes, - for stdout (results/runs/)")
    return parser


class Guest:
    """One of the two: tools/guest with its end of the network."""

    def __init__(self, options, release: str, link: socket.socket, address: str, words: list[str],
                 folder: Path, **streams) -> None:
        command = SET_UP.format(address=address, command=shlex.join(
            ["build/trace_run", *words, "--path", "peer", "--json", "/out/record.json"]))
        self.record = folder / "record.json"
        self.waits = False  # for a partner
        self.process = subprocess.Popen(
            [str(word) for word in (*TIED, GUEST, "--kernel", release, "--memory", options.memory,
                                    "--timeout", options.timeout, "--net", link.fileno(), "--out",
                                    folder, "--", "sh", "-c", command)],
            stdin=subprocess.DEVNULL, pass_fds=[link.fileno()], text=True, **streams)
        link.close()

    def stop(self) -> None:
        """End the guest, if it runs."""
        self.process.terminate()
        self.process.wait()


def pass_on(listener: Guest, waiting: threading.Event) -> None:
    """Show what the listener says but for its two lines of progress; note that it waits."""
    for line in listener.process.stderr:
        if line.startswith(WAITING):
            listener.waits = True
            waiting.set()
        elif PLAN not in line:
            sys.stderr.write(line)
    waiting.set()


def run_both(options, releases: list[str], words: list[str], folders: list[Path]) -> int:
    """Make the run; the exit status is the connecting side's, or the listener's if it failed."""
    links = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    # Of the guests' own network: a guest's job, which alone is told, is for its root to read.
    both = {**os.environ, "COPYSCOPE_PEER_KEY": secrets.token_urlsafe(32)}
    waiting = threading.Event()
    listener = Guest(options, releases[0], links[0], LISTENER, ["--listen", LISTENER, *ALL_ALLOWED], folders[0],
                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=both)
    guests = [listener]
    try:
        reader = threading.Thread(target=pass_on, args=(listener, waiting), daemon=True)
        reader.start()
        waiting.wait()
        if not listener.waits:
            return listener.process.wait() or 1
        guests.append(Guest(options, releases[1], links[1], CONNECTOR,
                            [*words, "--connect", LISTENER], folders[1],
                            stdout=subprocess.PIPE, env=both))
        report, _ = guests[1].process.communicate()
        status = guests[1].process.returncode
        # Refused words never reach the listener, which would wait for ever.
        if not guests[1].record.exists():
            return status or 1
        listener.process.wait()
        if options.json != "-":
            sys.stdout.write("".join(line for line in report.splitlines(keepends=True)
                                     if not line.startswith("record  ")))
        return status or listener.process.returncode
    finally:
        for guest in guests:
            guest.stop()


def place_of(options, releases: list[str]) -> Path:
    """Name the file that the record goes to, which must be possible to write."""
    if options.json:
        place = Path(options.json)
    else:
        runs = Path(os.environ.get("COPYSCOPE_RUNS") or ROOT / "results" / "runs")
        runs.mkdir(parents=True, exist_ok=True)
        place = runs / f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{'-'.join(releases)}-" \
                       f"{os.getpid()}.json"
    if place.is_dir() or not os.access(place.parent, os.W_OK):
        raise Unusable(f"cannot write {place}: choose another --json FILE")
    return place


def keep(record: Path, place: Path) -> None:
    """Bring the record to its place; a device or a pipe is written to, never replaced."""
    if place.is_file() or not place.exists():
        shutil.move(record, place)
    else:
        place.write_bytes(record.read_bytes())


def act(arguments: list[str]) -> int:
    """Read the arguments, make the run, bring the record home."""
    options, words = build_parser().parse_known_args(arguments)
    releases = options.kernel.split(",")
    releases = releases * 2 if len(releases) == 1 else releases
    if len(releases) != 2:
        raise Unusable(f"--kernel {options.kernel}: give one release, or two as in 6.1,6.12")
    for release in releases:
        kernels.prefix_of(release)
    if not words:
        raise Unusable("three words are needed: VARIANT BYTES THREADS, as in A3 65536 4")
    place = None if options.json == "-" else place_of(options, releases)
    with tempfile.TemporaryDirectory() as folder:
        folders = [Path(folder) / name for name in ("listener", "connector")]
        status = run_both(options, releases, words, folders)
        record = folders[1] / "record.json"
        if record.exists() and place:
            keep(record, place)
            if not {"-q", "--quiet"} & set(words):
                print(f"record          {place}")
        elif record.exists():
            print(record.read_text(), end="")
    return status


def main(arguments: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    command_line.unwind_on_signals()
    return command_line.run(act, arguments, "tools/peers", disk=Refused)
