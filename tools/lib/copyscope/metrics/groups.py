# SPDX-License-Identifier: GPL-2.0
"""Names of control groups: the path of a number, and the pod in a path of Kubernetes."""

from __future__ import annotations

import os
import re
from pathlib import Path

from copyscope.common.errors import escaped

MOUNTS = Path("/proc/self/mounts")
# So many paths of groups that are gone are remembered.
GONE_MOST = 10_000
# The folder of a pod, by either driver of kubelet; a static pod has the hash of its file for a UID.
# The name alone is anybody's: kubelet's are in folders of kubelet's, one for each class but the
# best, and with systemd the name of a slice begins with those of all above it.
UID = r"(?P<uid>[0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})"
CLASS = "(?:burstable|besteffort)"
PODS = (
    re.compile(rf"(?:[^/]*/)?kubepods(?:/{CLASS})?/pod{UID}"),
    re.compile(
        rf"(?:[^/]*/)?(?P<root>(?:[^/]+-)?kubepods)\.slice"
        rf"(?:/(?P<class>(?P=root)-{CLASS})\.slice)?"
        rf"/(?(class)(?P=class)|(?P=root))-pod{UID}\.slice"
    ),
)
# Below it users make groups as they like.
USERS = "/user.slice/"
# The folder of a container in it: containerd, CRI-O, Docker with systemd; cgroupfs has the bare id.
CONTAINER = re.compile(r"(?:(?:cri-containerd|crio|docker)-)?([0-9a-f]{64})(?:\.scope)?")


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


def pod_of(path: str) -> tuple[str, str, str]:
    """The path above the pod, the pod's UID, the container's id; of no pod the whole path."""
    parts = path.split("/")
    for at in range(3, len(parts) + 1) if not path.startswith(USERS) else ():
        # Names of three folders decide: a path of thousands takes no longer for each.
        last = "/".join(parts[at - 3 : at])
        pod = next(filter(None, (each.fullmatch(last) for each in PODS)), None)
        if pod:
            container = CONTAINER.fullmatch(parts[at]) if at < len(parts) else None
            return (
                "/".join(parts[: at - 1]),
                pod["uid"].replace("_", "-"),
                container[1] if container else "",
            )
    return path, "", ""


class Groups:
    """Paths by number: that of a group is the inode of its folder."""

    def __init__(self) -> None:
        self.paths: dict[int, str] = {}

    def _walk(self) -> dict[int, str]:
        """All groups that there are."""
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

    def learn(self, numbers: set[int]) -> None:
        """Have the paths of these, as far as they are there. Numbers are never used again, so that
        those of groups that are gone are right for what still comes of them."""
        if numbers <= set(self.paths):
            return
        try:
            there = self._walk()
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
