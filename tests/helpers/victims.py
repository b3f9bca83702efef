# SPDX-License-Identifier: GPL-2.0
"""Somebody's files, and a proof that a tool has left them as they were, byte for byte."""
from __future__ import annotations

import os
import stat
from pathlib import Path

NOBODY = 65534


def snapshot(folder: Path) -> dict[str, tuple]:
    """Everything below a folder: kind, owner, content; and when and as what it was made."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        state = path.lstat()
        content: str | bytes = ""
        if stat.S_ISLNK(state.st_mode):
            content = os.readlink(path)
        elif stat.S_ISREG(state.st_mode):
            content = path.read_bytes()
        found[str(path)] = (state.st_ino, state.st_mode, state.st_uid, state.st_mtime_ns, content)
    return found


def victim(folder: Path) -> Path:
    """A folder of somebody who has nothing to do with us."""
    (folder / "deep").mkdir(parents=True)
    for name in ("precious.txt", "runs.json", "deep/other.txt"):
        (folder / name).write_text(f"{name} is precious\n")
    return folder


def give_away(folder: Path, mode: int) -> Path:
    """Make a folder somebody else's, with this mode."""
    folder.mkdir(exist_ok=True)
    os.chown(folder, NOBODY, NOBODY)
    folder.chmod(mode)
    return folder


def assert_refused(done, *words: str) -> None:
    """One line with these words, exit 2."""
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert len(done.stderr.splitlines()) == 1 and "Traceback" not in done.stderr, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr
