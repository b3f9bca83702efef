# SPDX-License-Identifier: GPL-2.0
"""Runs random programs under watches: `python3 -m fuzz.suite OUT DRAWS`, or run_all().

OUT gets NAME.json (the record), NAME.told, NAME.status of each watch, and SEED.truth of each program.
"""
from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzz.draw import LAST, WHOLE, Draw, read
from helpers.windows import ROOT, WATCH
from odd.suite import ATTEMPTS, SETTLE_S, Place, ended, saw_all, whole_life

PROGRAM = ROOT / "build/tests/fuzz/random_tcp"


class Watched(Place):
    """The files of one watch over random programs, and their commands."""

    def __init__(self, folder: Path, drawn: Draw) -> None:
        super().__init__(folder, drawn.name, "")
        self.stem, self.drawn = str(folder / drawn.name), drawn

    def truth(self, seed: int) -> Path:
        """What a program says of itself."""
        return self.folder / f"{self.drawn.way}-{seed}.truth"

    def programs(self) -> list[list[str]]:
        """The command of each program."""
        way = "whole" if self.drawn.way == WHOLE else "life"
        ends = () if way == "life" and self.drawn.way != LAST else ("ends=1",)
        return [[str(PROGRAM), str(seed), str(self.truth(seed)), way, *words, *ends]
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
            watch_subjects(place, subjects)
    finally:
        for each in subjects:
            each.stdin.close()
            ended(each)


def watch_subjects(place: Watched, subjects: list[subprocess.Popen]) -> None:
    """Opens a window, lets programs do their thing, closes the window."""
    words = (*place.drawn.options, "-p", ",".join(str(each.pid) for each in subjects))
    with place.file("told").open("w") as told:
        watch = subprocess.Popen([WATCH, *words, "--json", place.file("json")], stdin=subprocess.DEVNULL, stdout=told,
                                 stderr=subprocess.PIPE, text=True)
        # It says so on stderr once the window is open.
        opened = watch.stderr.readline()
        if "open" in opened:
            for each in subjects:
                print(file=each.stdin, flush=True)
            for each in subjects:
                # "done", or nothing if it ends then.
                each.stdout.readline()
            time.sleep(SETTLE_S)
            # SIGINT may be ignored, as in the background of a shell.
            watch.terminate()
        told.write(opened + watch.stderr.read())
        place.file("status").write_text(str(ended(watch)))


def run_one(folder: Path, drawn: Draw) -> Draw:
    """Runs one watch; again if the kernel ran no program for some hits, as it says (docs/WATCH.md)."""
    place = Watched(folder, drawn)
    for _ in range(ATTEMPTS):
        for file in (*map(place.file, ("json", "told", "status")), *map(place.truth, drawn.programs)):
            file.unlink(missing_ok=True)
        if drawn.way == WHOLE:
            whole_life(place, drawn.options)
        else:
            mid_life(place)
        if saw_all(place):
            break
    return drawn


def run_all(folder: Path, drawn: list[Draw], at_a_time: int = 1):
    """Runs watches, a few at a time; gives each when it has ended."""
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(at_a_time) as pool:
        yield from pool.map(lambda each: run_one(folder, each), drawn)


if __name__ == "__main__":
    for _ in run_all(Path(sys.argv[1]), read(Path(sys.argv[2]))):
        pass
