# SPDX-License-Identifier: GPL-2.0
"""What the path of a control group says: the pod, the container, the unit, the user. Pure."""

from __future__ import annotations

import functools
import re

# Of so many control groups the names stay known: each has processes by the dozen.
MANY = 4096
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
USER = re.compile(r"/user\.slice/user-(\d+)\.slice(?:/|$)")
# The folder of a container in it: containerd, CRI-O, Docker with systemd; cgroupfs has the bare id.
CONTAINER = re.compile(r"(?:(?:cri-containerd|crio|docker)-)?([0-9a-f]{64})(?:\.scope)?")
# Outside of pods those of podman and nerdctl besides.
ALONE = re.compile(r"(?:(?:cri-containerd|crio|docker|libpod|nerdctl)-)?([0-9a-f]{64})(?:\.scope)?")
# A session is no service: what a user starts in it is told by its name.
UNIT = re.compile(r"(?!session-\w+\.scope$)[^/]+\.(?:service|scope)")


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


@functools.lru_cache(MANY)
def container_of(path: str) -> str:
    """The id of the container; "" if it lies in none, or where users name folders."""
    if path.startswith(USERS):
        return ""
    found = [each[1] for each in map(ALONE.fullmatch, path.split("/")) if each]
    return found[-1] if found else ""


@functools.lru_cache(MANY)
def unit_of(path: str) -> str:
    """The unit of systemd whose folder lies deepest: nginx.service."""
    found = [part for part in path.split("/") if UNIT.fullmatch(part) and not ALONE.fullmatch(part)]
    return found[-1] if found else ""


def user_of(path: str) -> int | None:
    """The user in whose slice it lies."""
    found = USER.match(path)
    return int(found[1]) if found else None
