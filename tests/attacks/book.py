# SPDX-License-Identifier: GPL-2.0
"""Keeps what a campaign has done, so that one killed at any moment goes on where it was."""
from __future__ import annotations

import fcntl
import json
import os
import platform
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attacks.attack import Attack, Result
from helpers.records import ROOT

SCHEMA = "copyscope.campaign/1"
# Kept with all they said; of more, the number alone.
FAILURES_KEPT = 200
# End a campaign on request.
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ATTACKED = ("Makefile", "bpf", "studies", "tools", "userspace", "vmlinux")


def git(*words: str) -> str:
    """What git says of this tree; nothing if it is no repository."""
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True,
                          check=False).stdout.strip()


def commit() -> str:
    """The last commit that changed what is attacked; "-dirty" after it if files of it differ."""
    changed = git("status", "--porcelain", "--untracked-files=no", "--", *ATTACKED)
    return (git("log", "-1", "--format=%h", "--", *ATTACKED) or "unknown") + \
        ("-dirty" if changed else "")


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A signal that ends the campaign waits until what is in memory is in the file, too."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def now() -> str:
    """This moment, for a person."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Book:
    """campaign.json of one folder: seed, and for each attack the next case and the sums."""

    def __init__(self, folder: Path, seed: int | None) -> None:
        self.folder, self.file = folder, folder / "campaign.json"
        folder.mkdir(parents=True, exist_ok=True)
        self.lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"campaign: another campaign is at work in {folder}; choose another "
                             "--out") from None
        if self.file.exists():
            self.data = json.loads(self.file.read_text(encoding="utf-8"))
        else:
            self.data = {"schema": SCHEMA, "seed": 1 if seed is None else seed, "begun": now(),
                         "attacks": {}}
        if self.data.get("schema") != SCHEMA:
            raise SystemExit(f"campaign: {self.file} is no campaign; choose another --out")
        if seed not in (None, self.data["seed"]):
            raise SystemExit(f"campaign: {self.file} was begun with --seed {self.data['seed']}; "
                             "leave --seed out or choose another --out")

    @property
    def seed(self) -> int:
        """The one number that everything is generated from."""
        return self.data["seed"]

    def of(self, attack: Attack) -> dict:
        """The entry of one attack."""
        entry = self.data["attacks"].setdefault(attack.name, {
            "cases": 0, "counted": 0, "seconds": 0.0, "skipped": 0, "skipped_why": None,
            "failed": 0, "failures": [], "commits": {}})
        entry.update(claim=attack.claim, unit=attack.unit, goal=attack.goal)
        return entry

    def is_done(self, attack: Attack) -> bool:
        """Has the attack counted what it is to count?"""
        return self.of(attack)["counted"] >= attack.goal

    @uninterrupted()
    def add(self, attack: Attack, results: list[Result], seconds: float, left: str | None,
            command: str) -> None:
        """Enter one batch and write the file: a batch counts whole or not at all."""
        entry, made = self.of(attack), commit()
        counted = sum(each.counted for each in results)
        entry["cases"] += len(results)
        entry["counted"] += counted
        entry["seconds"] = round(entry["seconds"] + seconds, 3)
        share = entry["commits"].setdefault(made, {"cases": 0, "counted": 0})
        share["cases"] += len(results)
        share["counted"] += counted
        for each in results:
            if each.skipped:
                entry["skipped"] += 1
                entry["skipped_why"] = each.skipped
        told = [(f"{command} --case {each.number}", each.broken) for each in results if each.broken]
        if left:
            first, last = results[0].number, results[-1].number
            told.append((f"{command} --case {first}..{last}", f"left on the machine: {left}"))
        for how, what in told:
            entry["failed"] += 1
            if len(entry["failures"]) < FAILURES_KEPT:
                entry["failures"].append({"commit": made, "repeat": how, "said": what})
        self.write()

    @uninterrupted()
    def add_again(self, repeat: str, held: bool) -> dict | None:
        """Enter that a kept failure was repeated by itself; the failure, or None if there is none."""
        kept = next((each for entry in self.data["attacks"].values() for each in entry["failures"]
                     if each["repeat"] == repeat), None)
        if kept is None:
            return None
        made, again = commit(), kept.setdefault("again", {})
        # The last key is the last commit that it was repeated on.
        again[made] = again.pop(made, {"held": 0, "failed": 0})
        again[made]["held" if held else "failed"] += 1
        self.write()
        return kept

    def close(self) -> None:
        """Let another campaign in."""
        os.close(self.lock)

    def write(self) -> None:
        """Write the file whole or not at all."""
        self.data.update(updated=now(), kernel=platform.release(), cpus=os.cpu_count())
        aside = self.file.with_suffix(".part")
        aside.write_text(json.dumps(self.data, indent=1) + "\n", encoding="utf-8")
        os.replace(aside, self.file)
