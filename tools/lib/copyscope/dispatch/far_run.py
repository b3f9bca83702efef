# SPDX-License-Identifier: GPL-2.0
"""A run made wholly on another host: copyscope-collect goes there by ssh, is both the run and its
workload, and sends the record home; it leaves nothing (far.sh)."""
from __future__ import annotations

import re
import signal
import time
from os import getpid
from pathlib import Path

from copyscope import cli
from copyscope.common import programs
from copyscope.common.errors import CommandError, Refused, Unusable, shown
from copyscope.files.record_file import RecordFile, make_runs_folder
from copyscope.records.documents import BadRecord
from copyscope.records.load import record_of

from . import far
from .run import NAME, WHERE, report

# Of a guest here, of several starts, or of one end.
NOT_FAR = {"--kernel": "guests are of this host", "--arch": "guests are of this host",
           "--modules": "guests are of this host", "--counters": "guests are of this host",
           "--alternate": "starts take turns on this host alone",
           "--far": "it is of --path peer", "--role": "it is of --path peer"}
MOST_BYTES = 1 << 28


def check(words: list[str]) -> None:
    """Refuse what no run on another host can have."""
    for word in words:
        option = word.partition("=")[0]
        if option in NOT_FAR:
            raise Unusable(f"{option}: {NOT_FAR[option]}: leave out {option} or {far.HOST}")


def told(link: far.Link) -> tuple[int, bytes]:
    """How the run there ended, and what it wrote."""
    text = b""
    try:
        link.start()
        while part := link.channel.recv(1 << 16):
            text += part
            if len(text) > MOST_BYTES:
                raise Refused("what came is no record: it does not end")
    except ConnectionError:
        pass
    finally:
        status = link.end()
    if status == far.FAILED or not (text or status):
        raise Refused("the connection ended")
    return status, text


def place(host: str) -> str:
    """Where a record goes that nobody named a file for."""
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", host.rpartition("@")[2])
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    return str(make_runs_folder() / f"{stamp}-{name}-{getpid()}.json")


def keep(text: str, host: str, file: str) -> None:
    """Write the record, once it is one."""
    try:
        record_of(text, Path(host))
    except BadRecord as error:
        raise CommandError(f"what came is no record of a run: {error}") from None
    with RecordFile("/dev/stdout" if file == "-" else file) as out:
        out.write(text)


def act(words: list[str]) -> int:
    """Make the run there, keep its record and print its report. The exit status is that of the run."""
    check(words)
    host = cli.value_of(words, far.HOST, "[USER@]HOST") or ""
    if not host or host.startswith("-"):
        raise Unusable(f"{far.HOST} names no host: give [USER@]HOST")
    ssh, rest = far.split(words)
    file = cli.value_of(words, far.RECORD, "record.json") or place(host)
    if file != "-":
        RecordFile(file).close()
    link = far.Link(host, ssh, ["run", *rest, far.RECORD, "-"], tells=True)
    for each in (signal.SIGINT, *programs.passed_on()):
        signal.signal(each, link.stop)
    try:
        status, text = told(link)
        if text:
            keep(text.decode(errors="surrogateescape"), host, file)
    except CommandError as error:
        raise type(error)(f"{shown(host)}: {error}") from None
    if text and file != "-" and not set(far.QUIET) & set(words):
        print(report(f"{text.decode()}\n{WHERE:14} {shown(file)}\n", words), end="")
    return status


def main(words: list[str]) -> int:
    """Make a run on the host that its words name."""
    return cli.run(lambda _: act(words), [], NAME)
