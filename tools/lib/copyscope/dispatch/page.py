# SPDX-License-Identifier: GPL-2.0
"""A watch whose record becomes files besides: a page (--html FILE), stacks (--folded FILE, --pprof
FILE), rows (--csv FILE)."""
from __future__ import annotations

import datetime
import os
import subprocess
import tempfile
from pathlib import Path

from copyscope.cli import own_words, value_of, without
from copyscope.common.errors import CommandError, Unusable
from copyscope.common.programs import start_watch
from copyscope.common.tree import ROOT
from copyscope.files.record_file import RecordFile, make_runs_folder

from .straight import FILES, KEPT, make_room

RECORD, NO_KEEP, STACKS, CSV = "--json", "--no-keep", "--stacks", "--csv"
OF_STACKS = ("--folded", "--pprof")


def asked(words: list[str]) -> list[str]:
    """Options that ask for a file."""
    given = {each.partition("=")[0] for each in own_words(words)}
    return [option for option in FILES if option in given]


def is_asked(words: list[str]) -> bool:
    """Whether a file is asked for."""
    return bool(asked(words))


def files_of(own: list[str], record: str | None) -> dict[str, str]:
    """What each option names, which can be written."""
    files = {}
    for option in asked(own):
        file = value_of(own, option, FILES[option])
        if not file or record == "-":
            raise Unusable(f"{option} needs a name for the file" if not file else
                           f"{option} is made of a record: name a file with {RECORD}, or leave it "
                           "out")
        if option in OF_STACKS and not {STACKS} & {each.partition("=")[0] for each in own}:
            raise Unusable(f"{option} writes stacks: give {STACKS}, too")
        # Before anything is watched for what could not be written then.
        RecordFile(file, option).close()
        files[option] = file
    return files


def write(record: str, option: str, file: str) -> None:
    """Write one file of the record."""
    # Rows go to stdout there: they are of several records as well.
    words = [option] if option == CSV else [option, file]
    done = subprocess.run([ROOT / "tools" / "records", "show", record, *words],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise CommandError(done.stderr.strip().removeprefix("records: "))
    if option == CSV:
        with RecordFile(file, option) as place:
            place.write(done.stdout)


def kept() -> str:
    """Where the record stays, as a watch without such a file names it."""
    make_room()
    began = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S.%f")[:-3]
    return str(make_runs_folder() / f"{began}-{os.getpid()}{KEPT}")


def watch(words: list[str]) -> int:
    """Watch, then write the files. The exit status is that of the watch."""
    own = own_words(words)
    record = value_of(own, RECORD, "record.json")
    files = files_of(own, record)
    for option in files:
        own = without(own, option)
    rest = [*own, *words[len(own_words(words)):]]
    with tempfile.TemporaryDirectory() as folder:
        if not record:
            record = f"{folder}/record.json" if NO_KEEP in own else kept()
            rest = [RECORD, record, *rest]
        status = start_watch(rest).wait()
        for option, file in files.items() if Path(record).is_file() else ():
            write(record, option, file)
    return status
