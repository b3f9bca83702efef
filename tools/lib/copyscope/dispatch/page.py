# SPDX-License-Identifier: GPL-2.0
"""A watch whose report becomes a page: copyscope watch --html FILE makes it of the record."""
from __future__ import annotations

import signal
import subprocess
import tempfile
from pathlib import Path

from copyscope.common.errors import CommandError, Unusable
from copyscope.common.tree import ROOT
from copyscope.files.record_file import RecordFile

OPTION, RECORD = "--html", "--json"


def own_words(words: list[str]) -> list[str]:
    """Those before a command that is watched."""
    return words[:words.index("--")] if "--" in words else words


def value_of(words: list[str], option: str) -> str | None:
    """What an option is given, if it stands there."""
    for at, word in enumerate(words):
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
        if word == option:
            if at + 1 == len(words):
                raise Unusable(f"{option} needs a FILE: watch ... {option} page.html")
            return words[at + 1]
    return None


def without(words: list[str], option: str) -> list[str]:
    """The words but for that option and its value."""
    kept, skip = [], False
    for word in words:
        if not skip and not word.startswith(f"{option}=") and word != option:
            kept.append(word)
        skip = word == option and not skip
    return kept


def is_asked(words: list[str]) -> bool:
    """Whether a page is asked for."""
    return any(each == OPTION or each.startswith(f"{OPTION}=") for each in own_words(words))


def watched(program: Path, words: list[str]) -> int:
    """Run the watch to its end. Ctrl-C reaches it by itself; other signals are passed on."""
    with subprocess.Popen([program, *words]) as process:
        for each in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, lambda number, _: process.send_signal(number))
        signal.signal(signal.SIGINT, lambda *_: None)
        return process.wait()


def watch(program: Path, words: list[str]) -> int:
    """Watch, then write the page. The exit status is that of the watch."""
    own = own_words(words)
    file, record = value_of(own, OPTION), value_of(own, RECORD)
    if not file or record == "-":
        raise Unusable(f"{OPTION} needs a name for the page" if not file else
                       f"{OPTION} is made of a record: name a file with {RECORD}, or leave it out")
    rest = [*without(own, OPTION), *words[len(own):]]
    # Before anything is watched for what could not be written then.
    RecordFile(file, OPTION).close()
    with tempfile.TemporaryDirectory() as folder:
        if not record:
            record = f"{folder}/record.json"
            rest = [RECORD, record, *rest]
        status = watched(program, rest)
        if Path(record).is_file():
            done = subprocess.run([ROOT / "tools" / "records", "show", record, OPTION, file],
                                  capture_output=True, text=True, check=False)
            if done.returncode:
                raise CommandError(done.stderr.strip().removeprefix("records: "))
    return status
