# SPDX-License-Identifier: GPL-2.0
"""The control groups of this machine: their paths by number."""

from __future__ import annotations

import os
from pathlib import Path

from copyscope.common.errors import escaped

MOUNTS = Path("/proc/self/mounts")
# So many paths of groups that are gone are remembered.
GONE_MOST = 10_000


def mount() -> Path | None:
    """Where control groups of version 2 are mounted."""
    for line in MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        words = line.split()
        if len(words) > 2 and words[2] == "cgroup2":
            return Path(words[1])
    return None


def readable(path: str) -> str:
    """A path as a label may have it: UTF-8, nothing that a terminal obeys; a newline stays one."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "\n".join(map(escaped, text.split("\n")))


def paths() -> dict[int, str]:
    """All groups that there are, below the mount, by number: the inode of the folder."""
    root = mount()
    if root is None:
        return {}
    found, left = {os.stat(root).st_ino: "/"}, [(root, "")]
    while left:
        folder, path = left.pop()
        try:
            with os.scandir(folder) as entries:
                inner = [each for each in entries if each.is_dir(follow_symlinks=False)]
        except OSError:
            continue  # it is gone
        for each in inner:
            found[each.inode()] = f"{path}/{readable(each.name)}"
            left.append((Path(each.path), found[each.inode()]))
    return found


class Groups:
    """Paths by number."""

    def __init__(self) -> None:
        self.paths: dict[int, str] = {}

    def learn(self, numbers: set[int]) -> None:
        """Have the paths of these, as far as they are there. Numbers are never used again, so that
        those of groups that are gone are right for what still comes of them."""
        if numbers <= set(self.paths):
            return
        try:
            there = paths()
        except OSError:
            return
        self.paths |= there
        if len(self.paths) > GONE_MOST + len(there):
            self.paths = {
                each: path for each, path in self.paths.items() if each in numbers or each in there
            }

    def path(self, number: int | None) -> str:
        """The path; "" if it is not known."""
        return self.paths.get(number, "") if number else ""
