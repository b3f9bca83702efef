# SPDX-License-Identifier: GPL-2.0
"""A run made wholly on another host, or what its operating system costs: copyscope-collect goes
there by ssh, is the run and its workload, or the baseline, and sends the record home; it leaves
nothing (far.sh)."""
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from copyscope import cli
from copyscope.common.errors import CommandError, Refused, Unusable, shown
from copyscope.common.text import bytes_text, rate_text
from copyscope.files.record_file import RecordFile, new_in_runs
from copyscope.records import copies, documents
from copyscope.records.load import record_of
from copyscope.records.run_record import Record
from copyscope.report.times import moved_bytes

from . import far, far_hosts, run

MOST_BYTES = 1 << 28


@dataclass(frozen=True)
class Work:
    """What is done there: its name in messages, what refuses a text that is no record of it, the
    report of such a text and of the line behind it; and options that it cannot have there."""
    name: str
    check: Callable[[str, Path], object]
    report: Callable[[str, list[str]], str]
    not_far: dict[str, str] = field(default_factory=dict)


def check_baseline(text: str, source: Path) -> None:
    """Refuse what is no record of a baseline."""
    documents.check(documents.parse_json(text, source), "baseline", source, "measure it again")


GUESTS = "guests are of this host"
WORKS = {
    "run": Work(run.NAME, record_of, run.report, {
        **dict.fromkeys(("--kernel", "--arch", "--modules", "--counters"), GUESTS),
        **dict.fromkeys(("--far", "--role"), "it is of --path peer")}),
    # Its program alone prints a report.
    "baseline": Work("baseline", check_baseline, lambda said, _: f"{said.splitlines()[-1]}\n"),
}


def check(work: Work, words: list[str]) -> None:
    """Refuse what cannot be had on another host."""
    for word in words:
        option = word.partition("=")[0]
        if option in work.not_far:
            raise Unusable(f"{option}: {work.not_far[option]}: leave out {option} or {far.HOST}")


def told(link: far.Link) -> tuple[int, bytes]:
    """How it ended there, and what it wrote."""
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
    return str(new_in_runs(re.sub(r"[^A-Za-z0-9.-]+", "-", host.rpartition("@")[2])))


def keep(work: Work, text: str, host: str, file: str) -> None:
    """Write the record, once it is one."""
    try:
        work.check(text, Path(host))
    except documents.BadRecord as error:
        raise CommandError(f"what came is no record: {error}") from None
    with RecordFile("/dev/stdout" if file == "-" else file) as out:
        out.write(text)


HEADS = ["host", "kernel", "received", "copies/byte", "rate", "laws broken"]


def row_of_run(host: str, found: tuple[Record, str]) -> list[str]:
    """The line of a host that made a run."""
    record, gbps = found[0], found[0].throughput_gbps
    made, missing = copies.copied(copies.amounts([record]))
    return [host, record.kernel, bytes_text(moved_bytes(record)),
            "-" if made is None else f"{'>= ' if missing else ''}{copies.number(made)}",
            "-" if gbps is None else rate_text(gbps), str(len(record.broken_laws()))]


def on_each(hosts: str, words: list[str]) -> int:
    """Make the run on each host, keep their records, and print a row for each."""
    ssh, rest = far.split(words)

    def ask(link: far.Link) -> tuple[int, tuple[Record, str] | None]:
        status, said = told(link)
        if not said:
            return status, None
        text, file = said.decode(errors="surrogateescape"), place(link.host)
        keep(WORKS["run"], text, link.host, file)
        return status, (record_of(text, Path(file)), file)

    answers = far_hosts.asked(hosts, ssh, ["run", *rest, far.RECORD, "-"], ask)
    status = far_hosts.tell(answers, HEADS, row_of_run, range(2, len(HEADS)))
    for each in answers:
        if each.record:
            print(f"{run.WHERE:14} {shown(each.record[1])}")
    return status


def act(word: str, words: list[str]) -> int:
    """Do it there, keep its record and print its report. The exit status is that of the program."""
    work = WORKS[word]
    check(work, words)
    hosts = far.hosts_of(words) if word == "run" else None
    if hosts is not None:
        return on_each(hosts, words)
    host = far.checked(cli.value_of(words, far.HOST, "[USER@]HOST"))
    ssh, rest = far.split(words)
    file = cli.value_of(words, far.RECORD, "record.json") or place(host)
    if file != "-":
        RecordFile(file).close()
    link = far.only_link(host, ssh, [word, *rest, far.RECORD, "-"])
    try:
        status, text = told(link)
        if text:
            keep(work, text.decode(errors="surrogateescape"), host, file)
    except CommandError as error:
        raise type(error)(f"{shown(host)}: {error}") from None
    if text and file != "-" and not set(far.QUIET) & set(words):
        print(work.report(f"{text.decode()}\n{run.WHERE:14} {shown(file)}\n", words), end="")
    return status


def main(words: list[str]) -> int:
    """Do on the host that the words name what the first of them says."""
    word, *rest = words
    return cli.run(lambda _: act(word, rest), [], WORKS[word].name)
