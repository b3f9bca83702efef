# SPDX-License-Identifier: GPL-2.0
"""Names of services: of a process by its container, its unit, or its program and user. Pure."""

from __future__ import annotations

from typing import Any

from .containers import Container
from .paths import USERS, container_of, unit_of, user_of

Document = dict[str, Any]
# So much of an id tells containers apart.
ID_SHOWN = 12
NOBODY = "the kernel, or unknown"


class Names:
    """What containers and users of a record are called."""

    def __init__(self, told: Document | None) -> None:
        told = told or {}
        self.containers = {each["id"]: Container(**each) for each in told.get("containers", [])}
        self.users = told.get("users", {})

    def user(self, uid: int | None) -> str:
        """nginx, or its number."""
        return "" if uid is None else self.users.get(str(uid), f"uid {uid}")

    def container(self, number: str) -> str:
        """shop/web-7f9/app; web (docker)."""
        found = self.containers.get(number)
        if not found:
            return f"container {number[:ID_SHOWN]}"
        return found.shown if found.pod else f"{found.shown} ({found.runtime})"

    def service(self, process: Document) -> str:
        """The service of a process, of a record or of an interval."""
        path, comm = process["cgroup"] or "", process["comm"]
        if not process["pid"] and not process.get("listener_pid"):
            return comm or NOBODY
        if container := container_of(path):
            return self.container(container)
        unit, of_users = unit_of(path), path.startswith(USERS)
        slice_of = user_of(path) if of_users else None
        user = self.user(process.get("uid") if slice_of is None else slice_of)
        if unit and not of_users:
            return unit
        name = unit or comm
        return f"{name} ({user})" if user else name
