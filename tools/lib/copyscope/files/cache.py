# SPDX-License-Identifier: GPL-2.0
"""What can be made again: files of the cache, and a folder for the time of a run."""
from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from copyscope.common.tree import CACHE

from .output_folder import OutputFolder

# Files are whole, or not there; the oldest are dropped.


def write_cached(final: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Have `fill` write the content beside its final place, then rename it."""
    final.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=final.parent, prefix="tmp-", delete=False) as stream:
        try:
            fill(stream)
            stream.flush()
            os.chmod(stream.name, 0o644)
            os.rename(stream.name, final)
        except BaseException:
            os.unlink(stream.name)
            raise


def last_use_s(path: Path) -> float:
    """Return the time of last use; 0 if another process has just removed the file."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def drop_oldest(paths: Iterable[Path], keep: int) -> None:
    """Remove all but the last used `keep` files; another process may do the same at once."""
    for stale in sorted(paths, key=last_use_s)[:-keep]:
        stale.unlink(missing_ok=True)


def drop_beyond(paths: Iterable[Path], most_bytes: int) -> None:
    """Remove the files that were used longest ago, until the others have at most so many bytes."""
    total_bytes = 0
    for path in sorted(paths, key=last_use_s, reverse=True):
        with contextlib.suppress(FileNotFoundError):
            total_bytes += path.stat().st_size
            if total_bytes > most_bytes:
                path.unlink()


@contextlib.contextmanager
def nameless(folder: Path) -> Iterator[int]:
    """The descriptor of a new file without a name in a folder: whoever dies leaves nothing of it.
    A file system that has none, as NFS, refuses."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o644)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def give_name(descriptor: int, final: Path) -> None:
    """Give such a file its name, unless another has it by now."""
    place = os.open("/proc/self/fd", os.O_PATH)
    try:
        # Without src_dir_fd Python would link the link.
        os.link(str(descriptor), final, src_dir_fd=place, follow_symlinks=True)
    except FileExistsError:
        pass
    finally:
        os.close(place)


# A folder for the time of a run; what a kill leaves of one, the next run removes.

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
def scratch_folder(root: Path = PLACE) -> Iterator[Path]:
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
