# SPDX-License-Identifier: GPL-2.0
"""Reads a tar that anybody may have made: its headers cost no more memory than a few pages."""
from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import BinaryIO, cast

# A header, with the longest name that Linux takes; files of an archive.
MOST_HEADER_BYTES, MOST_MEMBERS = 16 << 10, 1 << 17


class Rationed:
    """A stream of which no more is read than allowed: tarfile reads headers of any length whole."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self.left_bytes = stream, MOST_HEADER_BYTES
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int = -1) -> bytes:
        """Read that much; raise ReadError if it is more than what is left."""
        if not 0 <= size <= self.left_bytes:
            raise tarfile.ReadError(f"a header is longer than {MOST_HEADER_BYTES >> 10} KiB")
        self.left_bytes -= size
        return self.stream.read(size)


def tar_members(stream: BinaryIO) -> Iterator[tuple[tarfile.TarInfo, BinaryIO | None]]:
    """Every member of a tar, and its content if it is a plain file, to be read before the next one;
    raise TarError if the tar is damaged."""
    rationed = Rationed(stream)
    try:
        with tarfile.open(fileobj=cast(BinaryIO, rationed), mode="r:") as archive:
            for _ in range(MOST_MEMBERS):
                rationed.left_bytes = MOST_HEADER_BYTES
                member = archive.next()
                if member is None:
                    return
                # It would keep them all.
                archive.members.clear()
                rationed.left_bytes = member.size
                plain = member.isreg() and not member.issparse()
                content = archive.extractfile(member) if plain else None
                yield member, cast("BinaryIO | None", content)
    except RecursionError:
        raise tarfile.ReadError("its headers are nested too deeply") from None
    except ValueError as error:
        raise tarfile.ReadError(f"a header is damaged: {error}") from None
    raise tarfile.ReadError(f"it holds more than {MOST_MEMBERS} files")
