# SPDX-License-Identifier: GPL-2.0
"""Unpack what a command left in the guest's /out, trusting nothing in the archive."""
from __future__ import annotations

import os
import shutil
import tarfile
from pathlib import Path
from typing import BinaryIO

from copyscope.errors import CommandError


def unpack(stream: BinaryIO, folder: Path) -> list[str]:
    """Write the files and folders of a tar below `folder`; name what was left out."""
    folder.mkdir(parents=True, exist_ok=True)
    skipped = []
    try:
        with tarfile.open(fileobj=stream, mode="r:") as archive:
            for member in archive:
                if not place(archive, member, folder):
                    skipped.append(member.name)
    except tarfile.TarError as error:
        raise CommandError(f"what the guest left in /out came back damaged: {error}") from error
    return skipped


def place(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> bool:
    """Write one member, unless it is a link, a device or points out of `folder`."""
    parts = [part for part in member.name.split("/") if part not in ("", ".")]
    if ".." in parts or not (member.isreg() or member.isdir()):
        return False
    target = folder.joinpath(*parts)
    if not target.parent.resolve().is_relative_to(folder.resolve()) and parts:
        return False
    if member.isdir():
        if target.is_symlink():
            return False
        target.mkdir(parents=True, exist_ok=True)
        return True
    if target.is_symlink():
        target.unlink()
    with open(target, "wb") as output:
        shutil.copyfileobj(archive.extractfile(member), output)
    os.chmod(target, 0o755 if member.mode & 0o111 else 0o644)
    return True
