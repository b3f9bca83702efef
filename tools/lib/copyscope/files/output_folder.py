# SPDX-License-Identifier: GPL-2.0
"""Writes files into a folder that is held open: each whole or not at all, and through no link."""
from __future__ import annotations

import grp
import os
import pwd
import re
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from copyscope.common.caller import caller_uid
from copyscope.common.errors import Unusable

# A folder is opened step by step, so that nobody but root decides where root's files go.
#
# Whoever may change a folder on the way can put a link there that leads elsewhere. So as root each
# folder on the way, and each link, must belong to someone who is root anyway: root itself, the
# owner of this program, the user who called sudo. Others may write to none of them, but for folders
# such as /tmp, which are sticky: there they can neither remove nor rename what is not theirs.

MOST_LINKS = 40             # as the kernel's own limit
NEW_FOLDER_MODE = 0o755
ACCESS_LIST = "system.posix_acl_access"
WAY = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW


class Untrusted(Exception):
    """Somebody else could decide where this leads."""


def trusted_users() -> set[int]:
    """Users who could become root without our help."""
    users = {0, os.geteuid(), os.stat(__file__).st_uid}
    if (uid := caller_uid()) is not None:
        users.add(uid)
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


def check_trusted(folder: int, shown: str | Path) -> None:
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
        check_trusted(self.at, self.shown)

    def move(self, to: int, shown: Path) -> None:
        """Go on from another folder."""
        os.close(self.at)
        self.at, self.shown = to, shown
        check_trusted(self.at, self.shown)

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


# What is written there.

CHOOSE = "choose another --out"
FILE_MODE = 0o644
# Of a file that is read to tell whose folder it lies in: far above any of ours.
MOST_BYTES = 64 << 20
# A file of this name is one of ours that a kill kept from getting its own.
PART = re.compile(r"\.copyscope-[0-9a-f]{16}\.part")
# Tells from what a file holds whether one of our tools wrote it.
Proof = Callable[[bytes], bool]


def has_line(line: str) -> Proof:
    """A proof that accepts a page with this line among its first two."""
    return lambda data: line.encode() in data.split(b"\n", 2)[:2]


class OutputFolder:
    """A folder held by its descriptor: nobody can redirect it by moving or linking its name."""

    def __init__(self, path: Path, descriptor: int, advice: str = CHOOSE) -> None:
        self.path, self.descriptor, self.advice = path, descriptor, advice

    @classmethod
    def at(cls, path: Path, make: bool = True, advice: str = CHOOSE) -> OutputFolder:
        """Open a folder; as root, only one that others cannot change."""
        return cls(path, open_folder(path, make, advice), advice)

    def __enter__(self) -> OutputFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder."""
        os.close(self.descriptor)

    def refuse(self, name: str, what: str) -> Unusable:
        """An error about one entry."""
        return Unusable(f"{self.path / name}: {what}; {self.advice}")

    def names(self) -> list[str]:
        """What the folder holds, in order."""
        return sorted(os.listdir(self.descriptor))

    def state(self, name: str) -> os.stat_result | None:
        """What an entry is, not what a link leads to; None if there is none."""
        try:
            return os.lstat(name, dir_fd=self.descriptor)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self.refuse(name, error.strerror or "it cannot be examined") from None

    def file(self, name: str) -> os.stat_result | None:
        """A plain file that we may replace or remove; None if there is none; else one line."""
        state = self.state(name)
        if state is None:
            return None
        if not stat.S_ISREG(state.st_mode):
            raise self.refuse(name, "not a plain file")
        if os.geteuid() == 0 and state.st_uid not in trusted_users():
            raise self.refuse(name, f"belongs to user {state.st_uid}")
        return state

    def read(self, name: str, most: int = -1) -> bytes:
        """The content of a plain file."""
        self.file(name)
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK,
                             dir_fd=self.descriptor)
        with open(descriptor, "rb") as file:
            return file.read(most)

    def remove(self, name: str) -> None:
        """Remove a plain file if it is there."""
        if self.file(name):
            os.unlink(name, dir_fd=self.descriptor)

    def subfolder(self, name: str, make: bool = True) -> OutputFolder:
        """Open a folder in this one, made if need be; never what a link leads to."""
        try:
            if make and self.state(name) is None:
                os.mkdir(name, NEW_FOLDER_MODE, dir_fd=self.descriptor)
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW,
                            dir_fd=self.descriptor)
        except OSError as error:
            link = stat.S_ISLNK(getattr(self.state(name), "st_mode", 0))
            raise self.refuse(name, "is a link" if link else error.strerror or "no folder") \
                from None
        try:
            check_trusted(inner, self.path / name)
        except Untrusted as error:
            os.close(inner)
            raise Unusable(f"{error}; {self.advice}") from None
        return OutputFolder(self.path / name, inner, self.advice)

    def move(self, name: str, to: OutputFolder, new_name: str) -> None:
        """Move a plain file in one step, over a plain file or nothing."""
        self.file(name)
        to.file(new_name)
        os.rename(name, new_name, src_dir_fd=self.descriptor, dst_dir_fd=to.descriptor)

    def write(self, name: str, data: str | bytes, mode: int = FILE_MODE) -> None:
        """Write a file so that it is there wholly or not at all."""
        there = self.file(name)
        try:
            self._place(name, data.encode() if isinstance(data, str) else data, mode, bool(there))
        except OSError as error:
            raise Unusable(f"{self.path / name}: {error.strerror}; free some room or choose "
                           "another place") from None

    def _place(self, name: str, data: bytes, mode: int, replaces: bool) -> None:
        """Write a file without a name, then link it: a kill in between leaves nothing."""
        aside = f".copyscope-{secrets.token_hex(8)}.part"
        named = False
        try:
            file = os.open(".", os.O_TMPFILE | os.O_WRONLY, mode, dir_fd=self.descriptor)
        except OSError:
            # Not every file system can.
            file = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY, mode,
                           dir_fd=self.descriptor)
            named = True
        try:
            with open(file, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(file)
                if not named:
                    os.link(f"/proc/self/fd/{file}", aside if replaces else name,
                            dst_dir_fd=self.descriptor)
                    named = replaces
            if named:
                os.rename(aside, name, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
                named = False
        finally:
            if named:
                os.unlink(aside, dir_fd=self.descriptor)

    def part_files(self) -> list[str]:
        """Names of files that a killed write has left."""
        found = []
        for name in self.names():
            state = self.state(name) if PART.fullmatch(name) else None
            if state and stat.S_ISREG(state.st_mode) and state.st_nlink == 1 and \
                    state.st_uid == os.geteuid():
                found.append(name)
        return found

    def claim(self, tool: str, proofs: dict[str, Proof],
              alone: dict[str, Proof] | None = None) -> None:
        """Refuse a folder that is not empty, unless a file in `proofs` proves that the tool made
        it; before that, nothing in it is changed. A file in `alone` proves it only where there
        is no other file: people keep such files beside their own, too."""
        parts = self.part_files()
        names = set(self.names()) - set(parts)
        if len(names) == 1:
            proofs = {**proofs, **(alone or {})}
        if names and not any(self.file(name) and proves(self.read(name, MOST_BYTES))
                             for name, proves in proofs.items()):
            raise Unusable(f"{self.path}: the folder is not empty, and no {' or '.join(proofs)} in "
                           f"it is from {tool}; {self.advice}")
        for name in parts:
            self.remove(name)
