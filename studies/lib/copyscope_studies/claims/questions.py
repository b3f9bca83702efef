# SPDX-License-Identifier: GPL-2.0
"""The questions of the reports: predicates and numbers that answer them, read from TOML."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copyscope.common.errors import Unusable
from copyscope.common.text import spoken

from .files import Reader, one_line
from .language import check, expand, parse, tree
from .language.evaluate import Bound, evaluate, interval, value_of
from .language.fault import Fault
from .world import World

TOP = {"names", "questions", "crossovers"}
# A sentence is a part of those on top of the page: all that ask the same are one.
KINDS = ("question", "contradiction", "sentence")
# Key: whether it must be there. `unknown` says what is not known if records do not decide;
# `numbers` are put where their names stand in braces; `leads` is the part of the page.
QUESTION = {"id": True, "asks": True, "kind": False, "claims": False, "predicate": False,
            "yes": False, "no": False, "unknown": False, "numbers": False, "leads": False,
            "rows": False}
# What is not text in one line.
TABLES = ("claims", "rows", "predicate", "over", "numbers")
ROW = {"say": True, "value": False, "unmeasured": False, "over": False}
CROSSOVER = {"profile": True, "first": True, "second": True, "says": True, "claims": False}
MOST_ROWS = 64


@dataclass(frozen=True)
class Row:
    """One number of an answer: for one value of a key, if it runs through some. Without a tree it
    is in no record, and `unmeasured` says why."""

    say: str
    tree: tree.Node | None
    bound: Bound = ()
    unmeasured: str = ""


@dataclass(frozen=True)
class Question:
    """A question with what answers it."""

    id: str
    asks: str
    kind: str
    claims: tuple[str, ...]
    predicate: str
    tree: tree.Node | None
    yes: str
    no: str
    rows: tuple[Row, ...]
    unknown: str = ""
    leads: str = ""
    numbers: tuple[tuple[str, Row], ...] = ()


class Questions(Reader):
    """Reads one file of questions; what is wrong is told with file and line."""

    def all(self, known: set[str]) -> tuple[list[Question], list[dict[str, Any]]]:
        """The questions, and the crossovers that reports spoke of."""
        data = self.file.data
        for key in data:
            if key not in TOP:
                raise self.file.bad(self.file.line(1, key), f"unknown key {key[:40]!r}")
        self.read_names(data.get("names", {}))
        found = [self.question(each, self.file.header("questions", number), known)
                 for number, each in enumerate(data.get("questions", []))]
        spoken = [self.crossover(each, self.file.header("crossovers", number), known)
                  for number, each in enumerate(data.get("crossovers", []))]
        return found, spoken

    def keys(self, data: Any, start: int, keys: dict[str, bool], what: str) -> None:
        """Refuse a table with unknown keys, or without a needed one."""
        for key in data if isinstance(data, dict) else ():
            if key not in keys:
                raise self.file.bad(self.file.line(start, key), f"{what} has no key {key[:40]!r}")
        for key, needed in keys.items():
            value = data.get(key) if isinstance(data, dict) else None
            if needed and value is None:
                raise self.file.bad(start, f"{what} has no {key}")
            if value is not None and key not in TABLES and not one_line(value):
                raise self.file.bad(self.file.line(start, key), f"{key} must be one line in quotes")

    def claims(self, data: dict[str, Any], start: int, known: set[str]) -> tuple[str, ...]:
        """The claims that are named, each of which must be there."""
        found = data.get("claims", [])
        if not isinstance(found, list) or not known.issuperset(map(str, found)):
            raise self.file.bad(self.file.line(start, "claims"), "claims must be ids of claims")
        return tuple(map(str, found))

    def question(self, data: Any, start: int, known: set[str]) -> Question:
        """One question, checked."""
        self.keys(data, start, QUESTION, "a question")
        kind = data.get("kind", KINDS[0])
        rows = data.get("rows", [])
        if kind not in KINDS or not isinstance(rows, list) or len(rows) > MOST_ROWS:
            raise self.file.bad(start, f"kind must be {' or '.join(KINDS)}, rows a list of at most "
                                f"{MOST_ROWS}")
        if ("predicate" in data) != ("yes" in data) or ("yes" in data) != ("no" in data):
            raise self.file.bad(start, "predicate, yes and no go together")
        if kind == "sentence" and not {"predicate", "unknown", "leads"} <= set(data):
            raise self.file.bad(start, "a sentence has a predicate, unknown and leads")
        found = self.predicate(data["predicate"], "predicate", start) \
            if "predicate" in data else None
        return Question(data["id"], data["asks"], kind, self.claims(data, start, known),
                        " ".join(str(data.get("predicate", "")).split()), found,
                        data.get("yes", ""), data.get("no", ""),
                        tuple(each for row in rows for each in self.row(row, start)),
                        data.get("unknown", ""), data.get("leads", ""),
                        self.named(data.get("numbers", {}), start))

    def named(self, data: Any, start: int) -> tuple[tuple[str, Row], ...]:
        """The numbers that sentences name in braces."""
        if not isinstance(data, dict):
            raise self.file.bad(start, "numbers must be { NAME = 'a number' }")
        return tuple((name, Row(name, self.number(text, start, ())))
                     for name, text in data.items())

    def row(self, data: Any, start: int) -> list[Row]:
        """The numbers of a row: one, or one for each value of a key."""
        self.keys(data, start, ROW, "a row")
        over = data.get("over", {})
        if not isinstance(over, dict) or len(over) > 1 or \
                not all(isinstance(each, list) and each for each in over.values()):
            raise self.file.bad(start, "over must be { KEY = [values] }")
        if ("value" in data) == ("unmeasured" in data):
            raise self.file.bad(start, "a row has a value, or unmeasured, which says why not")
        if "unmeasured" in data:
            return [Row(data["say"], None, (), data["unmeasured"])]
        found = []
        for key, values in over.items() or [("", [""])]:
            for value in map(str, values):
                bound = ((key, value),) if key else ()
                say = data["say"].replace(f"{{{key}}}", value) if key else data["say"]
                found.append(Row(say, self.number(data["value"], start, bound), bound))
        return found

    def number(self, text: str, start: int, bound: Bound) -> tree.Node:
        """The tree of a number."""
        try:
            found = expand.Expansion(self.names).whole(parse.parse(text),
                                                       frozenset(key for key, _ in bound))
            kind = check.Checker(self.world).whole(
                found, tuple((key, (value,)) for key, value in bound)).kind
            if kind != check.NUMBER:
                raise Fault(0, f"a number must stand here, not {kind}")
        except Fault as error:
            raise self.file.bad(start, f"{text[:60]!r}: {error.reason}") from None
        return found

    def crossover(self, data: Any, start: int, known: set[str]) -> dict[str, Any]:
        """What a report said of a crossover."""
        self.keys(data, start, CROSSOVER, "a crossover")
        return {**data, "claims": list(self.claims(data, start, known))}


def read(source: Path, world: World,
         known: set[str]) -> tuple[list[Question], list[dict[str, Any]]]:
    """The questions of a file, each id once."""
    found, spoken = Questions(source, world).all(known)
    names = [each.id for each in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise Unusable(f"{source}: the question {twice!r} is there twice")
    return found, spoken


def read_all(sources: list[Path], world: World,
             known: set[str]) -> tuple[list[Question], list[dict[str, Any]]]:
    """The questions of all files, in their order."""
    found = [read(each, world, known) for each in sources]
    return [one for asked, _ in found for one in asked], \
        [one for _, spoken_of in found for one in spoken_of]


def number_of(row: Row, world: World) -> dict[str, Any]:
    """One number, with its interval and how it is known."""
    world.evidence = []
    value, missing = value_of(row.tree, world, row.bound) if row.tree else (None, [row.unmeasured])
    hows = sorted({how for each in world.evidence for how in each.hows})
    return {"say": row.say, "shown": None if value is None else interval(value),
            "hows": hows if value is not None else [],
            "n": len(value.numbers) if value is not None else 0, "missing": missing}


def answer(question: Question, world: World) -> dict[str, Any]:
    """What records answer."""
    truth, missing = None, []
    if question.tree is not None:
        found = evaluate(question.tree, world)
        truth = found.truth
        missing = found.missing or [f"the interval is too wide: {each}"
                                    for each in found.overlapping if truth is None]
    conclusion = {True: question.yes, False: question.no, None: ""}[truth]
    numbers = {name: number_of(row, world)["shown"] for name, row in question.numbers}
    for name, number in numbers.items() if conclusion else ():
        conclusion = conclusion.replace(f"{{{name}}}", spoken(number or "an unknown number"))
    return {"id": question.id, "asks": question.asks, "kind": question.kind,
            "claims": list(question.claims), "predicate": question.predicate or None,
            "truth": truth, "conclusion": conclusion or None, "missing": missing,
            "unknown": question.unknown or None, "leads": question.leads or None,
            "rows": [number_of(each, world) for each in question.rows]}
