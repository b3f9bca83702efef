# SPDX-License-Identifier: GPL-2.0
"""Reads what a guest sends that makes many runs; trusts nothing of it."""
from __future__ import annotations

import re
from dataclasses import dataclass

from copyscope.common.errors import CommandError, shown

LINE = re.compile(rb"(?:begin (?P<begun>\S+)|end (?P<ended>\S+) (?P<status>\d{1,3}) "
                  rb"(?P<faulty>[01]) +(?P<record>\d{1,9}) +(?P<said>\d{1,9}))")
MOST_LINE = 1000


@dataclass(frozen=True)
class Begun:
    """A run that a guest has begun with."""

    name: str


@dataclass(frozen=True)
class Ended:
    """A run that has ended: its exit status, what it said, and its record, None if it left none."""

    name: str
    status: int
    said: str
    record: bytes | None = None


@dataclass(frozen=True)
class Told:
    """What is to be said of a guest, and of none of its runs."""

    line: str


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
