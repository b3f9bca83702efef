# SPDX-License-Identifier: GPL-2.0
"""Folders for cases, all below one of this process; what a killed campaign left there is swept."""
from __future__ import annotations

import atexit
import fcntl
import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

from helpers.records import ROOT

PLACES = ROOT / "build" / "campaign"
PREFIX = "cases-"
# As mkdtemp() names them.
OURS = re.compile(PREFIX + r"[a-z0-9_]{8}")
# The folder of this process, its lock and the process that made it; workers inherit them.
HELD: dict = {}


def new(name: str) -> Path:
    """An empty folder for one case; those who run as nobody can reach it."""
    hold_once()
    place = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=HELD["folder"]))
    os.chmod(place, 0o755)
    return place


def hold_once() -> None:
    """Make the folder of this process, locked for as long as one who inherits the lock lives."""
    if HELD:
        return
    PLACES.mkdir(parents=True, exist_ok=True)
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=PLACES))
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.chmod(folder, 0o755)
    HELD.update(folder=folder, lock=lock, maker=os.getpid())
    atexit.register(let_go)


def let_go() -> None:
    """Remove the folder when the process that made it ends."""
    if HELD.get("maker") == os.getpid():
        shutil.rmtree(HELD["folder"], ignore_errors=True)
        os.close(HELD["lock"])
        HELD.clear()


def sweep() -> None:
    """Remove what a killed campaign left: named as ours, owned by us, locked by nobody."""
    for folder in PLACES.iterdir():
        if not OURS.fullmatch(folder.name):
            continue
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            state = os.fstat(lock)
            # Made but not locked yet has the mode of mkdtemp(): another campaign is about to begin.
            if state.st_uid == os.geteuid() and stat.S_IMODE(state.st_mode) == 0o755:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(lock)
