# SPDX-License-Identifier: GPL-2.0
"""Makes many runs in few guests: one boot serves them all."""
from __future__ import annotations

import os
import re
import selectors
import shlex
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace

from copyscope.common.errors import CommandError, Refused, Unusable, shown
from copyscope.common.programs import kill_with_parent
from copyscope.common.tree import GUEST, ROOT

# What a guest does that makes many runs: each after the other, whatever becomes of it.

Runs = Mapping[str, Sequence[str]]

# Bits of /proc/sys/kernel/tainted that a run may add: the kernel died, warned, or hung.
FAULTS = 1 << 7 | 1 << 9 | 1 << 14
# Two lines for each run, and after the second one its record and what it said, as they are: each
# comes home as soon as it is there, so that a guest that dies later takes nothing along. The next
# one begins when that is done: what faults the kernel reports until then are of this one.
SCRIPT = """\
{before}
faults() {{
	echo $(($(cat /proc/sys/kernel/tainted) & {faults}))
}}
before=$(faults)
bring_home() {{
	exec 9>{place}/next
	while read -r line <&3; do
		echo "$line" >&9
		read -r what name || break
		echo "begin $name"
		read -r what name status || break
		: >>{place}/$name.json
		faulty=0
		[ "$(faults)" = "$before" ] || faulty=1
		echo "end $name $status $faulty $(wc -c <{place}/$name.json) $(wc -c <{place}/$name.err)"
		cat {place}/$name.json {place}/$name.err
		rm -f {place}/$name.*
		[ $faulty = 0 ] || exit 1
	done
}}
mkfifo {place}/next
{program} --runs {place} <{place}/next | bring_home 3<<'RUNS'
{lines}RUNS
"""


@dataclass(frozen=True)
class Kind:
    """Runs for guests of one kind: what tools/guest is told, by name the words of each run, and
    what a guest's shell does before them."""

    options: Sequence[str]
    runs: Runs
    before: str = ""


def script(kind: Kind, place: str = "/out") -> str:
    """A shell script that makes the runs, commands of one program, and brings each home."""
    program, = {words[0] for words in kind.runs.values()}
    lines = (f"{name} {shlex.join(words[1:])}\n" for name, words in kind.runs.items())
    return SCRIPT.format(before=kind.before, faults=FAULTS, place=place, program=program,
                         lines="".join(lines))


# What a guest sends that makes many runs; nothing of it is trusted.

LINE = re.compile(rb"(?:begin (?P<begun>\S+)|end (?P<ended>\S+) (?P<status>\d{1,3}) "
                  rb"(?P<faulty>[01]) +(?P<record>\d{1,9}) +(?P<said>\d{1,9}))")
MOST_LINE = 1000


@dataclass(frozen=True)
class Begun:
    """A run that a guest has begun with."""

    name: str


@dataclass(frozen=True)
class Ended:
    """A run that has ended: its exit status, what it said, its record, None if it left none, and
    whether its guest ended with it."""

    name: str
    status: int
    said: str
    record: bytes | None = None
    lost: bool = False


@dataclass(frozen=True)
class Told:
    """What is to be said of a guest, and of none of its runs."""

    line: str


@dataclass(frozen=True)
class Absent:
    """Guests of a kind do not come up: what is left of its runs is not made."""

    error: CommandError


class Damaged(CommandError):
    """What a guest sent is not what it was told to send."""


class Reader:
    """Takes the bytes of one guest as they come."""

    def __init__(self) -> None:
        self.held = b""
        self.head: re.Match[bytes] | None = None    # of the run whose content is coming

    def feed(self, data: bytes) -> list[Begun | Ended]:
        """What has come wholly, with these bytes."""
        self.held += data
        found = []
        while each := self._next():
            found.append(each)
        return found

    def _next(self) -> Begun | Ended | None:
        """What comes next; None if it has not come yet."""
        if not self.head:
            line, end, rest = self.held.partition(b"\n")
            self.head = LINE.fullmatch(line) if end else None
            if len(line) > MOST_LINE or end and not self.head:
                raise Damaged(f"it sent {shown(repr(line[:MOST_LINE]))} where a run was to be told")
            self.held = rest if end else line
        if not self.head:
            return None
        if self.head["begun"]:
            begun, self.head = Begun(self.head["begun"].decode("ascii", "replace")), None
            return begun
        return self._content(self.head)

    def _content(self, head: re.Match[bytes]) -> Ended | None:
        """A run whose record and words have come."""
        record, both = int(head["record"]), int(head["record"]) + int(head["said"])
        if len(self.held) < both:
            return None
        said = self.held[record:both].decode("utf-8", "replace")
        status = int(head["status"])
        if head["faulty"] == b"1":
            status, said = status or 1, f"{said}\nthe guest's kernel reported a fault\n"
        ended = Ended(head["ended"].decode("ascii", "replace"), status, said,
                      self.held[:record] if record else None)
        self.held, self.head = self.held[both:], None
        return ended


