# SPDX-License-Identifier: GPL-2.0
"""Makes damaged copies of JSON documents from seeds, for tests of whatever reads such documents.

    for damage in damages(document, seed=7, count=300):
        file.write_bytes(damage.data)       # then have it read; damage.what says what was done

The same document, seed and count always make the same damages. `place_odd(folder)` makes what is no
readable file at all: a folder, a FIFO, an empty file, a link to itself, a name that is not there.
"""
from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEEP = 100_000
# Put in place of a value: what each means is told where it is used.
VALUES: dict[str, Any] = {
    "null": None, "true": True, "false": False, "0": 0, "-1": -1, "2**63": 2 ** 63,
    "2**64": 2 ** 64, "10**30": 10 ** 30, "3.5": 3.5, "1e300": 1e300, "-0.0": -0.0, "5e-324": 5e-324,
    "empty text": "", "text": "x", "long text": "x" * 100_000, "control characters": "\x1b[2J\0\x07",
    "line ends": "one\ntwo\r\n", "half a character": "\ud800", "turned": "a\u202eb",
    "a path": "../../etc/passwd", "number as text": "12", "empty list": [], "list": [1, "x", None],
    "empty table": {}, "table": {"x": {"y": []}}, "deep list": [[[[[[[[[[]]]]]]]]]]}
# Put into the text where JSON allows none of it, or readers differ.
LITERALS = ("NaN", "Infinity", "-Infinity", "1e400", "-1e400", "9" * 5000, "01", "'x'", "+1", ".5",
            "[" * DEEP, '{"a":' * DEEP, "[" * 900 + "]" * 900, '"\\ud800"', '"\\u0000"', "0x10")
ENCODINGS = ("utf-16", "utf-32", "utf-8-sig")
MARK = "copyscope-damage-goes-here"


@dataclass(frozen=True)
class Damage:
    """One damaged document, and what was done to it."""

    what: str
    data: bytes


def places(value: Any, at: tuple = ()) -> Iterator[tuple]:
    """Where every value of a document lies: a tuple of keys and indices."""
    pairs = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*at, key)
        yield from places(inner, (*at, key))


def holder(document: Any, place: tuple) -> Any:
    """The table or list that a place lies in."""
    for key in place[:-1]:
        document = document[key]
    return document


def text_of(document: Any) -> str:
    """The document as JSON."""
    return json.dumps(document, indent=1)


def replaced(document: Any, place: tuple, chance: random.Random) -> Damage:
    """Another value in a place."""
    name = chance.choice(list(VALUES))
    holder(document, place)[place[-1]] = copy.deepcopy(VALUES[name])
    return Damage(f"{name} at {place}", text_of(document).encode())


def removed(document: Any, place: tuple, _: random.Random) -> Damage:
    """A key or an element gone."""
    del holder(document, place)[place[-1]]
    return Damage(f"nothing at {place}", text_of(document).encode())


def repeated(document: Any, place: tuple, chance: random.Random) -> Damage:
    """A key that is there twice, or an element that is there many times."""
    inside = holder(document, place)
    if isinstance(inside, list):
        times = chance.choice((2, 100, 5000))
        inside.extend([copy.deepcopy(inside[place[-1]])] * times)
        return Damage(f"{place} {times} times more", text_of(document).encode())
    key = json.dumps(place[-1])
    inside[MARK] = inside[place[-1]]
    text = text_of(document).replace(json.dumps(MARK), key)
    return Damage(f"{place} twice", text.encode())


def added(document: Any, place: tuple, _: random.Random) -> Damage:
    """A key that no schema has."""
    inside = holder(document, place)
    if isinstance(inside, dict):
        inside["of another version"] = {"x": [1, None]}
    return Damage(f"a key more beside {place}", text_of(document).encode())


def swapped(document: Any, place: tuple, chance: random.Random) -> Damage:
    """A value from elsewhere in the document."""
    from_where = chance.choice(list(places(document)))
    value = copy.deepcopy(holder(document, from_where)[from_where[-1]])
    holder(document, place)[place[-1]] = value
    return Damage(f"{from_where} at {place}", text_of(document).encode())


def literal(document: Any, place: tuple, chance: random.Random) -> Damage:
    """What is no JSON, or a number that none can hold."""
    holder(document, place)[place[-1]] = MARK
    what = chance.choice(LITERALS)
    text = text_of(document).replace(json.dumps(MARK), what)
    return Damage(f"{what[:20]} at {place}", text.encode())


def of_bytes(document: Any, place: tuple, chance: random.Random) -> Damage:
    """Bytes cut off, turned, put in or written in another encoding."""
    data = bytearray(text_of(document).encode())
    how = chance.choice(("cut", "turned", "put in", "encoded", "before", "behind", "none"))
    if how == "cut":
        del data[chance.randrange(len(data)):]
    elif how == "turned":
        for _ in range(chance.randrange(1, 5)):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif how == "put in":
        at = chance.randrange(len(data))
        data[at:at] = chance.randbytes(chance.randrange(1, 20))
    elif how == "encoded":
        data = bytearray(text_of(document).encode(chance.choice(ENCODINGS)))
    elif how == "before":
        data[:0] = b"\xff\xfe\x00"
    elif how == "behind":
        data += b'{"schema": 1}'
    else:
        data.clear()
    return Damage(f"bytes {how}", bytes(data))


KINDS = (replaced, replaced, replaced, removed, removed, repeated, added, swapped, literal, of_bytes)


def damages(document: Any, seed: int, count: int) -> Iterator[Damage]:
    """`count` damaged copies of a document; each depends on the seed and its number alone."""
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        mine = copy.deepcopy(document)
        # A few places near the root for each deep in a list: a record has thousands of the latter.
        everywhere = list(places(mine))
        depth = chance.randrange(1, max(map(len, everywhere)) + 1)
        place = chance.choice([each for each in everywhere if len(each) <= depth])
        yield chance.choice(KINDS)(mine, place, chance)


def place_odd(folder: Path) -> dict[str, Path]:
    """What is no readable file; reading must neither fail with a traceback nor wait."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {name: folder / f"{name}.json" for name in (
        "folder", "fifo", "empty", "loop", "gone", "blank", "word")}
    made["folder"].mkdir()
    os.mkfifo(made["fifo"])
    made["empty"].touch()
    made["loop"].symlink_to(made["loop"])
    made["blank"].write_text(" \n")
    made["word"].write_text('"word"')
    return made
