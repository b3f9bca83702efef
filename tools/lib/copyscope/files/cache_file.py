# SPDX-License-Identifier: GPL-2.0
"""Writes files of the cache, which can be made again: whole, or not there; drops the oldest."""
from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO


def write_whole(final: Path, fill: Callable[[BinaryIO], object]) -> None:
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
