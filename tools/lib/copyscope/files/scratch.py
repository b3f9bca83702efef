# SPDX-License-Identifier: GPL-2.0
"""Gives a folder for the time of a run; what a kill leaves of one, the next run removes."""
from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from copyscope.common.tree import CACHE

from .output_folder import OutputFolder

PLACE = CACHE / "scratch"
ADVICE = "give --out"
OURS = re.compile(r"copyscope-[0-9a-f]{16}")


def lock(descriptor: int, wait: bool = False) -> bool:
    """Lock a folder for as long as its descriptor is open; the kernel unlocks it after a death."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def remove_left(place: OutputFolder) -> None:
    """Remove the folders of ours whose owners have died: nobody holds their locks."""
    for name in filter(OURS.fullmatch, place.names()):
        with place.subfolder(name, make=False) as left:
            if os.fstat(left.descriptor).st_uid == os.geteuid() and lock(left.descriptor):
                shutil.rmtree(name, dir_fd=place.descriptor)


@contextlib.contextmanager
def folder(root: Path = PLACE) -> Iterator[Path]:
    """A new folder below `root`, removed at the end."""
    with OutputFolder.at(root, advice=ADVICE) as place:
        name = f"copyscope-{secrets.token_hex(8)}"
        # Held while it is made: nobody may find it before it is locked.
        lock(place.descriptor, wait=True)
        remove_left(place)
        mine = place.subfolder(name)
        try:
            lock(mine.descriptor)
            fcntl.flock(place.descriptor, fcntl.LOCK_UN)
            yield root / name
        finally:
            # Not while another run looks at what is there.
            lock(place.descriptor, wait=True)
            shutil.rmtree(name, dir_fd=place.descriptor)
            mine.close()
