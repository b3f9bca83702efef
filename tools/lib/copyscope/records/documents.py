# SPDX-License-Identifier: GPL-2.0
"""Reads JSON documents, which may be damaged, and checks them against the schema of their kind."""
from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from copyscope.common.errors import Unusable, shown
from copyscope.common.json_bounds import check_parts
from copyscope.files.output_folder import Proof

from .checkers import MORE_KEYS, checker
from .older import upgraded

# A watch writes 6 kB for a socket that is a process's only one: 40,000 of these fit, which is more
# than twice what its tables have room for. A reader takes six times as much memory.
MOST_BYTES, SMALL_BYTES = 256 << 20, 64 << 20
# Of TOML, which people write.
MOST_TOML_BYTES = 1 << 20
# A key of more parts: its reader notes each of its beginnings, which took 10 GB for 50,000 parts.
# Text in quotes that looks like such a key is refused, too.
KEY_PARTS = 32
LONG_KEY = re.compile(r"""(?<![A-Za-z0-9_-])(?:(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|"""
                      rf"'[^'\n]*+')[ \t]*+\.[ \t]*+){{{KEY_PARTS}}}")
# What a counter of 64 bits can hold; beyond it sums and figures overflow.
MOST_NUMBER = 1 << 64
# Text that would command the terminal or the page that shows it, as it is or as JSON escapes it;
# and halves of characters, which cannot be written at all.
UNSHOWABLE = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]|"
                        r"\\(?:[bf]|u00[01][0-9a-fA-F]|u00[7-9][0-9a-fA-F]|u[dD][89a-fA-F])")
# What a number beyond that has, its digits all read as 9.
DIGITS, LARGE = bytes.maketrans(b"012345678", b"9" * 9), b"9" * 19
HARMLESS = str.maketrans("", "", "\n\t\r")
# The version that is read; 1 of all kinds that are not named.
VERSIONS = {"record": 4, "verdicts": 2}


class BadRecord(Unusable):
    """One line that names the file, the key and what to do."""

    def __init__(self, source: object, key: str, problem: str, remedy: str) -> None:
        super().__init__(f"{source}: {key}: {problem}; {remedy}")


DAMAGED = "the file is damaged: remove it"


def described(value: Any) -> str:
    """A value as a message shows it; of a table or a list only that it is one."""
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "a list"
    return shown(json.dumps(value, ensure_ascii=False), 40)


def whole_number(text: str) -> int:
    """A whole number that a counter can hold."""
    if len(text) < 19:
        return int(text)
    if len(text) > 21 or not -MOST_NUMBER < int(text) < MOST_NUMBER:
        raise ValueError(f"{shown(text, 40)} is larger than a 64-bit counter")
    return int(text)


def real_number(text: str) -> float:
    """A number that a counter can hold; 1e400 would be read as infinite."""
    number = float(text)
    if not -MOST_NUMBER < number < MOST_NUMBER:
        raise ValueError(f"{shown(text, 40)} is larger than a 64-bit counter")
    return number


def refuse_constant(name: str) -> None:
    """JSON has no NaN or Infinity; Python would read them."""
    raise ValueError(f"{name} is not JSON")


def repeated(names: Iterable[str]) -> str | None:
    """The first name that appears a second time; None if all differ."""
    known: set[str] = set()
    for name in names:
        if name in known:
            return name
        known.add(name)
    return None


def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table whose keys all differ: readers disagree about which of two equal keys counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"the key {described(repeated(key for key, _ in pairs))} appears twice")
    return found


def check_texts(value: Any) -> None:
    """Raise ValueError if a text or key cannot be shown or written."""
    if isinstance(value, dict):
        for key, inner in value.items():
            check_texts(key)
            check_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            check_texts(inner)
    elif isinstance(value, str) and not value.translate(HARMLESS).isprintable():
        raise ValueError(f"{described(value)} has a character that cannot be shown")


def parse_json(data: str | bytes, source: object) -> Any:
    """Read JSON, an older record as one of today; raise BadRecord with one line if it is none."""
    try:
        raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
        # So that a small file takes little memory, whatever a large one may.
        check_parts(raw, max(len(raw), SMALL_BYTES))
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        # A function for each number takes longer than to look for the digits of a large one.
        large = whole_number if LARGE in raw.translate(DIGITS) else None
        found = json.loads(text, parse_constant=refuse_constant, parse_int=large,
                           parse_float=real_number, object_pairs_hook=table)
        # What has none of these marks needs no search, which takes longer than all else.
        plain = text.isascii() and "\\" not in text and "\x7f" not in text
        if not plain and UNSHOWABLE.search(text):
            check_texts(found)
        return upgraded(found)
    except RecursionError:
        raise BadRecord(source, "JSON", "it is nested too deeply", DAMAGED) from None
    except ValueError as error:
        problem = "it is no UTF-8" if isinstance(error, UnicodeError) else \
            shown(" ".join(str(error).split()), 120)
        raise BadRecord(source, "JSON", problem, DAMAGED) from None


