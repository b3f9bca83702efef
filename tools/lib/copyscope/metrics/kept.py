# SPDX-License-Identifier: GPL-2.0
"""Files of an exporter that runs for long: each written whole, and a failure told once a minute."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from copyscope.common.errors import CommandError, one_line
from copyscope.common.json_bounds import check_parts
from copyscope.files.output_folder import MOST_BYTES, OutputFolder
from copyscope.files.record_file import RecordFile

PROGRAM = "copyscope watch"
QUIET_S = 60


def say(text: str) -> None:
    """One line on stderr."""
    print(f"{PROGRAM}: {one_line(text)}", file=sys.stderr, flush=True)


class Complaints:
    """What goes wrong at each interval is told once a minute."""

    def __init__(self) -> None:
        self.told: dict[str, float] = {}

    def tell(self, about: str, text: str) -> None:
        """Tell it, unless that was told within a minute."""
        now = time.monotonic()
        if now - self.told.get(about, -QUIET_S) >= QUIET_S:
            self.told[about] = now
            say(text)


class KeptFile:
    """A file that is replaced at each interval, in a folder that is looked at anew each time."""

    def __init__(self, path: Path, option: str, complaints: Complaints) -> None:
        self.path, self.option, self.complaints = path, option, complaints
        # Before anything is watched for what could not be written then.
        RecordFile(path, option).close()

    def write(self, data: bytes) -> bool:
        """Write it; a failure is a line, and the file stays as it was."""
        try:
            with RecordFile(self.path, self.option) as file:
                file.write(data)
        except CommandError as error:
            self.complaints.tell(str(self.path), f"{error} (counters go on, and are written later)")
            return False
        return True


class StateFile(KeptFile):
    """What counters go on from after a restart."""

    def read(self) -> Any:
        """What it holds, None if it is not there; raises ValueError if it is damaged."""
        with OutputFolder.at(self.path.parent, make=False) as folder:
            if not folder.file(self.path.name):
                return None
            raw = folder.read(self.path.name, MOST_BYTES)
        check_parts(raw, MOST_BYTES)
        state = json.loads(raw)
        if state is None:
            raise ValueError("it holds nothing")
        return state

    def set_aside(self, why: str) -> None:
        """Keep a damaged one under another name."""
        aside = f"{self.path.name}.damaged"
        with OutputFolder.at(self.path.parent, make=False) as folder:
            folder.move(self.path.name, folder, aside)
        say(f"{self.path} is damaged ({why}): it is kept as {aside}, and all counters begin at 0")
