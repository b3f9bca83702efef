# SPDX-License-Identifier: GPL-2.0
"""Stacks of a watch as a profile that pprof reads: profile.proto of github.com/google/pprof."""
from __future__ import annotations

import gzip
from collections.abc import Iterable
from datetime import datetime

from copyscope.records import stacks
from copyscope.records.run_record import Record

# Numbers of fields in that file.
SAMPLE_TYPE, SAMPLE, MAPPING, LOCATION, FUNCTION, STRINGS = range(1, 7)
TIME_NS, DURATION_NS = 9, 10


def varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    made = bytearray()
    while value > 0x7f:
        made.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes([*made, value])


def number(field: int, value: int) -> bytes:
    """A field that is a number; 0 is what is missing."""
    return varint(field << 3) + varint(value) if value else b""


def part(field: int, content: bytes) -> bytes:
    """A field that is a text or a message."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def packed(field: int, values: Iterable[int]) -> bytes:
    """A field that is a list of numbers."""
    return part(field, b"".join(map(varint, values)))


class Texts:
    """The table of texts: the first one is empty."""

    def __init__(self) -> None:
        self.known = {"": 0}

    def __call__(self, text: str) -> int:
        """The number of a text."""
        return self.known.setdefault(text, len(self.known))


def locations(record: Record, text: Texts) -> list[bytes]:
    """Files, places in them and functions, by their numbers in the record plus 1."""
    found = record.data["stacks"]
    made = []
    for at, module in enumerate(found["modules"], 1):
        content = number(1, at) + number(5, text(module["path"])) + \
            number(6, text(module["build_id"] or "")) + number(7, 1)
        made.append(part(MAPPING, content))
    for at, frame in enumerate(found["frames"], 1):
        name = text(stacks.frame_name(found, frame))
        mapping = 0 if frame["module"] is None else frame["module"] + 1
        made.append(part(FUNCTION, number(1, at) + number(2, name) + number(3, name)))
        made.append(part(LOCATION, number(1, at) + number(2, mapping) +
                         number(3, int(frame["offset"])) + part(4, number(1, at))))
    return made


def sample(each: stacks.Stack, text: Texts) -> bytes:
    """Calls and bytes of a stack, innermost first, with process and site as labels."""
    labels = (("process", each.process), ("site", each.site))
    return part(SAMPLE, packed(1, [place + 1 for place in reversed(each.places)]) +
                packed(2, [each.calls, each.bytes]) +
                b"".join(part(3, number(1, text(key)) + number(2, text(value)))
                         for key, value in labels))


def began_s(record: Record) -> float:
    """When it began, in seconds since 1970; 0 if that is no such date."""
    try:
        began = datetime.fromisoformat(record.at("started").replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0
    return max(began, 0)


def profile(record: Record) -> bytes:
    """The whole file, compressed as it is usual."""
    text = Texts()
    kinds = [part(SAMPLE_TYPE, number(1, text(name)) + number(2, text(unit)))
             for name, unit in (("calls", "count"), ("moved", "bytes"))]
    body = [*kinds, *(sample(each, text) for each in stacks.stacks_of(record)),
            *locations(record, text)]
    began = began_s(record)
    times = number(TIME_NS, int(began * 1e9)) + \
        number(DURATION_NS, int(record.at("window.seconds") * 1e9))
    strings = b"".join(part(STRINGS, each.encode()) for each in text.known)
    return gzip.compress(b"".join(body) + times + strings, mtime=0)
