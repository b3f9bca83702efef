# SPDX-License-Identifier: GPL-2.0
"""Makes the runs of the table, in guests of each kernel or with another host."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from copyscope.files.output_folder import OutputFolder
from copyscope.records.passes import COUNTED
from copyscope.runs import guests, launch
from copyscope.runs.guests import Absent, Ended, Told
from copyscope.runs.launch import HOST, Run

from .cells import ARM64

NICS = 2
# Neighbours in a huge page share one reference: what a message pins is told for small pages.
SMALL_PAGES = "f=/sys/kernel/mm/transparent_hugepage/enabled; [ ! -w $f ] || echo never >$f"
# What each run leaves, by the ending of its name.
LEFT = ("json", "err", "status")

# By name the words of each.
Runs = Mapping[str, list[str]]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Outcome:
    """What the runs on one kernel left: a folder of records, or why not all are there."""

    kernel: str
    folder: Path
    why: str = ""


def remove_earlier(folder: OutputFolder, names: Iterable[str]) -> None:
    """Remove files of earlier runs: a guest that dies would not overwrite them."""
    for name in names:
        for kind in LEFT:
            folder.remove(f"{name}.{kind}")


def keep(folder: OutputFolder, name: str, status: int, said: str) -> None:
    """Keep how a run ended."""
    folder.write(f"{name}.err", said)
    folder.write(f"{name}.status", f"{status}\n")


def guest_of(kernel: str) -> list[str]:
    """The words of tools/guest for a kernel of KERNELS."""
    release = kernel.removesuffix(ARM64)
    return ["--kernel", release, *(["--arch", ARM64[1:]] if release != kernel else [])]


def kind_of(kernel: str, runs: Runs) -> guests.Kind:
    """What guests of a kernel are to do."""
    words = {name: launch.command_in_guest(Run(name, tuple(arguments)), 0, COUNTED)
             for name, arguments in runs.items()}
    return guests.Kind([*guest_of(kernel), "--nics", str(NICS)], words, SMALL_PAGES)


def in_guests(missing: Mapping[str, Runs], folder: Path, jobs: int, step: Say) -> list[Outcome]:
    """Make the runs of each kernel in guests of it, `jobs` guests at a time."""
    kinds = {kernel: kind_of(kernel, runs) for kernel, runs in missing.items()}
    whys: dict[str, str] = {}
    with OutputFolder.at(folder) as place, ExitStack() as held:
        places = {kernel: held.enter_context(place.subfolder(kernel)) for kernel in missing}
        for kernel, runs in missing.items():
            remove_earlier(places[kernel], runs)
        told = held.enter_context(closing(guests.make(kinds, launch.GUEST_PATIENCE_S, jobs)))
        for kernel, each in told:
            if isinstance(each, Ended):
                if each.record:
                    places[kernel].write(f"{each.name}.json", each.record)
                keep(places[kernel], each.name, each.status, each.said)
                step(f"{kernel} {each.name}")
                if each.lost:
                    whys[kernel] = f"a guest ended: {launch.last_line(each.said)}"
            elif isinstance(each, Told | Absent):
                whys[kernel] = each.line if isinstance(each, Told) else str(each.error)
    return [Outcome(kernel, folder / kernel, whys.get(kernel, "")) for kernel in missing]


def between_hosts(runs: Runs, folder: Path, step: Say) -> Outcome:
    """Make the runs with another host, each with its files as those of guests. Raise what every
    other run would meet, too: the host is not there, or has another build."""
    with OutputFolder.at(folder) as place, place.subfolder(HOST) as mine:
        remove_earlier(mine, runs)
        for name, arguments in runs.items():
            done = launch.make(Run(name, tuple(arguments)), folder / HOST / f"{name}.json", 0,
                               HOST, COUNTED)
            keep(mine, name, done.status, done.stderr)
            step(name)
    return Outcome(HOST, folder / HOST)
