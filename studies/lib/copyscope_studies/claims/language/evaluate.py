# SPDX-License-Identifier: GPL-2.0
"""Evaluates a checked predicate over records: true, false or None, and what each step was."""
from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import median
from typing import Protocol

from . import fits, tree, units, values
from .check import Vocabulary
from .expand import text
from .parse import FITS
from .values import Missing, Value

Truth = bool | None
Bound = tuple[tuple[str, str], ...]


class World(Vocabulary, Protocol):
    """The records that a predicate is judged by."""

    def read(self, kind: str, filters: tree.Filters, name: str) -> Value:
        """A quantity of all records that pass the filters; raise Missing if it is not known."""


@dataclass(frozen=True)
class Step:
    """One comparison: its text, both numbers, what it came to, and whether they are counts."""

    said: str
    left: str
    right: str
    truth: Truth
    exact: bool


@dataclass
class Findings:
    """What an evaluation came to, and by which steps."""

    truth: Truth = None
    missing: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    overlapping: list[str] = field(default_factory=list)


class Nothing(Exception):
    """A number that is not known; why is noted already."""


def interval(value: Value) -> str:
    """A value as people read it: the median, and the interval where there is one."""
    middle = "" if value.middle is None else units.shown(value.middle, value.unit)
    if value.low == value.high:
        return middle
    ends = f"[{units.shown(value.low, value.unit)}, {units.shown(value.high, value.unit)}]"
    return f"{middle} {ends}" if middle else ends


def both(truths: list[Truth], ends: bool) -> Truth:
    """`and` of three values if `ends` is False, `or` if it is True."""
    if ends in truths:
        return ends
    return None if None in truths else not ends


