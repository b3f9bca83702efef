# SPDX-License-Identifier: GPL-2.0
"""Boots one guest for each kernel, a few side by side, and makes all runs of the table in it."""
from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from copyscope import batch
from copyscope.common.programs import TERM_WITH_PARENT
from copyscope.common.tree import GUEST
from copyscope.files.output_folder import OutputFolder

from .cells import ARM64

GUEST_MIB, TIMEOUT_S = 1024, 3600
NICS = 2
# Neighbours in a huge page share one reference: what a message pins is told for small pages.
SMALL_PAGES = "f=/sys/kernel/mm/transparent_hugepage/enabled; [ ! -w $f ] || echo never >$f"
# What each run leaves, by the ending of its name.
LEFT = ("json", "out", "err", "status")

Say = Callable[[str], None]


@dataclass(frozen=True)
class Outcome:
    """What one guest left: a folder of records, or why there is none."""

    kernel: str
    folder: Path
    why: str = ""


Runs = Mapping[str, list[str]]


def script(runs: Runs) -> str:
    """A shell script that makes the runs one after the other, whatever becomes of each."""
    # 1: some runs failed, as their files say.
    return (f"echo up\n{SMALL_PAGES}\nbuild/trace_run --runs /out --pass counted --quiet <<'RUNS'\n"
            f"{batch.lines_of(runs)}RUNS\n[ $? -le 1 ]\n")


def remove_earlier(folder: OutputFolder, names: Iterable[str]) -> None:
    """Remove files of earlier runs: a guest that dies would not overwrite them."""
    for name in names:
        for kind in LEFT:
            folder.remove(f"{name}.{kind}")


def guest_of(kernel: str) -> list[str]:
    """The words of tools/guest for a kernel of KERNELS."""
    release = kernel.removesuffix(ARM64)
    return [str(GUEST), "--kernel", release, *(["--arch", ARM64[1:]] if release != kernel else [])]


def fetch(kernel: str) -> str:
    """Fetch a kernel if it is not here; return why that cannot be, or ""."""
    done = subprocess.run([*guest_of(kernel), "--fetch"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no message"])[-1]


class Running:
    """The guests that run, so that all can be stopped, and none begins after that."""

    def __init__(self) -> None:
        self.guests: list[subprocess.Popen] = []
        self.stopped = False

    def add(self, guest: subprocess.Popen) -> None:
        """Note a guest that was just started."""
        self.guests.append(guest)
        if self.stopped:
            guest.terminate()

    def stop(self) -> None:
        """End them all."""
        self.stopped = True
        for guest in list(self.guests):
            guest.terminate()


def boot(kernel: str, folder: Path, runs: Runs, up: threading.Event,
         step: Say, running: Running) -> Outcome:
    """Make the runs in one guest; `up` is set when another one may start packing its files."""
    command = [*TERM_WITH_PARENT, *guest_of(kernel), "--nics", NICS, "--memory", f"{GUEST_MIB}M",
               "--timeout", TIMEOUT_S, "--out", folder, "--", "sh", "-c", script(runs)]
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as guest:
        running.add(guest)
        said: list[str] = []
        reader = threading.Thread(target=lambda: said.extend(guest.stderr))  # type: ignore
        reader.start()
        try:
            for line in guest.stdout or []:
                if line == "up\n":
                    up.set()
                elif line.startswith("end "):
                    step(f"{kernel} {line.split()[1]}")
        except BaseException:
            guest.terminate()
            raise
        finally:
            up.set()
        status = guest.wait()
        reader.join()
    why = said[-1].strip() if said else "no message"
    return Outcome(kernel, folder, "" if status == 0 else f"the guest ended with {status}: {why}")


def boot_all(missing: Mapping[str, Runs], folder: Path, jobs: int, step: Say) -> list[Outcome]:
    """Make the runs of each kernel in a guest of it, `jobs` guests at a time. A kernel without runs
    needs none."""
    with OutputFolder.at(folder) as place:
        for kernel, runs in missing.items():
            with place.subfolder(kernel) as mine:
                remove_earlier(mine, runs)
    packing, running = threading.Lock(), Running()

    def one(kernel: str) -> Outcome:
        if not missing[kernel]:
            return Outcome(kernel, folder / kernel)
        up = threading.Event()
        # Guests that start together would both pack the same files.
        with packing:
            why = "stopped" if running.stopped else fetch(kernel)
            if why:
                return Outcome(kernel, folder / kernel, why)
            worker = ThreadPoolExecutor(1)
            future = worker.submit(boot, kernel, folder / kernel, missing[kernel], up, step,
                                   running)
            future.add_done_callback(lambda _: up.set())
            up.wait()
        with worker:
            return future.result()

    with ThreadPoolExecutor(jobs) as pool:
        try:
            return list(pool.map(one, missing))
        except BaseException:
            running.stop()
            raise
