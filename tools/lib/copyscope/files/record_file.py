# SPDX-License-Identifier: GPL-2.0
"""The file that a user names for a record, checked before the work and written after it; and the
folder of records for which nobody names one.
"""
from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from pathlib import Path

from copyscope.common.errors import CommandError, Unusable
from copyscope.common.tree import ROOT

from . import output_folder
from .output_folder import OutputFolder


def runs_folder() -> Path:
    """Where a record goes for which nobody names a place."""
    return Path(os.environ.get("COPYSCOPE_RUNS") or ROOT / "results" / "runs")


def make_runs_folder() -> Path:
    """Have that folder there."""
    OutputFolder.at(runs_folder(), advice="name another by COPYSCOPE_RUNS").close()
    return runs_folder()


def new_in_runs(name: str) -> Path:
    """A file in that folder for what is made now; the name tells of what it is."""
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    return make_runs_folder() / f"{stamp}-{name}-{os.getpid()}.json"


PATH_MAX, NAME_MAX = 4095, 255


class Unwritten(CommandError):
    """The file passed the check before the work, and cannot be written after it."""


class RecordFile:
    """A name that can be written to. A plain file of that name is replaced once the record is
    whole; a device or a pipe is written to and never replaced."""

    def __init__(self, path: str | Path, option: str = "--json") -> None:
        self.path, self.advice = str(path), f"choose another {option} FILE"
        self.stream: int | None = None
        place = Path(self.path)
        self.name = place.name
        # trace_run itself takes no longer ones: a record that cannot be named again is lost.
        if len(os.fsencode(self.path)) > PATH_MAX or len(os.fsencode(self.name)) > NAME_MAX:
            raise self.refusal("the name is too long")
        if not self.name or self.name == ".." or self.path.endswith(("/", "/.")):
            raise self.refusal("it names a folder")
        try:
            self.folder = OutputFolder.at(place.parent, make=False, advice=self.advice)
        except Unusable as error:
            raise Unusable(f"cannot write {error}") from None
        try:
            self._look()
        except BaseException:
            self.close()
            raise

    def refusal(self, what: str) -> Unusable:
        """An error about this name."""
        return Unusable(f"cannot write {self.path}: {what}; {self.advice}")

    def _look(self) -> None:
        """Learn what is there, and open what is no plain file."""
        state = self.folder.state(self.name)
        link = state is not None and stat.S_ISLNK(state.st_mode)
        if link:
            try:
                state = os.stat(self.name, dir_fd=self.folder.descriptor)
            except OSError:
                state = None
            # What a link leads to may be anybody's, but for such as /dev/stdout into a pipe.
            if state is None or stat.S_ISREG(state.st_mode) or not self._is_link_of_ours():
                raise self.refusal("it is a link")
        if state is None or stat.S_ISREG(state.st_mode):
            self._look_at_room(state)
            return
        if stat.S_ISDIR(state.st_mode):
            raise self.refusal("it is a folder")
        # Root does not wait for the reader of a pipe.
        if stat.S_ISFIFO(state.st_mode) and not link:
            self._refuse_others(state)
        try:
            self.stream = os.open(self.name, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK |
                                  (0 if link else os.O_NOFOLLOW), dir_fd=self.folder.descriptor)
        except OSError as error:
            if error.errno == errno.ENXIO and stat.S_ISFIFO(state.st_mode):
                raise Unusable(f"cannot write {self.path}: nobody reads that pipe; start its "
                               f"reader first, or {self.advice}") from None
            raise self.refusal(error.strerror) from None
        flags = fcntl.fcntl(self.stream, fcntl.F_GETFL)
        fcntl.fcntl(self.stream, fcntl.F_SETFL, flags & ~os.O_NONBLOCK)

    def _look_at_room(self, there: os.stat_result | None) -> None:
        """Refuse a file that could not be made or replaced after the work."""
        if there:
            self._refuse_others(there)
        if not os.access(".", os.W_OK, dir_fd=self.folder.descriptor, effective_ids=True):
            raise self.refusal("its folder cannot be written to")

    def _refuse_others(self, there: os.stat_result) -> None:
        """As root, refuse what somebody else put into a sticky folder."""
        if os.geteuid() == 0 and there.st_uid not in output_folder.trusted_users():
            raise self.refusal(f"it belongs to user {there.st_uid}")

    def _is_link_of_ours(self) -> bool:
        """Tell whether only root could have put the link there."""
        owner = os.lstat(self.name, dir_fd=self.folder.descriptor).st_uid
        return os.geteuid() != 0 or owner in output_folder.trusted_users()

    def write(self, data: str | bytes) -> None:
        """Write the record."""
        if self.stream is None:
            try:
                self.folder.write(self.name, data)
            except Unusable as error:
                raise Unwritten(f"cannot write the record {error}") from None
            return
        view = memoryview(data.encode() if isinstance(data, str) else data)
        try:
            while view:
                view = view[os.write(self.stream, view):]
        except OSError as error:
            raise Unwritten(f"cannot write the record {self.path}: {error.strerror}") from None

    def close(self) -> None:
        """Close the folder and the device."""
        if self.stream is not None:
            os.close(self.stream)
        self.folder.close()

    def __enter__(self) -> RecordFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def write_whole(path: Path, data: str | bytes) -> None:
    """Write a file so that it is there wholly or not at all; a device is just written to."""
    with RecordFile(path, "--out") as file:
        file.write(data)
