# SPDX-License-Identifier: GPL-2.0
"""Opens a folder step by step, so that nobody but root decides where root's files go.

Whoever may change a folder on the way can put a link there that leads elsewhere. So as root each
folder on the way, and each link, must belong to someone who is root anyway: root itself, the owner
of this program, the user who called sudo. Others may write to none of them, but for folders such as
/tmp, which are sticky: there they can neither remove nor rename what is not theirs.
"""
from __future__ import annotations

import grp
import os
import pwd
import re
import stat
from contextlib import suppress
from pathlib import Path

from copyscope.common.errors import Unusable

MOST_LINKS = 40             # as the kernel's own limit
NEW_FOLDER_MODE = 0o755
ACCESS_LIST = "system.posix_acl_access"
WAY = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW


class Untrusted(Exception):
    """Somebody else could decide where this leads."""


def trusted_users() -> set[int]:
    """Users who could become root without our help."""
    users = {0, os.geteuid(), os.stat(__file__).st_uid}
    if re.fullmatch(r"[0-9]{1,10}", os.environ.get("SUDO_UID", "")):
        users.add(int(os.environ["SUDO_UID"]))
    # In a user namespace all who have no number in it, such as the real root, are shown as one.
    if Path("/proc/self/uid_map").read_text().split() != ["0", "0", "4294967295"]:
        users.add(int(Path("/proc/sys/kernel/overflowuid").read_text()))
    return users


def group_has_strangers(group: int, trusted: set[int]) -> bool:
    """Tell whether a user who is not trusted is in a group."""
    if group == 0:
        return False
    users = {user.pw_name: user for user in pwd.getpwall()}
    try:
        members = grp.getgrgid(group).gr_mem
    except KeyError:
        return True
    mine = [user for user in users.values() if user.pw_gid == group]
    mine += [users[name] for name in members if name in users]
    return any(user.pw_uid not in trusted for user in mine)


def others_may_write(folder: int, state: os.stat_result, trusted: set[int]) -> bool:
    """Tell whether users who are not trusted may make and remove files in an open folder."""
    if state.st_mode & stat.S_IWOTH:
        return True
    if not state.st_mode & stat.S_IWGRP:
        return False
    try:
        # With a list these bits are its mask, and do not show whom it names.
        listed = ACCESS_LIST in os.listxattr(f"/proc/self/fd/{folder}")
    except OSError:
        listed = False
    return listed or group_has_strangers(state.st_gid, trusted)


def check(folder: int, shown: str | Path) -> None:
    """As root, raise Untrusted if others could change what an open folder holds."""
    if os.geteuid() != 0:
        return
    state, trusted = os.fstat(folder), trusted_users()
    if state.st_uid not in trusted:
        raise Untrusted(f"{shown} belongs to user {state.st_uid}")
    if not state.st_mode & stat.S_ISVTX and others_may_write(folder, state, trusted):
        raise Untrusted(f"other users may write to {shown}")


class Walk:
    """A walk from the root, folder by folder."""

    def __init__(self) -> None:
        self.at = os.open("/", os.O_PATH | os.O_DIRECTORY)
        self.shown, self.links = Path("/"), 0
        check(self.at, self.shown)

    def move(self, to: int, shown: Path) -> None:
        """Go on from another folder."""
        os.close(self.at)
        self.at, self.shown = to, shown
        check(self.at, self.shown)

    def step(self, name: str, make: bool) -> None:
        """Go into a folder, through a link if it is one that only root could have put there."""
        shown = self.shown / name
        try:
            state = os.lstat(name, dir_fd=self.at)
        except FileNotFoundError:
            if not make:
                raise
            # Another run may make it at the same moment: what is there is looked at all the same.
            with suppress(FileExistsError):
                os.mkdir(name, NEW_FOLDER_MODE, dir_fd=self.at)
            state = os.lstat(name, dir_fd=self.at)
        if not stat.S_ISLNK(state.st_mode):
            self.move(os.open(name, WAY, dir_fd=self.at), shown)
            return
        if state.st_uid not in trusted_users():
            raise Untrusted(f"{shown} is a link of user {state.st_uid}")
        self.links += 1
        if self.links > MOST_LINKS:
            raise Untrusted(f"{shown} is a link that leads back to itself")
        target = Path(os.readlink(name, dir_fd=self.at))
        if target.is_absolute():
            self.move(os.open("/", os.O_PATH | os.O_DIRECTORY), Path("/"))
        self.go(target, False)

    def go(self, path: Path, make: bool) -> None:
        """Take every step of a path."""
        for name in path.parts:
            if name != "/":
                self.step(name, make)


def walk_as_root(path: Path, make: bool) -> int:
    """Return a descriptor of the folder, or raise Untrusted."""
    walk = Walk()
    try:
        if not path.is_absolute():
            walk.go(Path(os.getcwd()), False)
        walk.go(path, make)
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=walk.at)
    finally:
        os.close(walk.at)


def open_folder(path: Path, make: bool, advice: str) -> int:
    """Open a folder, made if `make`. A refusal is one line and ends in `advice`."""
    try:
        if os.geteuid() == 0:
            return walk_as_root(path, make)
        if make:
            path.mkdir(NEW_FOLDER_MODE, parents=True, exist_ok=True)
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except Untrusted as error:
        raise Unusable(f"{path}: {error}: root's files are not safe there; {advice}") \
            from None
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}; {advice}") from None
