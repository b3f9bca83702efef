# SPDX-License-Identifier: GPL-2.0
"""One wrong change: which text of which file it replaces, and which tests are to find it."""
from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

STAGES = ("unit", "host", "guest")


class Misplaced(Exception):
    """A row of the table does not fit the tree any more."""


def stage_of(test: str) -> str:
    """The stage of tests/run that makes this test."""
    return next(stage for stage in STAGES if f"tests/{stage}/" in test)


@dataclass(frozen=True)
class Change:
    """A row of the table. A test is a C program of build/tests/unit, or a file of pytest and words: of the tests of
    the file that have all these words in their names the first one is meant. The cheapest test comes first."""
    name: str
    file: str
    text: str
    instead: str
    wrong: str
    found_by: tuple[str, ...]

    def apply(self, tree: Path) -> str:
        """Make the change in a tree; return the file as it was."""
        path = tree / self.file
        before = path.read_text() if path.is_file() else ""
        count = before.count(self.text)
        if count != 1:
            raise Misplaced(f"{self.name}: {self.file} has its text {count} times, not once")
        path.write_text(before.replace(self.text, self.instead))
        return before


def collected(tree: Path, tests: Iterable[str]) -> list[str]:
    """The names by which pytest knows all tests of the short tier of the files that these tests are in."""
    files = sorted({test.split()[0] for test in tests if not is_program(test)})
    if not files:
        return []
    done = subprocess.run([tree / "build/venv/bin/python", "-m", "pytest", "-q", "--collect-only", "-m", "not long", "-p",
                           "no:cacheprovider", *files], cwd=tree, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Misplaced(f"pytest cannot collect: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout.splitlines()


def is_program(test: str) -> bool:
    """Is it a C program?"""
    return test.startswith("build/")


def resolved(test: str, ids: list[str]) -> str:
    """The test as pytest names it; of a C program its path."""
    if is_program(test):
        return test
    file, *words = test.split()
    for each in ids:
        if each.startswith(f"{file}::") and all(word in each for word in words):
            return each
    raise Misplaced(f"no test is {test!r}")
