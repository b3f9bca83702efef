# SPDX-License-Identifier: GPL-2.0
"""Boot two guests that share one network and nothing else, and make one run between them."""
from __future__ import annotations

import os
import secrets
import shlex
import socket
import subprocess
import sys
import threading
import time

from copyscope.cli import command_line
from copyscope.cli.command_line import Parser
from copyscope.cli.options import memory, whole
from copyscope.common.errors import Refused, Unusable, shown
from copyscope.common.pdeathsig import TERM_WITH_PARENT
from copyscope.common.releases import prefix_of
from copyscope.common.tree import GUEST
from copyscope.files.record_file import RecordFile
from copyscope.files.runs_folder import make_runs_folder

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
    """Describe the options; all other words go to trace_run."""
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
                 **streams) -> None:
        command = SET_UP.format(address=address, command=shlex.join(
            ["build/trace_run", *words, "--path", "peer", "--json", "/out/record.json"]))
        # Without a name: nothing is left of it, however this ends.
        self.record = os.memfd_create("record")
        self.waits = False  # for a partner
        self.process = subprocess.Popen(
            [str(word) for word in (
                *TERM_WITH_PARENT, GUEST, "--kernel", release, "--memory", options.memory,
                "--timeout", options.timeout, "--net", link.fileno(),
                "--tell", f"the side at {address}",
                "--record-fd", self.record, "--", "sh", "-c", command)],
            stdin=subprocess.DEVNULL, pass_fds=[link.fileno(), self.record], text=True, **streams)
        link.close()

    def take_record(self) -> bytes:
        """The record that the guest left; empty if it left none."""
        with open(os.dup(self.record), "rb") as stream:
            stream.seek(0)
            return stream.read()

    def stop(self) -> None:
        """End the guest, if it runs."""
        self.process.terminate()
        self.process.wait()


def pass_on(listener: Guest, waiting: threading.Event) -> None:
    """Show the listener's messages without its two lines of progress; note that it waits."""
    for line in listener.process.stderr:
        if line.startswith(WAITING):
            listener.waits = True
            waiting.set()
        elif PLAN not in line:
            sys.stderr.write(line)
    waiting.set()


def run_both(options, releases: list[str], words: list[str]) -> tuple[int, bytes]:
    """Make the run; the exit status is the connecting side's, or the listener's if it failed. With
    it comes the joined record, if there is one."""
    links = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    # Of the guests' own network: a guest's job, which alone is told, is for its root to read.
    both = {**os.environ, "COPYSCOPE_PEER_KEY": secrets.token_urlsafe(32)}
    waiting = threading.Event()
    listener = Guest(options, releases[0], links[0], LISTENER,
                     ["--listen", LISTENER, *ALL_ALLOWED],
                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=both)
    guests = [listener]
    try:
        reader = threading.Thread(target=pass_on, args=(listener, waiting), daemon=True)
        reader.start()
        waiting.wait()
        if not listener.waits:
            return listener.process.wait() or 1, b""
        guests.append(Guest(options, releases[1], links[1], CONNECTOR,
                            [*words, "--connect", LISTENER],
                            stdout=subprocess.PIPE, env=both))
        report, _ = guests[1].process.communicate()
        status = guests[1].process.returncode
        # Refused words never reach the listener, which would wait for ever.
        record = guests[1].take_record()
        if not record:
            return status or 1, b""
        listener.process.wait()
        if options.json != "-":
            sys.stdout.write(report)
        return status or listener.process.returncode, record
    finally:
        for guest in guests:
            guest.stop()


def place_of(options, releases: list[str]) -> str:
    """Name the file that the record goes to."""
    if options.json is not None:
        return options.json
    now = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    return str(make_runs_folder() / f"{now}-{'-'.join(releases)}-{os.getpid()}.json")


def act(arguments: list[str]) -> int:
    """Read the arguments, make the run, bring the record home."""
    options, words = build_parser().parse_known_args(arguments)
    releases = options.kernel.split(",")
    releases = releases * 2 if len(releases) == 1 else releases
    if len(releases) != 2:
        raise Unusable(f"--kernel {options.kernel}: give one release, or two as in 6.1,6.12")
    for release in releases:
        prefix_of(release)
    if len(words) < 3:
        # Before guests are booted, whose trace_run reads the words.
        raise Unusable("three words are needed: VARIANT BYTES THREADS, as in A3 65536 4")
    if options.json == "-":
        status, record = run_both(options, releases, words)
        sys.stdout.write(record.decode())
        return status
    with RecordFile(place_of(options, releases)) as file:
        status, record = run_both(options, releases, words)
        if record:
            file.write(record)
            if not {"-q", "--quiet"} & set(words):
                print(f"record          {shown(str(file.path))}")
    return status


def main(arguments: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    command_line.unwind_on_signals()
    return command_line.run(act, arguments, "tools/peers", disk=Refused)
