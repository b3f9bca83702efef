# SPDX-License-Identifier: GPL-2.0
"""Brings the record of a run in a guest home, by no other way than the guest's own port."""
from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Callable

from copyscope.errors import shown
from copyscope.output_folder import OutputFolder
from copyscope.record_file import RecordFile

from .architectures import ROOT

# Takes the record, and whether the run said where it is.
Taker = Callable[[bytes, bool], None]


def runs_folder() -> Path:
    """Where a record goes for which nobody names a place."""
    return Path(os.environ.get("COPYSCOPE_RUNS") or ROOT / "results" / "runs")


def make_runs_folder() -> Path:
    """Have that folder there."""
    OutputFolder.at(runs_folder(), advice="name another by COPYSCOPE_RUNS").close()
    return runs_folder()


def taker(place: str | None, descriptor: int | None, held: contextlib.ExitStack) -> Taker | None:
    """What takes a record: a file, looked at and held open now, or an open descriptor; None if no
    record is wanted."""
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
