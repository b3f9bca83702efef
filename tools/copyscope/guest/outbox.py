# SPDX-License-Identifier: GPL-2.0
"""Unpack what a command left in the guest's /out, trusting nothing in the archive."""
from __future__ import annotations

import tarfile
from pathlib import Path
from typing import BinaryIO, Iterator

from copyscope.errors import CommandError
from copyscope.output_folder import OutputFolder

EXECUTABLE = 0o755


def members(stream: BinaryIO) -> Iterator[tuple[tarfile.TarInfo, list[str], BinaryIO | None]]:
    """Every member of a tar, the steps of its name, and its content if it has one."""
    try:
        with tarfile.open(fileobj=stream, mode="r:") as archive:
            for member in archive:
                parts = [part for part in member.name.split("/") if part not in ("", ".")]
                yield member, parts, archive.extractfile(member) if member.isreg() else None
    except tarfile.TarError as error:
        raise CommandError(f"what the guest left in /out came back damaged: {error}") from error


def unpack(stream: BinaryIO, folder: Path) -> list[str]:
    """Write the files and folders of a tar below `folder`; name what was left out."""
    skipped = []
    with OutputFolder.at(folder) as place:
        for member, parts, content in members(stream):
            if ".." in parts or not (content or member.isdir()):
                skipped.append(member.name)
            elif parts:
                write(place, parts, content, bool(member.mode & 0o111))
    return skipped


def write(place: OutputFolder, parts: list[str], content: BinaryIO | None, runs: bool) -> None:
    """Write one member below a folder: a file with its content, or a folder. What is in the way and
    no file or folder of its own, such as a link, is refused."""
    if len(parts) == 1 and content:
        place.write(parts[0], content.read(), EXECUTABLE if runs else 0o644)
        return
    with place.subfolder(parts[0]) as inner:
        if len(parts) > 1:
            write(inner, parts[1:], content, runs)


def one_file(stream: BinaryIO, name: str) -> bytes | None:
    """The content of one plain file of a tar; None if it is not there."""
    found = None
    for _, parts, content in members(stream):
        if parts == [name] and content:
            found = content.read()
    return found
