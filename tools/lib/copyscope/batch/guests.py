# SPDX-License-Identifier: GPL-2.0
"""Boots guests side by side, each for many runs, and hands on each run as soon as it has ended."""
from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence

from copyscope.common.errors import CommandError, Refused, Unusable
from copyscope.common.pdeathsig import kill_with_parent
from copyscope.common.tree import GUEST, ROOT

from .reply import Begun, Damaged, Ended, Reader, Told
from .script import script

GUEST_MIB = 1024
# A boot is worth that many runs; a script has to be one word of a command line.
FEWEST_RUNS, MOST_RUNS = 4, 64
LOOK_S = 1.0
# What tools/guest --timeout takes.
MOST_S = 10**6
STATUS_USAGE, STATUS_REFUSED, STATUS_TIME = 2, 3, 124
Runs = dict[str, Sequence[str]]


class Guest:
    """One guest, and the runs that it has not brought home yet."""

    def __init__(self, options: Sequence[str], runs: Runs, patience_s: float) -> None:
        self.left, self.patience_s = dict(runs), patience_s
        self.doing, self.brought, self.up, self.over = "", 0, False, False
        self.killed_for = ""
        self.reply, self.heard_at = Reader(), time.monotonic()
        self.complaints = tempfile.TemporaryFile()
        limit_s = min(MOST_S, int(patience_s * (len(runs) + 1)))
        command = [GUEST, *options, "--memory", f"{GUEST_MIB}M", "--timeout", limit_s,
                   "--", "sh", "-c", script(runs)]
        self.process = subprocess.Popen(
            [str(word) for word in command], cwd=ROOT, env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.complaints,
            preexec_fn=kill_with_parent())

    @property
    def output(self) -> int:
        """The descriptor that its runs come by."""
        assert self.process.stdout
        return self.process.stdout.fileno()

    def hear(self) -> list[Begun | Ended]:
        """Take what it has sent."""
        data = os.read(self.output, 1 << 16)
        self.heard_at = time.monotonic()
        self.over |= not data
        found: list[Begun | Ended] = []
        try:
            for each in self.reply.feed(data):
                self.note(each)
                found.append(each)
        except Damaged as error:
            self.kill(str(error))
        return found

    def note(self, each: Begun | Ended) -> None:
        """Keep the list of what is left."""
        if each.name not in self.left:
            raise Damaged(f"it told of {each.name!r}, which it was not to run")
        self.up = True
        self.doing = each.name if isinstance(each, Begun) else ""
        if isinstance(each, Ended):
            del self.left[each.name]
            self.brought += 1

    def look(self) -> None:
        """Kill it if it has said nothing for too long."""
        if time.monotonic() - self.heard_at > self.patience_s:
            self.kill(f"killed: it had not ended after {self.patience_s:g} s")

    def kill(self, why: str = "") -> None:
        """End it, whatever it does."""
        self.killed_for, self.over = why, True
        self.process.kill()

    def last_words(self) -> str:
        """The line of tools/guest that says how it ended."""
        self.complaints.seek(0)
        lines = self.complaints.read().decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "no message")

    def settle(self) -> Ended | Told | None:
        """It is over: the run that it took along, or what else is to be said of its end. Raise an
        error that every other guest would meet, too."""
        status = self.process.wait()
        why = self.killed_for or self.last_words()
        if self.doing:
            lost = Ended(self.doing, STATUS_TIME if self.killed_for else status or 1, f"{why}\n")
            self.note(lost)
            return lost
        if self.left and not self.brought:
            raise {STATUS_USAGE: Unusable, STATUS_REFUSED: Refused}.get(status, CommandError)(why)
        return Told(f"a guest ended with {status}: {why}") if status else None

    def close(self) -> None:
        """Leave nothing behind."""
        self.process.kill()
        self.process.wait()
        self.complaints.close()
        if self.process.stdout:
            self.process.stdout.close()


def side_by_side(runs: int) -> int:
    """How many guests are worth their boots: one for each processor, as memory allows."""
    free_mib = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    return max(1, min(os.cpu_count() or 1, free_mib // (2 * GUEST_MIB), runs // FEWEST_RUNS))


def dealt(runs: Mapping[str, Sequence[str]], guests: int) -> list[Runs]:
    """The runs of each guest: by turns, as neighbours in the list take as long."""
    guests = max(guests, -(-len(runs) // MOST_RUNS))
    names = list(runs)
    return [{name: runs[name] for name in names[first::guests]} for first in range(guests)]


def make(options: Sequence[str], runs: Mapping[str, Sequence[str]],
         patience_s: float) -> Generator[Begun | Ended | Told, None, None]:
    """Make the runs, by name the words of a command that takes --json FILE, in guests that
    tools/guest boots with these options. A guest that ends early takes one run along, which has
    failed; those after it are made in another guest."""
    most = side_by_side(len(runs))
    waiting, guests = dealt(runs, most) if runs else [], list[Guest]()
    with selectors.DefaultSelector() as selector:
        try:
            while waiting or guests:
                # Guests that start together would both pack the same files.
                if waiting and len(guests) < most and all(each.up for each in guests):
                    guests.append(Guest(options, waiting.pop(0), patience_s))
                    selector.register(guests[-1].output, selectors.EVENT_READ, guests[-1])
                for key, _ in selector.select(LOOK_S):
                    yield from key.data.hear()
                for guest in list(guests):
                    guest.look()
                    if not guest.over:
                        continue
                    selector.unregister(guest.output)
                    guests.remove(guest)
                    try:
                        said = guest.settle()
                    finally:
                        guest.close()
                    if said:
                        yield said
                    if guest.left:
                        waiting.insert(0, guest.left)
        finally:
            for guest in guests:
                guest.close()
