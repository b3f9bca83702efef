# SPDX-License-Identifier: GPL-2.0
"""Brings home what a command left in the guest's /out, trusting nothing in the archive."""
from __future__ import annotations

import contextlib
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from copyscope.common.errors import CommandError, Unusable, shown
from copyscope.files.output_folder import OutputFolder
from copyscope.files.record_file import RecordFile, make_runs_folder, runs_folder
from copyscope.files.tar_members import tar_members

EXECUTABLE = 0o755


def members(stream: BinaryIO) -> Iterator[tuple[tarfile.TarInfo, list[str], BinaryIO | None]]:
    """Every member of a tar, the steps of its name, and its content if it has one."""
    try:
        for member, content in tar_members(stream):
            parts = [part for part in member.name.split("/") if part not in ("", ".")]
            yield member, parts, content
    except tarfile.TarError as error:
        raise damaged(error) from error


def damaged(error: tarfile.TarError) -> CommandError:
    """An error about an archive that is damaged."""
    return CommandError(f"what the guest left in /out came back damaged: {error}")


def whole(content: BinaryIO) -> bytes:
    """The whole content of a file."""
    try:
        return content.read()
    except tarfile.TarError as error:
        raise damaged(error) from error


def look(folder: Path) -> None:
    """Before the work, refuse a folder that cannot be written to."""
    with OutputFolder.at(folder) as place:
        if not os.access(".", os.W_OK, dir_fd=place.descriptor, effective_ids=True):
            raise Unusable(f"{folder}: cannot be written to; choose another --out")


def unpack(stream: BinaryIO, folder: Path) -> list[str]:
    """Write the files and folders of a tar below `folder`; name what was left out."""
    skipped = []
    with OutputFolder.at(folder) as place:
        for member, parts, content in members(stream):
            if ".." in parts or not (content or member.isdir()):
                skipped.append(member.name)
            elif parts:
                write_member(place, parts, content, bool(member.mode & 0o111))
    return skipped


def write_member(place: OutputFolder, parts: list[str], content: BinaryIO | None,
                 runs: bool) -> None:
    """Write one member below a folder: a file with its content, or a folder. An
    entry in its way that is neither, such as a link, is refused."""
    # Of a folder, every step of its name is one.
    *folders, last = parts if content else [*parts, ""]
    with contextlib.ExitStack() as held:
        for name in folders:
            place = place.subfolder(name)
            # Of a guest's choice, thousands: only the last one is needed.
            held.close()
            held.enter_context(place)
        if content:
            place.write(last, whole(content), EXECUTABLE if runs else 0o644)


def one_file(stream: BinaryIO, name: str) -> bytes | None:
    """The content of one plain file of a tar; None if it is not there."""
    found = None
    for _, parts, content in members(stream):
        if parts == [name] and content:
            found = whole(content)
    return found


# The record of a run in a guest comes by the guest's port alone.

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
