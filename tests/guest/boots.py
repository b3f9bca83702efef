# SPDX-License-Identifier: GPL-2.0
"""Boots the guests of several kernels, a few at a time, and reads what they leave."""
from __future__ import annotations

import functools
import os
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from helpers import records
from helpers.names import KERNELS

GUEST = records.ROOT / "tools" / "guest"
# Every kernel, and the two for claims that hardly differ between kernels or take too many runs.
ALL = KERNELS
RELEASES = ("6.1", "6.12")
# The oldest and the newest, for claims of which test_matrix.py has one like it on every kernel.
EDGES = (ALL[0], ALL[-1])
# tests/run, which has other guests run beside, says how many of a file's may run at a time.
AT_A_TIME = int(os.environ.get("TEST_GUESTS", 0)) or os.cpu_count() or 1
# Far above what any boot here takes with two on each of two processors.
TIMEOUT_S = 1800
# Were two started at once, both would pack the same files.
STARTING = threading.Lock()


@dataclass(frozen=True)
class Outcome:
    """What the guest of one kernel left in /out."""
    release: str
    folder: Path

    def text(self, name: str) -> str:
        """A file as text."""
        return (self.folder / name).read_text()

    def status(self, run: str) -> int:
        """Exit status of a run of trace_run."""
        return int(self.text(f"{run}.status"))

    def errors(self, run: str) -> str:
        """What the run said on stderr."""
        return self.text(f"{run}.err")

    def has_record(self, run: str) -> bool:
        """Did the run leave a record?"""
        return (self.folder / f"{run}.json").exists()

    @functools.cache  # noqa: B019  it lives as long as the tests
    def record(self, run: str) -> dict:
        """The run's record, checked against the schema."""
        assert self.has_record(run), f"{run} left no record: {self.errors(run)}"
        return records.load(self.folder / f"{run}.json")


