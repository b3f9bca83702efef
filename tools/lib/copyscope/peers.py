# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/peers: boot two guests that share one network and nothing else, and
make one run between them.
"""
from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from copyscope import cli
from copyscope.cli import Parser, memory, whole
from copyscope.common import programs
from copyscope.common.errors import Refused, Unusable, shown
from copyscope.common.needs import provide_program
from copyscope.common.programs import TERM_WITH_PARENT
from copyscope.common.releases import prefix_of
from copyscope.common.tree import GUEST
from copyscope.files.record_file import RecordFile, new_in_runs
from copyscope.records.run_record import Record
from copyscope.report import run
from copyscope.report.look import look_of

EPILOG = """\
The first kernel is where trace_run is started, and sends; by ssh it starts the remote half on the
second, which receives; --role receiver turns it round. The guests' NICs are joined by a pair of
sockets that no one else can reach.
exit: that of trace_run
example: ./tools/peers --kernel 6.1,6.12 A3 65536 4"""
NEAR, FAR = "10.0.0.1", "10.0.0.2"
NETWORK = "ip address add {address}/24 dev eth0 && ip link set eth0 up && umask 077"
LISTENS = "copyscope: the far guest listens "
# Its root has a shell that may log in; what starts the remote half there has the environment of a
# guest, which tells that it is emulated.
SERVE = f"""mkdir ~/.ssh && echo "$COPYSCOPE_SSH_KEY" >~/.ssh/authorized_keys &&
echo /bin/bash >/etc/shells && export -p >/run/environment &&
dropbearkey -t ed25519 -f /run/host_key >/dev/null 2>&1 &&
echo "{LISTENS}$(dropbearkey -y -f /run/host_key | grep ^ssh-)" >&2 &&
while :; do dropbear -F -s -m -r /run/host_key -P /run/dropbear.pid; done"""
SSH = ("ssh -F none -i /run/key -o UserKnownHostsFile=/run/known -o StrictHostKeyChecking=yes "
       "-o ConnectionAttempts=9")
RUN = f"""echo "$COPYSCOPE_SSH_KEY" >/run/key && echo "{FAR} $COPYSCOPE_SSH_HOST" >/run/known &&
unset COPYSCOPE_SSH_KEY && umask 022 && exec """
FAR_HALF = "cd /copyscope && . /run/environment && build/trace_run"


def build_parser() -> Parser:
    """Describe the options; all other words go to trace_run."""
    parser = Parser("./tools/peers", EPILOG,
                    usage="%(prog)s [options] VARIANT BYTES THREADS [trace_run's options]")
    add = parser.add_argument
    add("--kernel", metavar="RELEASE[,RELEASE]", default="6.12", help="of both, or of each (6.12)")
    add("--memory", type=memory, default="768M", help="of each guest (768M)")
    add("--timeout", type=whole(1, 10**6), default=600, help="seconds, boot included (600)")
    add("--json", metavar="FILE", help="where the record goes, - for stdout (results/runs/)")
    return parser


class Guest:
    """One of the two: tools/guest with its end of the network."""

    def __init__(self, options, release: str, link: socket.socket, address: str, command: str,
                 takes: list[str], variables: dict[str, str], **streams) -> None:
        # Without a name: nothing is left of it, however this ends.
        self.record = os.memfd_create("record")
        self.process = subprocess.Popen(
            [str(word) for word in (
                *TERM_WITH_PARENT, GUEST, "--kernel", release, "--memory", options.memory,
                "--timeout", options.timeout, "--net", link.fileno(),
                *takes, "--tell", f"the side at {address}", "--record-fd", self.record,
                "--", "sh", "-c",
                f"{NETWORK.format(address=address)} && {command}")],
            stdin=subprocess.DEVNULL, pass_fds=[link.fileno(), self.record], text=True,
            # A guest's job, which alone is told of these, is for its root to read.
            env={**os.environ, **variables}, **streams)
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


class FarGuest(Guest):
    """The one that serves ssh to who has a key."""

    def __init__(self, options, release: str, link: socket.socket, key: str) -> None:
        super().__init__(options, release, link, FAR, SERVE,
                         ["--with", "dropbear", "--with", "dropbearkey"],
                         {"COPYSCOPE_SSH_KEY": key}, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE)
        self.host_key = ""
        self.told = threading.Event()
        self.ending = False
        self.last: list[str] = []
        self.reader = threading.Thread(target=self._pass_on, daemon=True)
        self.reader.start()

    def _pass_on(self) -> None:
        """Show its messages, but keep its host key, which says that it listens."""
        for line in self.process.stderr:
            if line.startswith(LISTENS):
                self.host_key = line.removeprefix(LISTENS).strip()
                self.told.set()
            elif self.ending:
                self.last.append(line)
            else:
                sys.stderr.write(line)
        self.told.set()

    def wait_for_key(self) -> str:
        """Its public host key, once it listens; empty if it ended before."""
        self.told.wait()
        return self.host_key

    def end(self) -> int:
        """End it, as it serves until then; 0, or its status after it said what failed in it."""
        self.ending = True
        self.process.terminate()
        status = self.process.wait()
        self.reader.join()
        if status == 128 + signal.SIGTERM:
            return 0
        sys.stderr.write("".join(self.last))
        return status


def make_key() -> tuple[str, str]:
    """A key for this one run, private and public."""
    with tempfile.TemporaryDirectory(prefix="copyscope-peers-") as folder:
        file = Path(folder) / "key"
        made = programs.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "copyscope",
                             "-f", str(file)])
        if made.returncode:
            raise Refused(f"ssh-keygen made no key: {made.stderr.strip()}")
        return (file.read_text(encoding="ascii").rstrip("\n"),
                file.with_suffix(".pub").read_text(encoding="ascii").strip())


@contextlib.contextmanager
def joined(options, releases: list[str], command: list[str], takes: list[str],
           **streams) -> Iterator[tuple[Guest | None, FarGuest]]:
    """The near guest, in which the command runs, and the far one, which it reaches by ssh; both end
    with this. There is no near one if the far one ended before it listened."""
    links = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    private, public = make_key()
    far = FarGuest(options, releases[1], links[1], public)
    guests: list[Guest] = [far]
    try:
        host_key = far.wait_for_key()
        if host_key:
            guests.append(Guest(options, releases[0], links[0], NEAR, RUN + shlex.join(command),
                                ["--with", "ssh", *takes],
                                {"COPYSCOPE_SSH_KEY": private, "COPYSCOPE_SSH_HOST": host_key},
                                **streams))
        yield guests[1] if host_key else None, far
    finally:
        for guest in guests:
            guest.stop()


def run_both(options, releases: list[str], words: list[str]) -> tuple[int, bytes]:
    """Make the run; the exit status is trace_run's, or that of the far guest if it failed. With it
    comes the record, if there is one."""
    command = ["build/trace_run", *words, "--path", "peer", "--host", f"root@{FAR}",
               "--ssh", SSH, "--far", FAR_HALF, "--json", "/out/record.json"]
    with joined(options, releases, command, [], stdout=subprocess.PIPE) as (near, far):
        if not near:
            return far.process.wait() or 1, b""
        near.process.communicate()
        status = near.process.returncode
        record = near.take_record()
        if not record:
            return status or 1, b""
        failed = far.end()
        return status or failed, record


def place_of(options, releases: list[str]) -> str:
    """Name the file that the record goes to."""
    if options.json is not None:
        return options.json
    return str(new_in_runs("-".join(releases)))


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
    provide_program("ssh-keygen", "openssh-client")
    if options.json == "-":
        status, record = run_both(options, releases, words)
        sys.stdout.write(record.decode())
        return status
    with RecordFile(place_of(options, releases)) as file:
        status, record = run_both(options, releases, words)
        if record:
            file.write(record)
            if not {"-q", "--quiet"} & set(words):
                print(*run.lines(Record(json.loads(record), file.path), look_of(words)), "",
                      sep="\n")
                print(f"record          {shown(str(file.path))}")
    return status


def main(arguments: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    cli.unwind_on_signals()
    return cli.run(act, arguments, "tools/peers", disk=Refused)
