# SPDX-License-Identifier: GPL-2.0
"""Names of containers by their ids, out of files that their runtimes keep."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# Symbolic links that kubelet keeps for each container of any runtime: POD_NAMESPACE_NAME-ID.log.
POD_LOGS = "var/log/containers"
POD_LOG = re.compile(
    r"(?P<pod>[^_]+)_(?P<namespace>[^_]+)_(?P<name>[^_]+)-(?P<id>[0-9a-f]{64})\.log"
)
DOCKER = "var/lib/docker/containers"
# Of podman, and of CRI-O where no kubelet runs.
STORAGE = "var/lib/containers/storage/overlay-containers/containers.json"
CONTAINERD = "run/containerd/io.containerd.runtime.v2.task"
# A file that says more than this is no container's.
MOST_BYTES = 4 << 20


@dataclass(frozen=True)
class Container:
    """What a runtime calls it; a container of a pod has a namespace."""

    id: str
    name: str
    runtime: str
    pod: str | None = None
    namespace: str | None = None

    @property
    def shown(self) -> str:
        """shop/web-7f9/app, or web."""
        return f"{self.namespace}/{self.pod}/{self.name}" if self.pod else self.name

    @property
    def names(self) -> list[str]:
        """All that a user may call it."""
        of_pod = [self.pod, f"{self.namespace}/{self.pod}", self.shown] if self.pod else []
        return [self.name, *filter(None, of_pod)]

    def document(self) -> dict[str, Any]:
        """As a record has it."""
        return asdict(self)


def read(file: Path) -> Any:
    """What a file of JSON holds; None where it cannot be read, or is none."""
    try:
        if file.stat().st_size > MOST_BYTES:
            return None
        return json.loads(file.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError):
        return None


def entries(folder: Path) -> list[str]:
    """Names in a folder; none where it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def of_pods(root: Path) -> Iterator[Container]:
    """Containers that a kubelet started."""
    for log in map(POD_LOG.fullmatch, entries(root / POD_LOGS)):
        if log:
            yield Container(log["id"], log["name"], "kubelet", log["pod"], log["namespace"])


def of_docker(root: Path) -> Iterator[Container]:
    """Docker's own."""
    for number in entries(root / DOCKER):
        found = read(root / DOCKER / number / "config.v2.json")
        if isinstance(found, dict) and isinstance(found.get("Name"), str):
            yield Container(number, found["Name"].removeprefix("/"), "docker")


def of_storage(root: Path) -> Iterator[Container]:
    """Those of podman, and of CRI-O."""
    found = read(root / STORAGE)
    for each in found if isinstance(found, list) else []:
        if isinstance(each, dict) and isinstance(each.get("id"), str) and each.get("names"):
            yield Container(each["id"], str(each["names"][0]), "podman")


def of_containerd(root: Path) -> Iterator[Container]:
    """Those that nerdctl named."""
    for space in entries(root / CONTAINERD):
        for number in entries(root / CONTAINERD / space):
            found = read(root / CONTAINERD / space / number / "config.json")
            told = found.get("annotations") if isinstance(found, dict) else None
            name = told.get("nerdctl/name") if isinstance(told, dict) else None
            if isinstance(name, str):
                yield Container(number, name, "containerd")


def named(root: Path = Path("/")) -> dict[str, Container]:
    """All that have names here, by id; kubelet's word comes first."""
    found: dict[str, Container] = {}
    for source in (of_containerd, of_storage, of_docker, of_pods):
        found |= {each.id: each for each in source(root) if each.name}
    return found
