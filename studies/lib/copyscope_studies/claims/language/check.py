# SPDX-License-Identifier: GPL-2.0
"""Checks an expanded predicate before any record is read: kinds, quantities, units, zeros."""
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Protocol

from . import tree, units
from .fault import Fault
from .parse import FITS
from .units import Unit

NUMBER, TRUTH, SELECTION = "a number", "true or false", "a selection of records"
# Of all combinations of an aggregate's keys.
MOST_COMBINATIONS = 4096


@dataclass(frozen=True)
class Meaning:
    """What a quantity is: its unit, and whether repeats must agree to the last digit (a count) or
    are judged by their interval (a time). A setting is what a run was told, or of what it was."""

    unit: Unit
    exact: bool
    setting: bool = False


@dataclass(frozen=True)
class Type:
    """What a part of a predicate yields."""

    kind: str
    unit: Unit = units.NONE
    exact: bool = True


class Vocabulary(Protocol):
    """What may be asked of which records."""

    def keys(self, kind: str, filters: tree.Filters) -> frozenset[str]:
        """The filters that a kind of records has; of published tables, those of the table."""

    def unit_of(self, key: str) -> Unit | None:
        """The unit of a key's values where an aggregate runs through them; None: no such key."""

    def meaning(self, kind: str, filters: tree.Filters, name: str) -> Meaning | str:
        """What a quantity is, or why it is none."""