class Evaluation:
    """One predicate and the records it is judged by."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.found = Findings()

    def lack(self, what: str) -> None:
        """Note what is missing, once."""
        if what not in self.found.missing:
            self.found.missing.append(what)

    def number(self, node: tree.Node, bound: Bound) -> Value:
        """The value of a part, or Nothing; what is missing is noted with where."""
        try:
            return self.known(node, bound)
        except Missing as error:
            self.lack(f"{error} ({text(bind(node, bound))})")
            raise Nothing from None

    def known(self, node: tree.Node, bound: Bound) -> Value:
        """The value of a part."""
        match node:
            case tree.Number():
                return values.constant(node.value, node.unit)
            case tree.Name():
                unit = self.world.unit_of(node.name) or units.NONE
                return values.constant(Fraction(dict(bound)[node.name]), unit)
            case tree.Quantity():
                assert isinstance(node.of, tree.Select)
                select = bind_select(node.of, bound, self.world.keys(node.of.kind, node.of.filters))
                return self.world.read(select.kind, select.filters, node.name)
            case tree.Negative():
                return values.negative(self.number(node.of, bound))
            case tree.Arithmetic():
                left, right = self.pair(node.left, node.right, bound)
                sign = {"*": 1, "/": -1}.get(node.sign)
                unit = units.times(left.unit, right.unit, sign) if sign else left.unit
                return values.arithmetic(node.sign, left, right, unit)
            case tree.Call():
                return self.call(node, bound)
            case tree.Aggregate():
                return self.aggregate(node, bound)
        raise TypeError(type(node).__name__)

    def pair(self, left: tree.Node, right: tree.Node, bound: Bound) -> tuple[Value, Value]:
        """Both sides; what is missing on either is noted."""
        found = self.several([left, right], bound)
        return found[0], found[1]

    def several(self, nodes: list[tree.Node], bound: Bound) -> list[Value]:
        """The values of all parts; Nothing if one is not known, after all were asked."""
        found: list[Value] = []
        for each in nodes:
            try:
                found.append(self.number(each, bound))
            except Nothing:
                continue
        if len(found) < len(nodes):
            raise Nothing
        return found

    def call(self, node: tree.Call, bound: Bound) -> Value:
        """min, max, median and abs."""
        found = self.several(list(node.arguments), bound)
        first = found[0]
        if node.function == "abs":
            if first.numbers:
                return values.sample(first.unit, first.exact, first.records,
                                     tuple(map(abs, first.numbers)), first.repeats)
            ends = (abs(first.low), abs(first.high))
            low = Fraction(0) if first.low <= 0 <= first.high else min(ends)
            return Value(first.unit, first.exact, low, max(ends),
                         centre=values.middles(abs, first))
        if len(found) > 1:
            return self.extreme(node.function, found)
        values.check_interval(first)
        if not first.exact:
            return Value(first.unit, False, first.low, first.high, centre=first.middle)
        numbers = first.numbers or (first.low, first.high)
        one = median(numbers) if node.function == "median" else \
            min(numbers) if node.function == "min" else max(numbers)
        return Value(first.unit, True, one, one)

    @staticmethod
    def extreme(function: str, found: list[Value]) -> Value:
        """The smallest or largest of several numbers, or their sum."""
        for each in found:
            values.check_interval(each)
        do: Callable = {"min": min, "max": max, "sum": sum}[function]
        return Value(found[0].unit, all(each.exact for each in found),
                     do(each.low for each in found), do(each.high for each in found),
                     centre=values.middles(lambda *known: do(known), *found))

    def aggregate(self, node: tree.Aggregate, bound: Bound) -> Value:
        """A number made of all values of the body."""
        cases = combinations(node, bound)
        if node.function == "count":
            truths = [self.truth(node.body, case) for case in cases]
            least = truths.count(True)
            return Value(units.NONE, None not in truths, Fraction(least),
                         Fraction(least + truths.count(None)))
        found, lost = [], False
        for case in cases:
            try:
                found.append(self.number(node.body, case))
            except Nothing:
                lost = True
        if lost:
            raise Nothing
        return self.fitted(node, found) if node.function in FITS else \
            self.extreme(node.function, found)

    def fitted(self, node: tree.Aggregate, found: list[Value]) -> Value:
        """A law through the values: once for constants, else once for each repeat of all."""
        key, words = node.keys[0]
        xs = [float(word) for word in words]
        over = self.world.unit_of(key) or units.NONE
        unit = units.times(found[0].unit, over, -1) if node.function == "slope" else units.NONE
        if all(each.low == each.high and not each.numbers for each in found):
            once = fits.fit(node.function, xs, [units.float_of(each.low) for each in found])
            return Value(unit, True, Fraction(once), Fraction(once))
        repeats = min(len(each.numbers) for each in found)
        if repeats < values.LEAST_REPEATS:
            raise Missing(f"{values.LEAST_REPEATS} repeats of each point")
        made = tuple(Fraction(fits.fit(node.function, xs, [units.float_of(each.numbers[turn])
                                                           for each in found]))
                     for turn in range(repeats))
        # Two fits are paired where they are of the same runs.
        names = tuple("+".join(each.records[turn] for each in found) for turn in range(repeats))
        return values.sample(unit, False, names, made)

    def truth(self, node: tree.Node, bound: Bound) -> Truth:
        """The truth of a part. All of it is evaluated, so that all that is missing is named."""
        match node:
            case tree.Logic():
                return both([self.truth(node.left, bound), self.truth(node.right, bound)],
                            node.word == "or")
            case tree.Not():
                found = self.truth(node.of, bound)
                return None if found is None else not found
            case tree.Within():
                return both([self.compared(">=", node.of, node.low, bound),
                             self.compared("<=", node.of, node.high, bound)], False)
            case tree.Compare():
                return self.compared(node.sign, node.left, node.right, bound)
            case tree.Aggregate():
                return both([self.truth(node.body, case) for case in combinations(node, bound)],
                            node.function == "any")
        raise TypeError(type(node).__name__)

    def compared(self, sign: str, left: tree.Node, right: tree.Node, bound: Bound) -> Truth:
        """One comparison, noted as a step."""
        said = text(bind(tree.Compare(0, sign, left, right), bound))
        try:
            one, other = self.pair(left, right, bound)
            found = values.compare(sign, one, other)
        except Nothing:
            return None
        except Missing as error:
            self.lack(f"{error} ({said})")
            return None
        self.found.steps.append(Step(said, interval(one), interval(other), found,
                                     one.exact and other.exact))
        if found is None:
            self.found.overlapping.append(f"{interval(one)} against {interval(other)} ({said})")
        return found


def combinations(node: tree.Aggregate, bound: Bound) -> list[Bound]:
    """Every combination of the keys' values, with those of the aggregates around it."""
    keys = [key for key, _ in node.keys]
    return [(*bound, *zip(keys, values_)) for values_ in
            itertools.product(*(each for _, each in node.keys))]


def bind_select(node: tree.Select, bound: Bound, known: frozenset[str]) -> tree.Select:
    """A selection with the keys of the aggregates around it, where its kind has them and it does
    not say otherwise."""
    mine = {key: (value,) for key, value in bound if key in known}
    return tree.Select(node.at, node.kind, tuple({**mine, **dict(node.filters)}.items()))


def bind(node: tree.Node, bound: Bound) -> tree.Node:
    """A part as a message shows it, with the keys of the aggregates around it."""
    if not bound:
        return node
    return tree.Aggregate(0, "at", tuple((key, (value,)) for key, value in bound), node)


def value_of(node: tree.Node, world: World, bound: Bound = ()) -> tuple[Value | None, list[str]]:
    """The value of a number, with an interval if it is a time; or None and what is missing."""
    run = Evaluation(world)
    try:
        found = run.number(node, bound)
        values.check_interval(found)
    except Nothing:
        return None, run.found.missing
    except Missing as error:
        return None, [str(error)]
    return found, []


def evaluate(node: tree.Node, world: World) -> Findings:
    """Judge a predicate. What is missing anywhere in it leaves it undecided: a part that is not
    measured must not be able to confirm or refute the whole."""
    run = Evaluation(world)
    truth = run.truth(node, ())
    run.found.truth = None if run.found.missing else truth
    return run.found
