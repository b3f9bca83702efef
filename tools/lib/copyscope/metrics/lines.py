# SPDX-License-Identifier: GPL-2.0
"""The file of --json-lines that rotates: FILE, then FILE.1 and so on, each full one whole lines."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from copyscope.common.errors import CommandError, Unusable
from copyscope.files.output_folder import FILE_MODE, OutputFolder
from copyscope.files.record_file import RecordFile

from .kept import Complaints

SIZE = re.compile(r"([1-9][0-9]{0,8})([kMG]?)(?:,([1-9][0-9]?))?")
SHIFT = {"": 0, "k": 10, "M": 20, "G": 30}
KEEP = 5


@dataclass(frozen=True)
class Rotation:
    """How large a file may be, and how many full ones are kept."""

    most_bytes: int
    keep: int

    @classmethod
    def of(cls, text: str) -> Rotation:
        """From the command line."""
        found = SIZE.fullmatch(text)
        if not found:
            raise Unusable(
                f"--rotate {text!r} is no size: give 100M, or 100M,5 to keep 5 full files"
            )
        return cls(int(found[1]) << SHIFT[found[2]], int(found[3] or KEEP))


class Lines:
    """Takes lines: for stdout, or for a file."""

    def __init__(self, path: str, rotation: Rotation | None, complaints: Complaints) -> None:
        self.path, self.rotation, self.complaints = Path(path), rotation, complaints
        self.stdout = path == "-"
        if self.stdout and rotation:
            raise Unusable("--rotate is for a file: name one with --json-lines FILE")
        self.file = -1
        if self.stdout:
            return
        # As a watch by itself does: lines of an earlier one are replaced, unless files are kept.
        RecordFile(path, "--json-lines").close()
        self.folder = OutputFolder.at(
            self.path.parent, make=False, advice="choose another --json-lines FILE"
        )
        if rotation and self.folder.file(self.path.name):
            self._shift()
        self._open()

    def _open(self) -> None:
        """Begin a file."""
        self.folder.file(self.path.name)
        if self.file >= 0:
            os.close(self.file)
        self.file = os.open(
            self.path.name,
            os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_NOFOLLOW,
            FILE_MODE,
            dir_fd=self.folder.descriptor,
        )

    def _shift(self) -> None:
        """Rename full files, the oldest away."""
        names = [
            self.path.name,
            *(f"{self.path.name}.{number}" for number in range(1, self.rotation.keep + 1)),
        ]
        for older, newer in zip(reversed(names), [*reversed(names[:-1])]):
            if self.folder.file(newer):
                self.folder.move(newer, self.folder, older)

    def _append(self, raw: bytes) -> None:
        """A whole line or nothing."""
        before = os.fstat(self.file).st_size
        if self.rotation and before and before + len(raw) > self.rotation.most_bytes:
            self._shift()
            self._open()
            before = 0
        try:
            left = memoryview(raw)
            while left:
                left = left[os.write(self.file, left) :]
        except OSError:
            os.ftruncate(self.file, before)
            raise

    def write(self, raw: bytes) -> None:
        """Take a line; a failure is told, and the line is lost."""
        try:
            if self.stdout:
                sys.stdout.buffer.write(raw)
                sys.stdout.buffer.flush()
            else:
                self._append(raw)
        except (OSError, CommandError) as error:
            what = getattr(error, "strerror", None) or str(error)
            self.complaints.tell(
                "lines", f"a line of {'stdout' if self.stdout else self.path} is lost: {what}"
            )
