# SPDX-License-Identifier: GPL-2.0
"""Runs odd programs under `watch`: `python3 -m odd.suite OUT [--at-a-time N] [PROGRAM...]`.

Each is watched from the middle of its life and from its first call. OUT gets, for each of them,
PROGRAM.WAY.json (the record), .truth, .told (what the watch said) and .status. With --together one
watch in each way has all of them but those by tracepoints, and PROGRAM is "together" in the names of what it leaves.
"""
from __future__ import annotations

import argparse
import functools
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from helpers.windows import WATCH, hits_unseen
from odd.frame import BY_TRACEPOINTS, COMM, LIFE, WHOLE
from odd.programs import PROGRAMS

ATTEMPTS = 5
# Far above what the slowest guest takes for all programs.
TIMEOUT_S, SETTLE_S = 1200, 0.1
# Instead of a program's name: one watch over all of them.
TOGETHER = "together"
SUBJECTS = itertools.count()
# Those that no watch has together with others.
BY_ITSELF = [name for name, each in PROGRAMS.items() if each.words == BY_TRACEPOINTS]
RUNS = [(name, way) for name, each in PROGRAMS.items() for way in each.ways]


class Place:
    """The files of one program, watched in one way."""

    def __init__(self, folder: Path, name: str, way: str, members: Sequence[str] = ()) -> None:
        self.folder, self.stem = folder, str(folder / f"{name}.{way}")
        self.name, self.way, self.members = name, way, members

    def file(self, kind: str) -> Path:
        """One of its files."""
        return Path(f"{self.stem}.{kind}")

    def command(self) -> list[str]:
        """The program, or those that are watched together."""
        words = ["odd.crowd", str(self.folder), self.way, *self.members] if self.name == TOGETHER else \
            ["odd", self.name, str(self.file("truth")), self.way]
        return [sys.executable, "-S", "-m", *words]


def ended(process: subprocess.Popen) -> int:
    """The status of a process, which is killed if it does not end."""
    try:
        return process.wait(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return 124


def whole_life(place: Place, words: tuple[str, ...]) -> None:
    """Watches a program from its first call to its end."""
    with place.file("told").open("w") as told:
        watch = subprocess.Popen([WATCH, *words, "--json", place.file("json"), "--",
                                  *place.command()], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=told)
        place.file("status").write_text(str(ended(watch)))


def mid_life(place: Place, words: tuple[str, ...]) -> None:
    """Watches a program from where it waits to where it has done its thing."""
    # By name: its children of before are not watched, of whose bytes it does not tell. A crowd gives the name itself.
    name = f"odd{os.getpid()}.{next(SUBJECTS)}"
    subject = subprocess.Popen(place.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env=os.environ | {COMM: name})
    try:
        said = subject.stdout.readline().strip()
        if said and said != "done":
            watch_subjects(place, (*words, "--comm", name if said == "ready" else said), [subject])
    finally:
        subject.stdin.close()
        ended(subject)


def watch_subjects(place: Place, words: tuple[str, ...], subjects: Sequence[subprocess.Popen]) -> None:
    """Opens a window, lets programs do their thing, closes the window."""
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


def saw_all(place: Place) -> bool:
    """Did no program of the watch miss a hit, and had the kernel memory for each book? Beside many watches it may have none."""
    try:
        record = json.loads(place.file("json").read_text())
        return not (hits_unseen(record) or record["losses"]["unbooked_sockets"])
    except (OSError, ValueError):
        return True


def watch_until_all_seen(place: Place, files: Sequence[Path], watch_once: Callable[[], None]) -> int:
    """Watches, which leaves these files; again if the kernel ran no program for some hits, or gave no memory, as it says
    (docs/METHOD.md).
    Returns how often it watched."""
    attempt = 0
    while True:
        attempt += 1
        for file in files:
            file.unlink(missing_ok=True)
        watch_once()
        if saw_all(place) or attempt == ATTEMPTS:
            return attempt


def stop_none_inside_a_program() -> None:
    """Where the kernel preempts itself (the guest says so): goes on under SCHED_FIFO, as trace_run does, so that no task
    stops another inside a program of ours (docs/METHOD.md). What this process starts does, too."""
    if "COPYSCOPE_FIFO" in os.environ:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def run_one(folder: Path, name: str, way: str, members: Sequence[str] = ()) -> None:
    """Watches one program, or its members together."""
    place = Place(folder, name, way, members)
    began = time.monotonic()
    words = () if name == TOGETHER else PROGRAMS[name].words
    attempts = watch_until_all_seen(place, [place.file(kind) for kind in ("json", "truth", "told", "status")],
                         functools.partial(whole_life if way == WHOLE else mid_life, place, words))
    print(f"{name}.{way}: {time.monotonic() - began:.1f} s, attempt {attempts}", flush=True)


def run_all(folder: Path, names: list[str], at_a_time: int) -> None:
    """Watches all of these, a few at a time."""
    due = [run for run in RUNS if not names or run[0] in names]
    for width, alone in ((1, True), (at_a_time, False)):
        with ThreadPoolExecutor(width) as pool:
            for each in [pool.submit(run_one, folder, name, way) for name, way in due
                         if PROGRAMS[name].alone == alone]:
                each.result()


def main() -> None:
    """Does what its command line says."""
    parser = argparse.ArgumentParser("odd.suite", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", metavar="PROGRAM", help="default: all")
    parser.add_argument("--together", action="store_true", help="one watch over them, in each way")
    parser.add_argument("--ways", type=lambda text: text.split(","), default=[LIFE, WHOLE],
                        help=f"of one watch over them; default: {LIFE},{WHOLE}")
    parser.add_argument("--at-a-time", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    stop_none_inside_a_program()
    if options.together:
        together = [name for name in options.names or PROGRAMS if name not in BY_ITSELF]
        for way in options.ways:
            for name in set(options.names).intersection(BY_ITSELF):
                run_one(options.out, name, way)
            if together:
                run_one(options.out, TOGETHER, way, together)
    else:
        run_all(options.out, options.names, options.at_a_time)


if __name__ == "__main__":
    main()
