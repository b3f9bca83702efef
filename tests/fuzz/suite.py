# SPDX-License-Identifier: GPL-2.0
"""Runs random programs under watches: `python3 -m fuzz.suite OUT DRAWS`, or run_all().

OUT gets NAME.json (the record), NAME.told, NAME.status of each watch, and SEED.truth of each program.
"""
from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzz.draw import WHOLE, Draw, read
from helpers.windows import ROOT
from odd.frame import LIFE
from odd.suite import (
    Place,
    ended,
    stop_none_inside_a_program,
    watch_subjects,
    watch_until_all_seen,
    whole_life,
)


class Watched(Place):
    """The files of one watch over random programs, and their commands."""

    def __init__(self, folder: Path, drawn: Draw) -> None:
        super().__init__(folder, drawn.name, "")
        self.stem, self.drawn = str(folder / drawn.name), drawn

    def truth(self, seed: int) -> Path:
        """What a program says of itself."""
        return self.folder / f"{self.drawn.protocol}-{self.drawn.way}-{seed}.truth"

    def programs(self) -> list[list[str]]:
        """The command of each program."""
        program = ROOT / f"build/tests/fuzz/random_{self.drawn.protocol}"
        way = WHOLE if self.drawn.way == WHOLE else LIFE
        ends = () if self.drawn.way == LIFE else ("ends=1",)
        return [[str(program), str(seed), str(self.truth(seed)), way, *words, *ends]
                for seed, words in self.drawn.programs.items()]

    def command(self) -> list[str]:
        """One program, or a shell that runs them side by side: they wait for most of their time."""
        commands = self.programs()
        return commands[0] if len(commands) == 1 else [
            "sh", "-c", "".join(f"{' '.join(each)} &\n" for each in commands) + "wait"]


def mid_life(place: Watched) -> None:
    """Watches programs from where they wait to where they have done their thing, or have ended."""
    subjects = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                for command in place.programs()]
    try:
        if all(each.stdout.readline() == "ready\n" for each in subjects):
            words = (*place.drawn.options, "-p", ",".join(str(each.pid) for each in subjects))
            watch_subjects(place, words, subjects)
    finally:
        for each in subjects:
            each.stdin.close()
            ended(each)


def run_one(folder: Path, drawn: Draw) -> Draw:
    """Runs one watch."""
    place = Watched(folder, drawn)

    def watch_once() -> None:
        if drawn.way == WHOLE:
            whole_life(place, drawn.options)
        else:
            mid_life(place)
    watch_until_all_seen(place, [*map(place.file, ("json", "told", "status")), *map(place.truth, drawn.programs)], watch_once)
    return drawn


def run_all(folder: Path, drawn: list[Draw], at_a_time: int = 1):
    """Runs watches, a few at a time; gives each when it has ended."""
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(at_a_time) as pool:
        yield from pool.map(lambda each: run_one(folder, each), drawn)


if __name__ == "__main__":
    stop_none_inside_a_program()
    for _ in run_all(Path(sys.argv[1]), read(Path(sys.argv[2]))):
        pass
