# SPDX-License-Identifier: GPL-2.0
"""What users and containers of this machine are called now."""

import os
from collections.abc import Iterable

# Where runtimes of containers keep files (containers.py).
RUNTIMES = (
    "var/log/containers",
    "var/lib/docker/containers",
    "var/lib/containers/storage",
    "run/containerd/io.containerd.runtime.v2.task",
)


def names_here() -> str:
    """Names of both as JSON, as a record has them. A watch is about to begin: nothing is imported
    that this machine does not need, and what no name of a user should have is left out."""
    users: dict[str, str] = {}
    try:
        with open("/etc/passwd", encoding="utf-8", errors="replace") as file:
            rows = [line.split(":") for line in file]
    except OSError:
        rows = []
    for name, _, uid, *_ in (row for row in rows if len(row) > 2):
        if uid.isdecimal() and name.replace("-", "").replace("_", "").replace(".", "").isalnum():
            users.setdefault(uid, f'"{uid}": "{name}"')
    return f'{{"users": {{{", ".join(users.values())}}}, "containers": {containers_here()}}}'


def containers_here() -> str:
    """Those that a runtime names. Where none keeps files nothing is imported."""
    if not any(os.path.isdir(f"/{folder}") for folder in RUNTIMES):
        return "[]"
    # pylint: disable=import-outside-toplevel
    import json

    from .containers import named

    return json.dumps([each.document() for each in named().values()])


class Here:
    """Names of this machine for one who runs for long."""

    def __init__(self) -> None:
        self.asked: set[str] = set()
        self.read()

    def read(self) -> None:
        """Have them as they are now."""
        # pylint: disable=import-outside-toplevel
        import json

        from .service import Names

        self.names = Names(json.loads(names_here()))

    def learn(self, paths: Iterable[str]) -> None:
        """Read them again where a control group is of a container that has no name yet, once for
        each: a name that comes later would begin other series."""
        # pylint: disable-next=import-outside-toplevel
        from .paths import container_of

        numbers = set(filter(None, map(container_of, paths)))
        if numbers - self.asked - set(self.names.containers):
            self.read()
        self.asked = numbers