class Checker:
    """Finds the type of each part, and what is wrong with it."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.combinations = 1

    def whole(self, node: tree.Node, bound: tree.Filters = ()) -> Type:
        """The type of a tree."""
        match node:
            case tree.Number():
                return Type(NUMBER, node.unit)
            case tree.Name():
                return self.key(node, dict(bound))
            case tree.Select():
                return self.select(node)
            case tree.Quantity():
                return self.quantity(node, bound)
            case tree.Negative():
                return self.number(node.of, bound)
            case tree.Arithmetic():
                return self.arithmetic(node, bound)
            case tree.Compare():
                return self.compare(node, bound)
            case tree.Within():
                for end in (node.low, node.high):
                    self.alike(node, self.number(node.of, bound), self.number(end, bound))
                return Type(TRUTH)
            case tree.Logic() | tree.Not():
                for part in (node.of,) if isinstance(node, tree.Not) else (node.left, node.right):
                    self.truth(part, bound)
                return Type(TRUTH)
            case tree.Call():
                return self.call(node, bound)
            case tree.Aggregate():
                return self.aggregate(node, bound)
        raise Fault(node.at, "it cannot stand here")

    def key(self, node: tree.Name, bound: dict[str, tuple[str, ...]]) -> Type:
        """The number that a key of an aggregate stands for."""
        if any(not re.fullmatch(r"[0-9]+(\.[0-9]+)?", value, re.ASCII)
               for value in bound[node.name]):
            raise Fault(node.at, f"{node.name} runs through words, so it is no number")
        return Type(NUMBER, self.vocabulary.unit_of(node.name) or units.NONE)

    def select(self, node: tree.Select) -> Type:
        """A selection: each key must be one of its kind's."""
        known = self.vocabulary.keys(node.kind, node.filters)
        for key, _ in node.filters:
            if key not in known:
                raise Fault(node.at, f"{node.kind} has no filter {key!r}; it has "
                            f"{' '.join(sorted(known))}")
        return Type(SELECTION)

    def quantity(self, node: tree.Quantity, bound: tree.Filters) -> Type:
        """What records say of something."""
        if self.whole(node.of, bound).kind != SELECTION or not isinstance(node.of, tree.Select):
            raise Fault(node.at, "a quantity must follow a selection of records")
        found = self.vocabulary.meaning(node.of.kind, node.of.filters, node.name)
        if isinstance(found, str):
            raise Fault(node.at, found)
        return Type(NUMBER, found.unit, found.exact)

    def number(self, node: tree.Node, bound: tree.Filters) -> Type:
        """The type of what must be a number."""
        found = self.whole(node, bound)
        if found.kind != NUMBER:
            raise Fault(node.at, f"a number must stand here, not {found.kind}")
        return found

    def truth(self, node: tree.Node, bound: tree.Filters) -> None:
        """Refuse what is not true or false."""
        found = self.whole(node, bound)
        if found.kind != TRUTH:
            raise Fault(node.at, f"a comparison must stand here, not {found.kind}")

    def alike(self, node: tree.Node, left: Type, right: Type) -> None:
        """Refuse to weigh bytes against seconds."""
        if left.unit != right.unit:
            raise Fault(node.at, f"the units differ: {units.text(left.unit)}, and "
                        f"{units.text(right.unit)}; a number takes one of "
                        f"{', '.join(units.NAMED)}")

    def arithmetic(self, node: tree.Arithmetic, bound: tree.Filters) -> Type:
        """A sum needs equal units; a product makes a new one."""
        left, right = self.number(node.left, bound), self.number(node.right, bound)
        exact = left.exact and right.exact
        if node.sign in "+-":
            self.alike(node, left, right)
            return Type(NUMBER, left.unit, exact)
        unit = units.times(left.unit, right.unit, 1 if node.sign == "*" else -1)
        if any(abs(power) > units.MOST_EXPONENT for _, power in unit):
            raise Fault(node.at, f"the unit {units.text(unit)} means nothing")
        if node.sign == "/" and isinstance(node.right, tree.Number) and node.right.value == 0:
            raise Fault(node.at, "it divides by zero")
        return Type(NUMBER, unit, exact)

    def compare(self, node: tree.Compare, bound: tree.Filters) -> Type:
        """A comparison of equal units. Times are never equal."""
        left, right = self.number(node.left, bound), self.number(node.right, bound)
        self.alike(node, left, right)
        if node.sign in ("==", "!=") and not (left.exact and right.exact):
            raise Fault(node.at, "times and events are judged by intervals: no two are equal; use "
                        "in [low, high]")
        return Type(TRUTH)

    def call(self, node: tree.Call, bound: tree.Filters) -> Type:
        """min, max, median and abs."""
        types = [self.number(each, bound) for each in node.arguments]
        if len(types) > 1 and node.function not in ("min", "max"):
            raise Fault(node.at, f"{node.function} takes one number")
        for each in types[1:]:
            self.alike(node, types[0], each)
        exact = all(each.exact for each in types)
        if len(types) == 1 and node.function in ("min", "max") and not exact:
            raise Fault(node.at, "the extreme of repeats of a time has no interval; use median")
        return Type(NUMBER, types[0].unit, exact)

    def aggregate(self, node: tree.Aggregate, bound: tree.Filters) -> Type:
        """A function of every value of the body."""
        before = self.combinations
        for key, values in node.keys:
            if self.vocabulary.unit_of(key) is None:
                raise Fault(node.at, f"no kind of records has the filter {key!r}")
            if key in dict(bound):
                raise Fault(node.at, f"an aggregate around this one runs through {key} already")
            self.combinations *= len(values)
        if self.combinations > MOST_COMBINATIONS:
            raise Fault(node.at, f"it has more than {MOST_COMBINATIONS} combinations")
        inner = (*bound, *node.keys)
        if node.function in ("all", "any", "count"):
            self.truth(node.body, inner)
            found = Type(NUMBER if node.function == "count" else TRUTH)
        else:
            body = self.number(node.body, inner)
            found = self.fit(node, body, inner) if node.function in FITS else body
        self.combinations = before
        return found

    def fit(self, node: tree.Aggregate, body: Type, bound: tree.Filters) -> Type:
        """A straight line or another law through the values of the body."""
        if len(node.keys) != 1 or len(node.keys[0][1]) < 3:
            raise Fault(node.at, f"{node.function} needs one key with at least 3 values")
        over = self.key(tree.Name(node.at, node.keys[0][0]), dict(bound)).unit
        unit = units.times(body.unit, over, -1) if node.function == "slope" else units.NONE
        return Type(NUMBER, unit, body.exact)


def parts(node: tree.Node) -> Iterator[tree.Node]:
    """A tree and all below it."""
    yield node
    for each in fields(node):
        part = getattr(node, each.name)
        for inner in part if isinstance(part, tuple) else (part,):
            if isinstance(inner, tree.Node):
                yield from parts(inner)


def refuse_settings(node: tree.Node, vocabulary: Vocabulary) -> None:
    """Raise Fault for a quantity that is a setting: it comes out as it was put in."""
    for each in parts(node):
        if isinstance(each, tree.Quantity) and isinstance(each.of, tree.Select):
            found = vocabulary.meaning(each.of.kind, each.of.filters, each.name)
            if isinstance(found, Meaning) and found.setting:
                raise Fault(each.at, f"{each.name} is a setting of the run, which can come out in "
                            "one way only; it may stand in given, or be a filter")


def of_records(node: tree.Node) -> bool:
    """Tell whether any part asks records; published numbers are none."""
    return any(isinstance(each, tree.Select) and each.kind != "published" for each in parts(node))