def start(release: str, out: Path, command: list, options: list) -> subprocess.Popen:
    """Start one guest and wait until its command, which says so first, is up."""
    with STARTING:
        guest = subprocess.Popen(
            [str(word) for word in (GUEST, "--kernel", release, "--timeout", TIMEOUT_S,
                                    "--out", out, *options, "--", *command)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = guest.stdout.readline()
    if first != "up\n":
        raise AssertionError(f"guest {release} did not come up: {first}{guest.communicate()[1]}")
    return guest


def boot(release: str, out: Path, command: list, options: list = ()) -> Outcome:
    """Run the command in the guest of one kernel to its end; no guest outlives this."""
    guest = start(release, out, command, options)
    try:
        said = guest.communicate(timeout=TIMEOUT_S + 60)[1]
        assert guest.returncode == 0, f"guest {release} ended with {guest.returncode}: {said}"
    finally:
        guest.terminate()
        guest.wait()
    return Outcome(release, out)


class Guests(Mapping):
    """What the guests of a file left, by name, each booted once. One that died is one failure: the first test
    that asks for it fails, the others are skipped."""

    def __init__(self, names: Iterable[str], make: Callable[[str], object]) -> None:
        self.names, self.make = tuple(names), make
        self.made: dict[str, object] = {}
        self.told: set[str] = set()

    def boot(self, name: str) -> None:
        """Boot one, if that was not done before."""
        if name in self.made:
            return
        try:
            self.made[name] = self.make(name)
        except AssertionError as died:
            self.made[name] = died

    def boot_all(self) -> Guests:
        """Boot all, a few at a time: a guest keeps one processor busy."""
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            list(pool.map(self.boot, self.names))
        return self

    def __getitem__(self, name: str):
        if name not in self.names:
            raise KeyError(name)
        self.boot(name)
        left = self.made[name]
        if not isinstance(left, AssertionError):
            return left
        if name in self.told:
            pytest.skip(f"the guest {name} died: the first test that asked for it says how")
        self.told.add(name)
        raise left

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class Asked:
    """The runs that the chosen tests of a file ask of its guests, so that -k boots and runs nothing else. A test
    that where_made() gave no run asks for all of its guest; one that has no guest of its own, for all of all."""

    def __init__(self, request: pytest.FixtureRequest, fixture: str = "outcome") -> None:
        """The request of the fixture that boots; the tests' guests are parameters of `fixture`."""
        self.pairs = set()
        for item in request.session.items:
            if item.module is request.module and request.fixturename in item.fixturenames:
                guest = item.callspec.params.get(fixture) if hasattr(item, "callspec") else None
                runs = [run for mark in item.iter_markers("made_by") for run in mark.args]
                self.pairs.update((guest, run) for run in runs or [None])

    def __call__(self, guest: str, run: str | None = None) -> bool:
        """Is the run asked of that guest; without one, is anything?"""
        return any(asked in (guest, None) and (run is None or made in (run, None)) for asked, made in self.pairs)


def hooks_of(words: str) -> tuple[bool, bool, bool, str, bool, bool, str]:
    """What a run of trace_run needs hooks for: the programs, which runs that need the same, one after the other, have
    loaded once, then what is left off of them."""
    before, _, fault = words.partition("--break ")
    fault = fault.split(" ")[0]
    # Of these alone programs know that they are left off.
    loaded = "" if fault.startswith("detach:") and fault != "detach:late_copy" else fault
    # Nothing tells then that a sender's pages are free again: programs are loaded anew for the run behind.
    ends_held = fault == "detach:completions"
    return ("--backend" in before, before.startswith("udp"), before.startswith("ktls"), loaded,
            "--path nic" in before or "--path forward" in before, ends_held, fault)


def by_hooks(runs: dict[str, str]) -> dict[str, str]:
    """The runs, those that need the same hooks one after the other."""
    return dict(sorted(runs.items(), key=lambda each: hooks_of(each[1])))


def run_lines(folder: Path, runs: dict[str, str], options: list = (), releases: tuple = RELEASES,
              makes: Callable[[str, str], bool] = lambda release, run: True,
              script: Callable[[str], str] = lambda release: "tests/guest/matrix.sh $runs",
              asked: Callable[..., bool] = lambda release, run=None: True) -> Guests:
    """Have a kernel's script make the named runs of trace_run in each guest that makes them, as far as they are
    asked for, in the order of by_hooks(); see matrix.sh."""
    def run(release: str) -> Outcome:
        listing, file = folder / f"{release}.runs", folder / f"{release}.script"
        mine = {name: words for name, words in runs.items() if makes(release, name) and asked(release, name)}
        listing.write_text("".join(f"{name} {words}\n" for name, words in by_hooks(mine).items()))
        file.write_text(f"runs={listing}\n{script(release)}\n")
        return boot(release, folder / release, ["bash", file],
                    [*options, "--add", listing, "--add", file])

    return Guests(filter(asked, releases), run).boot_all()


def dealt(runs: Iterable[str], releases: tuple[str, ...] = ALL, hands: int = 1,
          first: int = 0) -> dict[str, tuple[str, ...]]:
    """The rule by which kernels take turns: which of them make each run. A law holds on every kernel, and
    `tools/matrix` asks each of them in each cell; a run of the tests deals out what it has, as cards are: the
    first run to the first kernel, the second to the second, and round again. A run that gets two hands goes
    to the kernel half way round, too: of four, each second one, so that one of them has what came with 6.18
    and the other has not. What is not the same on all kernels is dealt to both sides, or to all."""
    return {run: tuple(releases[(first + place + hand * len(releases) // hands) % len(releases)]
                       for hand in range(hands)) for place, run in enumerate(runs)}


class Maker:
    """Tells if a kernel makes a run, and if it is of the short tier or waits for the long one."""

    def __init__(self, made: Mapping[str, tuple[str, ...]], soon: Mapping[str, tuple[str, ...]] | None = None) -> None:
        """Kernels of each run; those of the short tier, where they are not all of them."""
        self.made, self.soon = made, made | (soon or {})

    def __call__(self, release: str, run: str) -> bool:
        return release in self.made[run]

    def marks(self, release: str, run: str) -> tuple[pytest.MarkDecorator, ...]:
        """The marks of a test that asks for the run on that kernel."""
        waits = () if release in self.soon[run] else (pytest.mark.long,)
        return (pytest.mark.made_by(run), *waits)


def where_made(name: str, releases: Iterable[str], values: Iterable[str], makes: Maker,
               fixture: str = "outcome", run: Callable[[str], str] = "{}".format) -> pytest.MarkDecorator:
    """Parametrize a test by kernel (a fixture) and value, of which `run` tells the run, where that kernel makes
    it."""
    values = list(values)
    return pytest.mark.parametrize(
        f"{fixture}, {name}", [pytest.param(release, value, marks=makes.marks(release, run(value)))
                               for release in releases for value in values if makes(release, run(value))],
        indirect=[fixture])


def where_run(makes: Maker) -> Callable[..., pytest.MarkDecorator]:
    """The same for tests on all kernels."""
    def on_kernels(name: str, values: Iterable[str],
                   run: Callable[[str], str] = "{}".format) -> pytest.MarkDecorator:
        return where_made(name, ALL, values, makes, run=run)
    return on_kernels
