# SPDX-License-Identifier: GPL-2.0
"""Reads files of claims and checks all of them: what is wrong is told with file and line."""
from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from copyscope.common.errors import Unusable, shown
from copyscope.records.documents import BadRecord, parse_toml, read_bytes

from . import ledger, needs, published
from .language import check, expand, parse, tree, units
from .language.evaluate import evaluate
from .language.fault import Fault
from .published import BadTable, Table
from .world import World

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}", re.ASCII)
TOP = ("report", "title", "names", "claims", "tables")
# Key of a claim, and whether it must be there.
CLAIM = {"id": True, "statement": True, "category": False, "where": False, "words": False,
         "kind": False, "as": False, "of": False, "program": False, "predicate": False,
         "given": False, "here": False, "there": False, "unmeasured": False, "beyond": False,
         "runs": False, "undecidable": False}
# These are no single lines.
LONG = ("runs", "predicate", "given", "here", "there")
# A value or a threshold of the authors' machine; and which program judges a claim, where the
# published one is not what its text describes.
VALUE, PUBLISHED, DESCRIBED = "value", "published", "described"
NOT_OF = {PUBLISHED: "corrected", DESCRIBED: "as-published"}
# How a claim is judged: by exactly one of these.
WAYS = ("predicate", "unmeasured", "beyond")
# Of the report's words, whose pieces are joined by it: enough to find the passage.
GAP, MOST_WORDS = " ... ", 15
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
    kind: str = ""
    # Of published or described; the claim that a described one is of; what the published program
    # does or lacks, with its file and line.
    told: str = ""
    of: str = ""
    program: str = ""
    predicate: str = ""
    given: str = ""
    here: str = ""
    there: str = ""
    unmeasured: str = ""
    beyond: str = ""
    runs: tuple[str, ...] = ()
    undecidable: str = ""
    # Of the wording of its predicate, and when that was fixed.
    hash: str = ""
    fixed: ledger.Fixed | None = None
    tree: tree.Node | None = field(default=None, repr=False)
    # What a machine must be for the predicate to say anything of the claim.
    condition: tree.Node | None = field(default=None, repr=False)
    # The value on this machine and that of the authors.
    values: tuple[tree.Node, tree.Node] | None = field(default=None, repr=False)

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
        words = len(data.get("words", "").replace(GAP, " ").split())
        if words > MOST_WORDS:
            raise self.file.bad(self.file.line(start, "words"),
                                f"words has {words} words of the report; quote {MOST_WORDS} at "
                                "most")
        line = self.file.line(start, "id")
        if not ID.fullmatch(data["id"]):
            raise self.file.bad(line, "id must be letters, digits and -_.")
        if sum(key in data for key in WAYS) != 1:
            raise self.file.bad(line, f"{data['id']} needs one of {', '.join(WAYS)}")
        runs = data.get("runs", [])
        if not isinstance(runs, list) or not all(map(one_line, runs)):
            raise self.file.bad(self.file.line(start, "runs"), "runs must be a list of texts")
        self.check_twice(data, start)
        found, condition = (self.predicate(data[key], key, start) if key in data else None
                            for key in ("predicate", "given"))
        if found is not None:
            self.check_evidence(data, found, start)
        both = self.both_values(data, start)
        try:
            needs.check(runs, found)
        except ValueError as error:
            raise self.file.bad(self.file.line(start, "runs"), f"runs: {error}") from None
        told = {"told" if key == "as" else key: value for key, value in data.items()}
        return Claim(**{**told, "runs": tuple(runs), "source": self.file.source, "line": line,
                        "report": self.file.data.get("report", self.file.source.stem),
                        "title": self.file.data.get("title", ""), "tree": found,
                        "condition": condition, "values": both,
                        "hash": ledger.hash_of(data, self.file.data.get("names", {}))})

    def check_twice(self, data: dict[str, Any], start: int) -> None:
        """Check what a claim that stands twice has: as published, and as described."""
        told = data.get("as", "")
        if told not in ("", PUBLISHED, DESCRIBED):
            raise self.file.bad(self.file.line(start, "as"),
                                f"as must be {PUBLISHED} or {DESCRIBED}")
        if ("program" in data) != (told == PUBLISHED):
            raise self.file.bad(start,
                                f"{data['id']}: as = \"{PUBLISHED}\" and program go together")
        if ("of" in data) != (told == DESCRIBED):
            raise self.file.bad(start, f"{data['id']}: as = \"{DESCRIBED}\" and of go together")
        if "of" in data and data["id"] != f"{data['of']}-{DESCRIBED}":
            raise self.file.bad(self.file.line(start, "id"), f"the id must be "
                                f"{shown(data['of'], 60)}-{DESCRIBED}, by what it is of")

    def check_evidence(self, data: dict[str, Any], found: tree.Node, start: int) -> None:
        """Refuse a predicate that settings decide, or another program than the claim is of."""
        try:
            check.refuse_settings(found, self.world)
            for each in check.parts(found):
                if isinstance(each, tree.Select) and \
                        NOT_OF.get(data.get("as", "")) in dict(each.filters).get("mode", ()):
                    raise Fault(each.at, f"as = \"{data['as']}\" is not judged by mode="
                                f"{NOT_OF[data['as']]}")
        except Fault as error:
            raise self.fault(error, start, "predicate", data["predicate"]) from None

    def both_values(self, data: dict[str, Any], start: int) -> tuple[tree.Node, tree.Node] | None:
        """The trees of the value here and of the value there, which only a value has."""
        kind = data.get("kind", "")
        if kind not in ("", VALUE):
            raise self.file.bad(self.file.line(start, "kind"), f"kind must be {VALUE}, or be left "
                                "out")
        if len({kind == VALUE, "here" in data, "there" in data}) > 1 or \
                kind and "predicate" not in data:
            raise self.file.bad(start, f"{data['id']}: kind = \"{VALUE}\", predicate, here and "
                                "there go together")
        if not kind:
            return None
        here, there = (self.value(data[key], key, start) for key in ("here", "there"))
        if here[1] != there[1]:
            raise self.file.bad(self.file.line(start, "there"), "here and there: the units differ: "
                                f"{units.text(here[1])}, and {units.text(there[1])}")
        if not check.of_records(here[0]) or check.of_records(there[0]):
            raise self.file.bad(self.file.line(start, "here"), "here must be of records, and there "
                                "of published numbers")
        return here[0], there[0]

    def value(self, text: Any, key: str, start: int) -> tuple[tree.Node, units.Unit]:
        """The tree of a number with names put in, and its unit."""
        if not isinstance(text, str) or not text.strip():
            raise self.file.bad(self.file.line(start, key), f"{key} must be in quotes")
        try:
            found = expand.expand(parse.parse(text), self.names)
            check.refuse_settings(found, self.world)
            return found, check.Checker(self.world).number(found, ()).unit
        except Fault as error:
            raise self.fault(error, start, key, text) from None

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
    known = ledger.read()
    # The ledger lies beside them, and has no claims.
    for source in (each for each in sources if each != ledger.FILE):
        for each in Reader(source, world).whole():
            if each.id in claims:
                raise Unusable(f"{each.source}:{each.line}: the id {each.id} stands already in "
                               f"{claims[each.id].source}:{claims[each.id].line}")
            entry = known.get(each.id)
            fits = entry is not None and entry.text == each.hash
            claims[each.id] = replace(each, fixed=entry if fits else None)
    for each in claims.values():
        if each.of and (each.of not in claims or claims[each.of].told != PUBLISHED):
            raise Unusable(f"{each.source}:{each.line}: {each.id} is of {shown(each.of, 60)}, "
                           f"which is no claim with as = \"{PUBLISHED}\"")
    return list(claims.values())
