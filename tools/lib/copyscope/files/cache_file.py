# SPDX-License-Identifier: GPL-2.0
"""Writes a file of the cache, which can be made again: whole, or not there."""
from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
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
