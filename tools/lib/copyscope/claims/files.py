# SPDX-License-Identifier: GPL-2.0
"""Reads files of claims and checks all of them: what is wrong is told with file and line."""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from copyscope.common.errors import Unusable, shown
from copyscope.records.documents import BadRecord, parse_toml, read_bytes

from . import needs, published
from .language import check, expand, parse, tree
from .language.evaluate import evaluate
from .language.fault import Fault
from .published import BadTable, Table
from .world import World

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}", re.ASCII)
TOP = ("report", "title", "names", "claims", "tables")
# Key of a claim, and whether it must be there.
CLAIM = {"id": True, "statement": True, "category": False, "where": False, "words": False,
         "predicate": False, "given": False, "unmeasured": False, "beyond": False, "runs": False,
         "undecidable": False}
# These are no single lines.
LONG = ("runs", "predicate", "given")
# How a claim is judged: by exactly one of these.
WAYS = ("predicate", "unmeasured", "beyond")
MOST_TEXT, MOST_CLAIMS, MOST_NAMES, MOST_LINES = 1000, 1000, 200, 50_000


@dataclass(frozen=True)
class Claim:
    """One claim as its file has it; `tree` is its predicate with all names put in."""

    id: str
    statement: str
    source: Path
    line: int
    # The name and the title that its file has.
    report: str = ""
    title: str = ""
    category: str = ""
    where: str = ""
    words: str = ""
    predicate: str = ""
    given: str = ""
    unmeasured: str = ""
    beyond: str = ""
    runs: tuple[str, ...] = ()
    undecidable: str = ""
    tree: tree.Node | None = field(default=None, repr=False)
    # What a machine must be for the predicate to say anything of the claim.
    condition: tree.Node | None = field(default=None, repr=False)

    @property
    def measured(self) -> bool:
        """It is judged by records; others by published numbers, or not at all."""
        return self.tree is not None and check.of_records(self.tree)


class Text:
    """A file of claims: its TOML, and the lines that its parts stand in."""

    def __init__(self, source: Path) -> None:
        self.source = source
        try:
            data = read_bytes(source)
        except OSError as error:
            raise BadRecord(source, "file", error.strerror or "cannot be read",
                            "check the name and its permissions") from None
        try:
            self.text = data.decode("utf-8")
            self.data: dict[str, Any] = parse_toml(data)
        except UnicodeError:
            raise self.bad(1, "it is no UTF-8") from None
        except ValueError as error:
            found = re.search(r"line (\d+)", str(error))
            end = self.text.count("\n") + 1 if "end of document" in str(error) else 1
            raise self.bad(int(found[1]) if found else end,
                           shown(" ".join(str(error).split()), 120)) from None
        self.lines = self.text.splitlines() or [""]
        if len(self.lines) > MOST_LINES:
            raise self.bad(1, f"it has more than {MOST_LINES} lines")
        self.headers: dict[str, list[int]] = {}

    def bad(self, line: int, reason: str) -> Unusable:
        """An error: file, line and reason."""
        return Unusable(f"{self.source}:{line}: {reason}")

    def header(self, name: str, number: int) -> int:
        """The line in which the table `name` of that number, from 0, begins."""
        if name not in self.headers:
            begins = re.compile(rf"\s*\[\[?\s*{name}\s*\]\]?")
            self.headers[name] = [at for at, line in enumerate(self.lines, 1) if begins.match(line)]
        found = self.headers[name]
        return found[number] if number < len(found) else found[-1] if found else 1

    def line(self, start: int, key: str, at: int = 0, value: str = "") -> int:
        """The line of a key at or after `start`, or that of a character of its value."""
        for number in range(start, len(self.lines) + 1):
            found = re.match(rf"\s*\"?{re.escape(key)}\"?\s*=\s*(\"\"\"|'''|)",
                             self.lines[number - 1])
            if found:
                # A text of several lines may begin in the line after its quotes.
                later = bool(found[1]) and not self.lines[number - 1][found.end():]
                return number + later + value[:at].count("\n")
        return start


def one_line(value: Any) -> bool:
    """Accept a text that a terminal and a page can show."""
    return isinstance(value, str) and value.strip() != "" and len(value) <= MOST_TEXT and \
        value.isprintable()


