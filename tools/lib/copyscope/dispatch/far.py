# SPDX-License-Identifier: GPL-2.0
"""A watch on another host: copyscope-collect goes there by ssh, tells what it counts, and leaves
nothing (far.sh)."""
from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from copyscope.cli import own_words, value_of, without
from copyscope.common import programs
from copyscope.common.caller import caller
from copyscope.common.errors import CommandError, Refused, Unusable, shown
from copyscope.common.needs import provide_program
from copyscope.common.tree import BUILD
from copyscope.files.record_file import RecordFile
from copyscope.records.watch_record import check_watch

from .printer import Printer
from .straight import EXPORTS, NAMES, NO_KEEP, without_looks

Document = dict[str, Any]
HOST, HOSTS, SSH, RECORD = "--host", "--hosts", "--ssh", "--json"
QUIET = ("-q", "--quiet")
# Of a file here, or of the host's own terminal.
NOT_FAR = (*EXPORTS, *NAMES, "--json-lines", "--table", "--")
# As userspace/peer/ssh.c has it: nobody is asked for a password, nothing outlives the watch.
ALWAYS = ("-T", "-o", "BatchMode=yes", "-o", "ControlMaster=no", "-o", "ServerAliveInterval=10",
          "--")
SCRIPT = Path(__file__).with_name("far.sh")
# What stands before it is what a shell there prints as it starts.
GREETING = b"copyscope "
MOST_GREETING, MOST_LINE = 1 << 16, 1 << 12
# The collector takes a connection for lost that is silent for a minute (watch/session.c).
BEAT_S, BEAT = 10, b"\n"
# As ssh itself ends if the connection does.
FAILED = 255
# Where make leaves the file, by what uname -m says.
FOREIGN = {"aarch64": "arm64", "x86_64": "amd64"}


def collector_for(machine: str) -> bytes:
    """The file that runs there."""
    folder = BUILD if machine == os.uname().machine else BUILD / FOREIGN.get(machine, machine)
    try:
        return (folder / "copyscope-collect").read_bytes()
    except OSError:
        raise Refused(f"it is of {shown(machine)}, and no copyscope-collect is built for that: see "
                      "make static") from None


def as_caller() -> dict[str, Any]:
    """With sudo, ssh is of who called it: with the keys and the hosts that this user knows."""
    user = caller()
    if user is None:
        return {"env": dict(os.environ)}
    return {"user": user.pw_uid, "group": user.pw_gid,
            "extra_groups": os.getgrouplist(user.pw_name, user.pw_gid),
            "env": {**os.environ, "PATH": programs.FOLDERS, "HOME": user.pw_dir,
                    "USER": user.pw_name, "LOGNAME": user.pw_name}}


class Link:
    """A collector on another host, and the socket that its documents come from."""

    def __init__(self, host: str, ssh: list[str], words: list[str], tells: bool) -> None:
        self.host, self.tells, self.last = host, tells, ""
        self.channel, far = socket.socketpair()
        if ssh[0] == "ssh":
            provide_program("ssh", "openssh-client")
        program = programs.find(ssh[0]) or ssh[0]
        script = re.sub(r"(?m)^#.*\n", "", SCRIPT.read_text(encoding="ascii"))
        command = shlex.join(["sh", "-c", script, "copyscope", "--reader", "1,0", *words])
        try:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen(
                [program, *ssh[1:], *ALWAYS, host, command], stdin=far, stdout=far,
                stderr=subprocess.PIPE, preexec_fn=programs.kill_with_parent(session=True),
                **as_caller())
        except OSError as error:
            raise Refused(f"{ssh[0]}: {error.strerror}") from None
        finally:
            far.close()
        self.teller = threading.Thread(target=self.tell, daemon=True)
        self.teller.start()

    def tell(self) -> None:
        """Pass on what it complains of, which is another host's text."""
        while line := self.process.stderr.readline(MOST_LINE):
            self.last = shown(line.decode("utf-8", "replace").strip())
            if self.tells:
                print(self.last, file=sys.stderr, flush=True)

    def greeting(self) -> str:
        """What the machine there calls itself."""
        said = b""
        while not (line := said.rpartition(b"\n")[0].rpartition(b"\n")[2]).startswith(GREETING):
            part = self.channel.recv(1 << 12)
            said += part
            if not part or len(said) > MOST_GREETING:
                raise Refused("no shell answered there")
        return line.removeprefix(GREETING).decode("ascii", "replace").strip()

    def start(self) -> None:
        """Send it what it runs."""
        try:
            file = collector_for(self.greeting())
            self.channel.sendall(b"%d\n" % len(file) + file)
        except ConnectionError:
            raise Refused("the connection ended") from None
        self.beat()

    def beat(self) -> None:
        """Say every few seconds that we are there."""
        timer = threading.Timer(BEAT_S, self.beat)
        timer.daemon = True
        # It may have ended, or the connection be full of such.
        with contextlib.suppress(OSError):
            self.channel.send(BEAT, socket.MSG_DONTWAIT)
            timer.start()

    def stop(self, *_: object) -> None:
        """Have it tell its record and end."""
        with contextlib.suppress(OSError):
            self.channel.shutdown(socket.SHUT_WR)

    def end(self) -> int:
        """How it ended."""
        self.channel.close()
        status = self.process.wait()
        self.teller.join()
        return status


