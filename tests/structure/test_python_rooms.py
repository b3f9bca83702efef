# SPDX-License-Identifier: GPL-2.0
"""The Python packages keep to the second table of docs/ARCHITECTURE.md: no import points up."""
from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Each package and the folder that it lies in. What every user runs imports nothing of the studies.
LIBS = {"copyscope": ROOT / "tools" / "lib", "copyscope_studies": ROOT / "studies" / "lib"}
PAGE = (ROOT / "docs/ARCHITECTURE.md").read_text().partition("\n## Python\n")[2]
ROW = re.compile(r"^\| `(copyscope[\w.]*)` \| [^|]+ \|([^|]*)\|$", re.MULTILINE)
# In the order of the page: a room may import rooms further up on it alone.
ALLOWED = {room: re.findall(r"`([\w.]+)`", below) for room, below in ROW.findall(PAGE)}
# Not counting __init__.py. Rows of one table may be as many as they like; there are none yet.
SHARED = {f"copyscope.{each}" for each in ("common", "cli", "files", "records", "report", "runs", "drawing", "pictures",
                                              "metrics", "model", "reader", "services")} | {"copyscope_studies.ways"}


def room_of(file: Path) -> str:
    """The package that a file lies in; one directly below copyscope is a room by itself."""
    package = file.relative_to(next(lib for lib in LIBS.values() if lib in file.parents)).parent.parts
    return ".".join(package if len(package) > 1 or file.stem == "__init__" else (*package, file.stem))


FILES = sorted(file for name, lib in LIBS.items() for file in (lib / name).rglob("*.py"))
ROOMS = sorted({room_of(file) for file in FILES} - set(LIBS))


def room_of_name(name: str) -> str:
    """The room that a dotted name is, or lies in."""
    while name not in {*LIBS, *ROOMS}:
        name = name.rpartition(".")[0]
    return name


def imported(file: Path) -> set[str]:
    """The other rooms that a file imports from, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = room_of(file).split(".")[:None if node.level < 2 else 1 - node.level]
            base = ".".join([*above * (node.level > 0), *([node.module] if node.module else [])])
            names = [f"{base}.{each.name}" for each in node.names]
        else:
            continue
        found |= {room_of_name(each) for each in names if each.split(".")[0] in LIBS}
    return found - {room_of(file)}


def test_the_page_tells_of_every_package():
    assert set(ALLOWED) == set(ROOMS)


def test_a_package_imports_what_the_page_allows():
    found: dict[str, set[str]] = {room: set() for room in ROOMS}
    for file in FILES:
        found.setdefault(room_of(file), set()).update(imported(file))
    assert {room: found[room] for room in ROOMS} == {room: set(ALLOWED[room]) for room in ROOMS}


def test_no_import_points_up_the_page_so_there_is_no_circle():
    order = {room: place for place, room in enumerate(ALLOWED)}
    assert not [f"{room} -> {below}" for room in ROOMS for below in ALLOWED[room]
                if order[below] >= order[room]]


def test_no_command_imports_another_commands_package():
    for room in set(ROOMS) - SHARED:
        command = ".".join(room.split(".")[:2])
        assert {below for below in ALLOWED[room] if not below.startswith(command)} <= SHARED, room


def test_what_every_user_runs_imports_nothing_of_the_studies():
    assert not {file: rooms for file in FILES if room_of(file).split(".")[0] == "copyscope"
                if (rooms := {each for each in imported(file) if each.startswith("copyscope_studies")})}


def test_shared_packages_know_no_command():
    assert not {room: set(ALLOWED[room]) - SHARED for room in SHARED if not set(ALLOWED[room]) <= SHARED}


def test_every_command_has_its_package():
    started = {room for file in (ROOT / "tools").iterdir()
               if file.is_file() and "lib" in file.read_text() and file.name not in ("install_tree", "make_tables", "python.mk", "setup")
               for room in re.findall(r"copyscope(?:_studies)?\.\w+", file.read_text())}
    assert started == {".".join(room.split(".")[:2]) for room in set(ROOMS) - SHARED}


def test_what_is_not_seen_would_be_found(tmp_path):
    file = LIBS["copyscope"] / "copyscope" / "guest" / "machine.py"
    assert "copyscope.records" in imported(file)
    assert room_of_name("copyscope.common.errors.Refused") == "copyscope.common"