# Guests side by side, each for many runs; each run is handed on as soon as it has ended.

GUEST_MIB = 1024
# A boot is worth that many runs; a script has to be one word of a command line.
FEWEST_RUNS, MOST_RUNS = 4, 64
LOOK_S = 1.0
# What tools/guest --timeout takes.
MOST_S = 10**6
STATUS_USAGE, STATUS_REFUSED, STATUS_TIME = 2, 3, 124


class Guest:
    """One guest of a kind, which has a name, and the runs that it has not brought home yet."""

    def __init__(self, name: str, kind: Kind, patience_s: float) -> None:
        self.name, self.kind = name, kind
        self.left, self.patience_s = dict(kind.runs), patience_s
        self.doing, self.brought, self.up, self.over = "", 0, False, False
        self.killed_for = ""
        self.reply, self.heard_at = Reader(), time.monotonic()
        self.complaints = tempfile.TemporaryFile()
        limit_s = min(MOST_S, int(patience_s * (len(kind.runs) + 1)))
        command = [GUEST, *kind.options, "--memory", f"{GUEST_MIB}M", "--timeout", limit_s,
                   "--", "sh", "-c", script(kind)]
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

    def settle(self) -> Ended | Told | Absent | None:
        """It is over: the run that it took along, or what else is to be said of its end."""
        status = self.process.wait()
        why = self.killed_for or self.last_words()
        if self.doing:
            lost = Ended(self.doing, STATUS_TIME if self.killed_for else status or 1, f"{why}\n",
                         lost=True)
            self.note(lost)
            return lost
        if self.left and not self.brought:
            return Absent({STATUS_USAGE: Unusable, STATUS_REFUSED: Refused}.get(
                status, CommandError)(why))
        return Told(f"a guest ended with {status}: {why}") if status else None

    def close(self) -> None:
        """Leave nothing behind."""
        self.process.kill()
        self.process.wait()
        self.complaints.close()
        if self.process.stdout:
            self.process.stdout.close()


def side_by_side(runs: int | None = None) -> int:
    """How many guests are worth their boots for so many runs, or at all: one for each processor, as
    memory allows."""
    free_mib = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    most = min(os.cpu_count() or 1, free_mib // (2 * GUEST_MIB))
    return max(1, most if runs is None else min(most, runs // FEWEST_RUNS))


def dealt(kind: Kind, guests: int) -> list[Kind]:
    """What each guest gets: runs by turns, as neighbours in the list take as long."""
    names = list(kind.runs)
    guests = max(min(guests, len(names) // FEWEST_RUNS), -(-len(names) // MOST_RUNS))
    return [replace(kind, runs={name: kind.runs[name] for name in names[first::guests]})
            for first in range(guests)]


def make(kinds: Mapping[str, Kind], patience_s: float, most: int
         ) -> Generator[tuple[str, Begun | Ended | Told | Absent], None, None]:
    """Make the runs of each kind, by the names of the kinds, in guests, `most` at a time; tell what
    becomes of each. A guest that ends early takes one run along, which has failed; those after it
    are made in another guest."""
    each = most // max(1, len(kinds))
    waiting = [(name, share) for name, kind in kinds.items() for share in dealt(kind, each)]
    guests = list[Guest]()
    with selectors.DefaultSelector() as selector:
        try:
            while waiting or guests:
                # Guests that start together would both pack the same files.
                if waiting and len(guests) < most and all(guest.up for guest in guests):
                    guests.append(Guest(*waiting.pop(0), patience_s))
                    selector.register(guests[-1].output, selectors.EVENT_READ, guests[-1])
                for key, _ in selector.select(LOOK_S):
                    for event in key.data.hear():
                        yield key.data.name, event
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
                        yield guest.name, said
                    if isinstance(said, Absent):
                        waiting = [one for one in waiting if one[0] != guest.name]
                    elif guest.left:
                        waiting.insert(0, (guest.name, replace(guest.kind, runs=guest.left)))
        finally:
            for guest in guests:
                guest.close()