class Reader:
    """Reads one file; the tables of others may be known already."""

    def __init__(self, source: Path, world: World) -> None:
        self.file, self.world = Text(source), world
        self.names: dict[str, tree.Node] = {}

    def whole(self) -> list[Claim]:
        """All claims of the file; its tables are added to the world."""
        data = self.file.data
        for key in data:
            if key not in TOP:
                raise self.file.bad(self.file.line(1, key),
                                    f"unknown key {shown(key, 40)}; known are {' '.join(TOP)}")
        for key in ("report", "title"):
            if key in data and not one_line(data[key]):
                raise self.file.bad(self.file.line(1, key), f"{key} must be one line in quotes")
        self.read_tables(data.get("tables", []))
        self.read_names(data.get("names", {}))
        claims = data.get("claims", [])
        if not isinstance(claims, list) or len(claims) > MOST_CLAIMS:
            raise self.file.bad(self.file.header("claims", 0), "claims must be [[claims]], at most "
                                f"{MOST_CLAIMS} of them")
        return [self.claim(each, self.file.header("claims", number))
                for number, each in enumerate(claims)]

    def read_tables(self, tables: Any) -> None:
        """Read published numbers."""
        if not isinstance(tables, list):
            raise self.file.bad(self.file.header("tables", 0), "tables must be [[tables]]")
        for number, each in enumerate(tables):
            line = self.file.header("tables", number)
            try:
                found: Table = published.table_of(each)
            except BadTable as error:
                raise self.file.bad(line, str(error)) from None
            if found.name in self.world.tables:
                raise self.file.bad(line, f"the table {found.name} is there twice")
            self.world.tables[found.name] = found

    def read_names(self, names: Any) -> None:
        """Read what names stand for, and check each by itself."""
        start = self.file.header("names", 0)
        if not isinstance(names, dict) or len(names) > MOST_NAMES:
            raise self.file.bad(start, f"names must be a table of at most {MOST_NAMES} names")
        for name, text in names.items():
            line = self.file.line(start, name)
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,60}", name, re.ASCII):
                raise self.file.bad(line, f"the name {shown(name, 40)} must be letters and digits")
            if name in parse.RESERVED or self.world.unit_of(name) is not None:
                raise self.file.bad(line, f"the name {name} is a word of the language")
            if not isinstance(text, str):
                raise self.file.bad(line, f"what {name} stands for must be in quotes")
            try:
                self.names[name] = parse.parse(text)
            except Fault as error:
                raise self.fault(error, start, name, text) from None
        for name, text in names.items():
            try:
                found = expand.expand(tree.Name(0, name), self.names)
                check.Checker(self.world).whole(found)
            except Fault as error:
                raise self.fault(error, start, name, text) from None

    def fault(self, error: Fault, start: int, key: str, text: str) -> Unusable:
        """An error in a predicate or in what a name stands for."""
        return self.file.bad(self.file.line(start, key, error.at, text), f"{key}: {error.reason}")

    def claim(self, data: Any, start: int) -> Claim:
        """One claim, checked."""
        for key in data if isinstance(data, dict) else ():
            if key not in CLAIM:
                raise self.file.bad(self.file.line(start, key), f"a claim has no key "
                                    f"{shown(key, 40)}; it has {' '.join(CLAIM)}")
        for key, needed in CLAIM.items():
            value = data.get(key) if isinstance(data, dict) else None
            if value is None and needed:
                raise self.file.bad(start, f"a claim has no {key}")
            if value is not None and key not in LONG and not one_line(value):
                raise self.file.bad(self.file.line(start, key), f"{key} must be one line in quotes")
        line = self.file.line(start, "id")
        if not ID.fullmatch(data["id"]):
            raise self.file.bad(line, "id must be letters, digits and -_.")
        if sum(key in data for key in WAYS) != 1:
            raise self.file.bad(line, f"{data['id']} needs one of {', '.join(WAYS)}")
        runs = data.get("runs", [])
        if not isinstance(runs, list) or not all(map(one_line, runs)):
            raise self.file.bad(self.file.line(start, "runs"), "runs must be a list of texts")
        found, condition = (self.predicate(data[key], key, start) if key in data else None
                            for key in ("predicate", "given"))
        try:
            needs.check(runs, found)
        except ValueError as error:
            raise self.file.bad(self.file.line(start, "runs"), f"runs: {error}") from None
        return Claim(**{**data, "runs": tuple(runs), "source": self.file.source, "line": line,
                        "report": self.file.data.get("report", self.file.source.stem),
                        "title": self.file.data.get("title", ""), "tree": found,
                        "condition": condition})

    def predicate(self, text: Any, key: str, start: int) -> tree.Node:
        """The tree of a predicate, with names put in; of published numbers alone it is evaluated
        here, as what is wrong with them is wrong with the file."""
        if not isinstance(text, str) or not text.strip():
            raise self.file.bad(self.file.line(start, key), f"{key} must be in quotes")
        try:
            found = expand.expand(parse.parse(text), self.names)
            if check.Checker(self.world).whole(found).kind != check.TRUTH:
                raise Fault(0, "a predicate must be true or false: it needs a comparison")
            for each in check.parts(found):
                if isinstance(each, tree.Arithmetic) and each.sign == "/":
                    self.check_divisor(each)
            if not check.of_records(found):
                missing = evaluate(found, self.world).missing
                if missing:
                    raise Fault(0, f"it cannot be calculated: {missing[0]}")
        except Fault as error:
            raise self.fault(error, start, key, text) from None
        return found

    def check_divisor(self, node: tree.Arithmetic) -> None:
        """Refuse a divisor that is zero whatever is measured."""
        if any(isinstance(each, (tree.Select, tree.Name)) for each in check.parts(node.right)):
            return
        zero = tree.Number(node.at, *zero_of(node.right))
        if evaluate(tree.Compare(node.at, "==", node.right, zero), self.world).truth:
            raise Fault(node.at, "it divides by zero")


def zero_of(node: tree.Node) -> tuple[Any, Any]:
    """Zero, in the unit of a tree of constants."""
    first = next((each for each in check.parts(node) if isinstance(each, tree.Number)), None)
    return Fraction(0), first.unit if first else ()


def read_all(sources: list[Path], world: World) -> list[Claim]:
    """The claims of all files, each id once. Files of published numbers come first."""
    claims: dict[str, Claim] = {}
    for source in sources:
        for each in Reader(source, world).whole():
            if each.id in claims:
                raise Unusable(f"{each.source}:{each.line}: the id {each.id} stands already in "
                               f"{claims[each.id].source}:{claims[each.id].line}")
            claims[each.id] = each
    return list(claims.values())
