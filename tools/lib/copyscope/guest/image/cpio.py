# SPDX-License-Identifier: GPL-2.0
"""Write cpio archives in the `newc` form that the kernel unpacks as its first file system."""
from __future__ import annotations

import stat
from pathlib import Path
from typing import BinaryIO

REGULAR, FOLDER, LINK = stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK


class Writer:
    """A cpio archive under way; everything in it belongs to root."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.count = 0
        self.folders = {"."}

    def folder(self, path: str, mode: int = 0o755) -> None:
        """Add a folder and those above it, once."""
        if path in self.folders:
            return
        self.folder(str(Path(path).parent))
        self.folders.add(path)
        self._entry(path, FOLDER | mode, b"")

    def link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        self.folder(str(Path(path).parent))
        self._entry(path, LINK | 0o777, target.encode())

    def file(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Add a regular file."""
        self.folder(str(Path(path).parent))
        self._entry(path, REGULAR | mode, data)

    def close(self) -> None:
        """Write the trailer; another archive may follow in the same file."""
        self._entry("TRAILER!!!", 0, b"")

    def _entry(self, path: str, mode: int, data: bytes) -> None:
        self.count += 1
        name = path.encode() + b"\0"
        # ino mode uid gid nlink mtime size devmajor devminor rdevmajor rdevminor namesize check
        fields = (self.count, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields) + name
        self.stream.write(header + padding(len(header)))
        self.stream.write(data)
        self.stream.write(padding(len(data)))


def padding(size: int) -> bytes:
    """Fill up to the next multiple of four, as the format wants."""
    return b"\0" * (-size % 4)
