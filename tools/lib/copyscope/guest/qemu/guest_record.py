# SPDX-License-Identifier: GPL-2.0
"""Writes the record of a run in a guest to this machine; it comes by the guest's port alone."""
from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from copyscope.common.errors import shown
from copyscope.files.record_file import RecordFile
from copyscope.files.runs_folder import make_runs_folder, runs_folder

# Called with the record, and whether the run printed where it is.
RecordSink = Callable[[bytes, bool], None]


def record_sink(place: str | None, descriptor: int | None,
                held: contextlib.ExitStack) -> RecordSink | None:
    """A function that writes the record to a file, checked and held open now, or to a descriptor;
    None if no record is wanted."""
    if place:
        if Path(place).parent == runs_folder():
            make_runs_folder()
        file = held.enter_context(RecordFile(place))

        def write(record: bytes, told: bool) -> None:
            file.write(record)
            if told:
                print(f"record          {shown(str(place))}", flush=True)
        return write
    if descriptor is None:
        return None

    def pass_on(record: bytes, _told: bool) -> None:
        with open(descriptor, "wb", closefd=False) as stream:
            stream.write(record)
    os.fstat(descriptor)
    return pass_on