class FarPrinter(Printer):
    """Prints what another host tells, and keeps its record."""

    def __init__(self, link: Link, looks: dict[str, str] | None, file: str | None) -> None:
        super().__init__(link.channel.fileno(), 1, looks or {})
        self.link, self.prints, self.file = link, looks is not None, file
        self.record: Document | None = None

    def take(self, told: Document) -> None:
        """A document that the watch tells."""
        if "record" in told:
            check_watch(told["record"], Path(self.link.host))
            self.record = told["record"]
            told["file"] = self.file
            if self.file:
                self.keep(json.dumps(self.record, ensure_ascii=False, indent=1) + "\n")
        if self.prints:
            super().take(told)

    def keep(self, text: str) -> None:
        """Write the record where it is asked for."""
        with RecordFile("/dev/stdout" if self.file == "-" else str(self.file)) as file:
            file.write(text)

    def run(self) -> None:
        """Until the watch ends, or what comes is no document of one."""
        try:
            super().run()
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise CommandError(f"what came is no document of a watch: {error}") from None
        except ConnectionError:
            pass


def collected(link: Link, looks: dict[str, str] | None,
              file: str | None) -> tuple[int, Document | None]:
    """Watch; how it ended, and the record: without one it has said why. Without looks nothing is
    printed."""
    printer = FarPrinter(link, looks, file)
    try:
        link.start()
        printer.run()
    finally:
        printer.end()
        status = link.end()
    if not printer.record and not status:
        raise Refused("the connection ended")
    return (Refused.status if status == FAILED else status), printer.record


def checked(host: str | None) -> str:
    """The name of a host, which ssh takes for no option."""
    if not host or host.startswith("-"):
        raise Unusable(f"{HOST} names no host: give [USER@]HOST")
    return host


def hosts_of(words: list[str]) -> str | None:
    """The file of several hosts, each of which is a row and none a record of its own."""
    hosts = value_of(words, HOSTS, "FILE")
    if hosts is not None and value_of(words, HOST, "[USER@]HOST") is not None:
        raise Unusable(f"{HOST} and {HOSTS} exclude each other: write it into the file, too")
    if hosts is not None and value_of(words, RECORD, "record.json"):
        raise Unusable(f"{RECORD} is of one host: leave it out, or give {HOST}")
    return hosts


def only_link(host: str, ssh: list[str], words: list[str]) -> Link:
    """The link of a command that has no other: what ends the command ends what runs there."""
    link = Link(host, ssh, words, tells=True)
    for each in (signal.SIGINT, *programs.passed_on()):
        signal.signal(each, link.stop)
    return link


def split(own: list[str]) -> tuple[list[str], list[str]]:
    """The words of --ssh, and those that are for the collector."""
    command = value_of(own, SSH, "'ssh -p 2222'")
    try:
        ssh = shlex.split("ssh" if command is None else command)
    except ValueError as error:
        raise Unusable(f"{SSH} {command!r}: {error}") from None
    if not ssh:
        raise Unusable(f"{SSH} names no program")
    for option in (HOST, HOSTS, SSH, RECORD):
        own = without(own, option)
    return ssh, [each for each in own if each not in (*QUIET, NO_KEEP)]


def check(words: list[str], option: str) -> None:
    """Refuse what only a watch of this machine can do."""
    for each in {word.partition("=")[0] for word in words} & set(NOT_FAR):
        raise Unusable(f"{option} watches programs that run there, and -- COMMAND none: start it "
                       "there" if each == "--" else f"{each} is of this machine: leave out {each} "
                       f"or {option}")


def watch(words: list[str]) -> int:
    """Watch one host, or several side by side. The exit status is that of the watch."""
    own = own_words(words)
    host = value_of(own, HOST, "[USER@]HOST")
    hosts = hosts_of(own)
    check(words, HOST if hosts is None else HOSTS)
    own, looks = without_looks(own)
    ssh, rest = split(own)
    file = value_of(own, RECORD, "record.json")
    if hosts is not None:
        # Not earlier: most watches are of one host.
        from . import far_hosts  # pylint: disable=import-outside-toplevel
        return far_hosts.watch(hosts, ssh, rest)
    host = checked(host)
    if file and file != "-":
        RecordFile(file).close()
    link = only_link(host, ssh, rest)
    try:
        return collected(link, None if file == "-" or set(QUIET) & set(own) else looks, file)[0]
    except CommandError as error:
        raise type(error)(f"{shown(host)}: {error}") from None
