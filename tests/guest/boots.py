# SPDX-License-Identifier: GPL-2.0
"""Boots the guests of both kernels side by side and reads what they leave."""
from __future__ import annotations

import functools
import subprocess
from dataclasses import dataclass
from pathlib import Path

from helpers import records

GUEST = records.ROOT / "tools" / "guest"
RELEASES = ("6.1", "6.12")
# Far above what any boot here takes with both on two processors.
TIMEOUT_S = 500


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

    @functools.lru_cache(maxsize=None)
    def record(self, run: str) -> dict:
        """The run's record, checked against the schema."""
        assert self.has_record(run), f"{run} left no record: {self.errors(run)}"
        return records.load(self.folder / f"{run}.json")


def start(release: str, out: Path, command: list, options: list) -> subprocess.Popen:
    """Start one guest and wait until its command, which says so first, is up. Were both started
    at once, both would pack the same files."""
    guest = subprocess.Popen(
        [str(word) for word in (GUEST, "--kernel", release, "--timeout", TIMEOUT_S,
                                "--out", out, *options, "--", *command)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first = guest.stdout.readline()
    if first != "up\n":
        raise AssertionError(f"guest {release} did not come up: {first}{guest.communicate()[1]}")
    return guest


def boot_all(folder: Path, command: list, options: list = ()) -> dict[str, Outcome]:
    """Run the command in the guests of all kernels at the same time."""
    guests: dict[str, subprocess.Popen] = {}
    try:
        for release in RELEASES:
            guests[release] = start(release, folder / release, command, list(options))
        for release, guest in guests.items():
            said = guest.communicate(timeout=TIMEOUT_S + 60)[1]
            assert guest.returncode == 0, f"guest {release} ended with {guest.returncode}: {said}"
    finally:
        for guest in guests.values():
            guest.terminate()
            guest.wait()
    return {release: Outcome(release, folder / release) for release in guests}


def run_lines(folder: Path, runs: dict[str, str], scripts: list[str] = (),
              options: list = ()) -> dict[str, Outcome]:
    """Make the named runs of trace_run in each guest, one after the other; see matrix.sh."""
    folder.mkdir(parents=True, exist_ok=True)
    listing = folder / "runs"
    listing.write_text("".join(f"{name} {words}\n" for name, words in runs.items()))
    return boot_all(folder, ["tests/guest/matrix.sh", listing, *scripts],
                    [*options, "--add", listing])