def read_bytes(source: Path) -> bytes:
    """Read a regular file up to a size; other kinds are refused, as a pipe could block us."""
    with open(os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            kind = "a folder" if stat.S_ISDIR(about.st_mode) else "no regular file"
            raise BadRecord(source, "file", f"it is {kind}", "name a file")
        # None: a file of the kernel's, such as /proc/kmsg, would have us wait for more.
        data = file.read(MOST_BYTES + 1)
    if data is None:
        raise BadRecord(source, "file", "it has no end", "name a file")
    if len(data) > MOST_BYTES:
        raise BadRecord(source, "file", f"it is larger than {MOST_BYTES >> 20} MiB",
                        "watch fewer processes, or the file is damaged")
    return data


def parse_toml(data: bytes) -> dict[str, Any]:
    """Read TOML in time and memory that grow as its size does; ValueError says what is wrong."""
    if len(data) > MOST_TOML_BYTES:
        raise ValueError(f"it is larger than {MOST_TOML_BYTES >> 20} MiB")
    text = data.decode("utf-8")
    long = LONG_KEY.search(text)
    if long:
        raise ValueError(f"a key has more than {KEY_PARTS} parts (at line "
                         f"{text.count(chr(10), 0, long.start()) + 1})")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_toml(source: Path, folder: Path) -> dict[str, Any]:
    """Read a file's TOML, whatever is in it; `folder` has those that come with the tree."""
    try:
        return parse_toml(read_bytes(source))
    except OSError as error:
        have = " ".join(sorted(each.stem for each in folder.glob("*.toml")))
        raise BadRecord(source, "file", error.strerror or "cannot be read",
                        f"{folder.name} here: {have}") from None
    except ValueError as error:
        raise BadRecord(source, "TOML", shown(str(error), 200), "correct that line") from None


def read_json(source: Path) -> Any:
    """Read one JSON file; raise BadRecord with one line if it is none."""
    try:
        return parse_json(read_bytes(source), source)
    except OSError as error:
        raise BadRecord(source, "file", error.strerror or "cannot be read",
                        "check the name and its permissions") from None


def problem_of(error: Any) -> tuple[str, str]:
    """The key at which a document breaks its schema, and what is wrong there."""
    key = re.sub(r"^data\.?", "", error.name) or "JSON"
    wanted, value = error.rule_definition, described(error.value)
    if error.rule == "type":
        kinds = wanted if isinstance(wanted, list) else [wanted]
        return key, f"{value} has the wrong type; it must be {' or '.join(map(str, kinds))}"
    if error.rule == "required":
        missing = next(each for each in wanted if each not in error.value)
        return (missing if key == "JSON" else f"{key}.{missing}"), "it is missing"
    if error.rule == "enum":
        return key, f"{value} is not one of {shown(', '.join(map(str, wanted)), 300)}"
    if error.rule in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "minItems",
                      "maxItems", "minLength", "maxLength"):
        return key, f"{value} is beyond its {error.rule}, {wanted}"
    if error.rule == "const":
        return key, f"{value} is not {described(wanted)}"
    if error.rule == "pattern":
        return key, f"{value} does not match its pattern, {shown(wanted, 60)}"
    return key, f"{value} does not fit the values beside it"


def check(data: Any, kind: str, source: object, remedy: str) -> None:
    """Raise BadRecord unless `data` is a document of this kind."""
    wanted = f"copyscope.{kind}/{VERSIONS.get(kind, 1)}"
    if not isinstance(data, dict) or data.get("schema") != wanted:
        found = data.get("schema") if isinstance(data, dict) else None
        raise BadRecord(source, "schema", f"it is {described(found)}, not \"{wanted}\"",
                        f"give a file that is a copyscope.{kind}")
    check_form(data, kind, source, remedy)


def check_form(data: Any, kind: str, source: object, remedy: str,
               dropped: tuple[str, ...] = MORE_KEYS) -> None:
    """Check a document against the schema of its kind; raise BadRecord at the first fault."""
    if checker(kind, dropped, "fits")(data):
        return
    # The module is loaded by checker(), which says so if it is missing.
    accept = checker(kind, dropped)
    from fastjsonschema import JsonSchemaValueException  # pylint: disable=import-outside-toplevel
    try:
        accept(data)
    except JsonSchemaValueException as error:
        key, problem = problem_of(error)
        raise BadRecord(source, shown(key), problem, remedy) from None


def load(source: Path, kind: str, remedy: str) -> dict[str, Any]:
    """Read a document of a kind; raise BadRecord with one line if it is none."""
    data = read_json(source)
    check(data, kind, source, remedy)
    return data


def by_name(found: list[dict[str, Any]], key: str, source: object, at: str) -> dict[str, Any]:
    """The tables of a list by their names; raise BadRecord if two have the same."""
    twice = repeated(each[key] for each in found)
    if twice is not None:
        raise BadRecord(source, f"{at}.{key}", f"{described(twice)} appears twice", DAMAGED)
    return {each[key]: each for each in found}


def has_schema(schema: str) -> Proof:
    """A proof that accepts a JSON document with this schema, of any version."""
    def proves(data: bytes) -> bool:
        try:
            found = parse_json(data, schema)
        except BadRecord:
            return False
        return isinstance(found, dict) and \
            str(found.get("schema")).partition("/")[0] == schema.partition("/")[0]
    return proves
