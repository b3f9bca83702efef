# SPDX-License-Identifier: GPL-2.0
"""Finds what is kept in a folder: records by their ids, folders of sweeps by their names."""
from __future__ import annotations

import os
from pathlib import Path

from copyscope.common.errors import Unusable
from copyscope.files.record_file import runs_folder

PLAN = "plan.json"
LAST = "last"
MOST_NAMED = 4


def kept(folder: Path) -> list[Path]:
    """The records and the folders of sweeps in a folder, the oldest first."""
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Unusable(f"{folder}: {error.strerror}: name another folder with --in") from None
    found = [entry for entry in entries
             if (entry.name.endswith(".json") and entry.is_file()
                 or entry.is_dir() and Path(entry.path, PLAN).is_file())]
    return [Path(entry.path) for entry in
            sorted(found, key=lambda entry: (entry.stat().st_mtime_ns, entry.name))]


def place(folder: Path | None) -> Path:
    """The folder that is looked in."""
    return folder or runs_folder()


def name_of(path: Path) -> str:
    """The name by which a record or a sweep is shown."""
    return path.name.removesuffix(".json")


def find(wanted: str, folder: Path | None = None) -> Path:
    """The record or sweep that an id means: a path, its name, the beginning of one, or `last`."""
    if os.sep in wanted or os.path.exists(wanted):
        return Path(wanted)
    there = kept(place(folder))
    if wanted == LAST:
        if not there:
            raise Unusable(f"{place(folder)}: no record is kept there: make a run first")
        return there[-1]
    found = [path for path in there if name_of(path) == wanted] or \
        [path for path in there if path.name.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise Unusable(f"{wanted}: no such file, and no such record in {place(folder)}: copyscope "
                       "list shows them")
    names = [name_of(path) for path in found[:MOST_NAMED]]
    raise Unusable(f"{wanted}: {len(found)} records begin so, such as {', '.join(names)}: write "
                   "more of it")
