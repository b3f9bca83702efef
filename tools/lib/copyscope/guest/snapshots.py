# SPDX-License-Identifier: GPL-2.0
"""Keeps guests that wait for their job as files, from which QEMU restores them later."""
from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from copyscope.common.errors import CommandError
from copyscope.common.tree import CACHE
from copyscope.files.cache import drop_beyond, give_name, nameless

from .architectures import PROCESSORS
from .kernels import Kernel

SNAPSHOTS = CACHE / "guest-snapshots"
# Some 25 of them, as of four kernels with and without NICs since the last builds.
MOST_BYTES = 4 << 30
# A line of ours goes before what QEMU writes, once all is written.
HEADER_BYTES = 128
KEY_LETTERS = 16
# A snapshot has 160 MiB and more, and others want to write, too.
LEAST_ROOM_BYTES = 1 << 30


class NotRestored(CommandError):
    """A snapshot is of no use; nothing has happened in its guest."""


class NoRoom(Exception):
    """The disk has too little room for a snapshot."""


class Snapshot:
    """The file of one kind of guest, whether or not it is there."""

    def __init__(self, kernel: Kernel, parts: list[str], program: str) -> None:
        """What a guest is made of: kernel; parts of its file system and words of the command line
        that starts it; the emulator."""
        qemu = Path(program).stat()
        # A clock that the kernel has measured is right on this processor alone.
        processor = re.search("^model name.*$", PROCESSORS.read_text(), re.MULTILINE)
        made_of = [hashlib.sha256(kernel.vmlinuz.read_bytes()).hexdigest(), *parts,
                   f"{qemu.st_size} {qemu.st_mtime_ns}", processor[0] if processor else ""]
        self.key = hashlib.sha256("\n".join(made_of).encode()).hexdigest()
        self.path = SNAPSHOTS / f"{kernel.release}-{self.key[:KEY_LETTERS]}"

    def header(self, size_bytes: int) -> bytes:
        """How the file begins if it has so many bytes."""
        line = f"copyscope snapshot {self.key} {size_bytes}"
        return f"{line:{HEADER_BYTES - 1}}\n".encode()

    @contextlib.contextmanager
    def opened(self) -> Iterator[int | None]:
        """A descriptor of what QEMU wrote; None if there is no snapshot of ours."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY)
        except OSError:
            yield None
            return
        try:
            state = os.fstat(descriptor)
            if state.st_uid != os.geteuid():
                yield None
                return
            if os.read(descriptor, HEADER_BYTES) != self.header(state.st_size):
                raise NotRestored("it is not whole")
            with contextlib.suppress(OSError):
                os.utime(self.path)  # in use: the last to be dropped
            yield descriptor
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def claimed(self) -> Iterator[bool]:
        """Tells whether it is for us to make it: it is not there, and nobody else makes it."""
        SNAPSHOTS.mkdir(parents=True, exist_ok=True)
        # One byte of the file is locked for each snapshot.
        with open(SNAPSHOTS / "lock", "ab") as locks:
            try:
                fcntl.lockf(locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1,
                            int(self.key[:KEY_LETTERS - 1], 16))
            except BlockingIOError:
                yield False
                return
            yield not self.path.exists()

    @contextlib.contextmanager
    def made(self) -> Iterator[int]:
        """A descriptor for what QEMU writes; if all goes well, the snapshot is there afterwards."""
        if shutil.disk_usage(SNAPSHOTS).free < LEAST_ROOM_BYTES:
            raise NoRoom(f"{SNAPSHOTS} has less than {LEAST_ROOM_BYTES >> 20} MiB of room")
        with nameless(SNAPSHOTS) as descriptor:
            os.lseek(descriptor, HEADER_BYTES, os.SEEK_SET)
            yield descriptor
            size_bytes = os.fstat(descriptor).st_size
            os.pwrite(descriptor, self.header(size_bytes), 0)
            drop_beyond(kept(), MOST_BYTES - size_bytes)
            give_name(descriptor, self.path)

    def drop(self) -> None:
        """Throw it away."""
        with contextlib.suppress(OSError):
            self.path.unlink()


def kept() -> list[Path]:
    """All snapshots, of other kernels and earlier builds too."""
    return [path for path in SNAPSHOTS.iterdir() if path.name != "lock"]

