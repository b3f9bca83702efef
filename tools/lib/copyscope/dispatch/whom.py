# SPDX-License-Identifier: GPL-2.0
"""Whom a watch is about: names of units, containers and programs as the control groups they are."""
from __future__ import annotations

import sys
from fnmatch import fnmatchcase

from copyscope.cli import own_words
from copyscope.common.errors import Unusable, escaped
from copyscope.services.containers import Container, named
from copyscope.services.groups import paths
from copyscope.services.paths import container_of, unit_of

from .straight import bare_words

UNIT, CONTAINER, EXCLUDE = "--unit", "--container", "--exclude"
# Fewer letters of an id are a name.
ID_LEAST = 6


def of_unit(name: str, groups: list[str]) -> list[str]:
    """Folders of units with that name; nginx is nginx.service."""
    wanted = name if name.endswith((".service", ".scope")) else f"{name}.service"
    folders = ((path, path.rpartition("/")[2]) for path in groups)
    return [path for path, folder in folders
            if fnmatchcase(folder, wanted) and unit_of(path) == folder]


def is_called(number: str, name: str, known: dict[str, Container]) -> bool:
    """Whether a container has that name, or its id does or begins so."""
    return (len(name) >= ID_LEAST and number.startswith(name)) or fnmatchcase(number, name) or \
        (number in known and any(fnmatchcase(each, name) for each in known[number].names))


def of_container(name: str, groups: list[str]) -> list[str]:
    """Folders of containers with that name; what lies below one is in it."""
    ids = {path: container_of(path) for path in groups}
    known = named() if any(ids.values()) else {}
    return [path for path, number in ids.items()
            if number and number in path.rpartition("/")[2] and is_called(number, name, known)]


class Groups:
    """The control groups of this machine, looked for once."""

    def __init__(self) -> None:
        self.found: list[str] | None = None

    def all(self) -> list[str]:
        """Their paths."""
        if self.found is None:
            self.found = sorted(paths().values())
        return self.found

    def of(self, kind: str, name: str) -> list[str]:
        """Those of a unit or a container, at least one."""
        found = (of_unit if kind == UNIT else of_container)(name, self.all())
        if not found:
            raise Unusable(f"no {kind.strip('-')} that runs is called {escaped(name)}")
        return found

    def of_word(self, name: str) -> list[str]:
        """Options for whatever is called so: a unit, else a container, else programs."""
        unit, container = of_unit(name, self.all()), of_container(name, self.all())
        found = unit or container
        if not found:
            return ["--comm", name]
        kind = "unit" if unit else "container"
        print(f"copyscope watch: {escaped(name)} is the {kind} {', '.join(map(escaped, found))}",
              file=sys.stderr)
        return [word for path in found for word in ("--cgroup", path)]


def excluded(value: str, groups: Groups) -> list[str]:
    """What an --exclude leaves out."""
    kind, parted, name = value.partition("=")
    if not parted or f"--{kind}" not in (UNIT, CONTAINER):
        return [EXCLUDE, value]
    return [word for path in groups.of(f"--{kind}", name) for word in (EXCLUDE, f"cgroup={path}")]


def told(words: list[str]) -> list[str]:
    """The words of a watch as its program takes them."""
    own = own_words(words)
    bare, said, at, groups = set(bare_words(own)), [], 0, Groups()
    while at < len(own):
        option, given, value = own[at].partition("=")
        if at in bare:
            said += groups.of_word(own[at])
        elif option in (UNIT, CONTAINER, EXCLUDE) and (given or at + 1 < len(own)):
            at += not given
            value = value if given else own[at]
            said += excluded(value, groups) if option == EXCLUDE else \
                [word for path in groups.of(option, value) for word in ("--cgroup", path)]
        else:
            said.append(own[at])
        at += 1
    return [*said, *words[len(own):]]
