# SPDX-License-Identifier: GPL-2.0
"""Reads the text of a predicate into its tree, by descent; docs/CLAIMS.md has the grammar."""
from __future__ import annotations

from fractions import Fraction

from . import tree, units
from .fault import Fault
from .tokens import Token, Tokens, described

KINDS = ("run", "matrix", "baseline", "crossover", "fact", "watch", "published")
CALLS = ("min", "max", "median", "abs")
FITS = ("linear_r2", "log_r2", "law_r2", "slope")
AGGREGATES = ("all", "any", "count", "sum", "min", "max", *FITS)
WORDS = ("and", "or", "not", "in", "per")
RESERVED = frozenset((*KINDS, *CALLS, *AGGREGATES, *WORDS, *units.NAMED))
# Deeper than any person writes, and far from the depth that ends Python.
MOST_DEPTH, MOST_VALUES, MOST_SIGNS = 40, 64, 80


class Parser:
    """One text."""

    def __init__(self, text: str) -> None:
        self.tokens = Tokens(text)
        self.depth = self.signs = 0

    def sign(self, *texts: str) -> Token | None:
        """The next piece if it is one of these that join two parts. A long row is a deep tree."""
        found = self.tokens.take_if(*texts)
        self.signs += found is not None
        if found and self.signs > MOST_SIGNS:
            raise Fault(found.at, f"it has more than {MOST_SIGNS} signs; give parts of it names")
        return found

    def whole(self) -> tree.Node:
        """The tree of the whole text."""
        found = self.either()
        if self.tokens.next.kind != "end":
            raise Fault(self.tokens.next.at, f"{described(self.tokens.next)} cannot follow here; "
                        f"units are {', '.join(units.NAMED)}")
        return found

    def either(self) -> tree.Node:
        """`or`, which binds least."""
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise Fault(self.tokens.next.at, f"it is nested more than {MOST_DEPTH} deep")
        left = self.both()
        while word := self.sign("or"):
            left = tree.Logic(word.at, "or", left, self.both())
        self.depth -= 1
        return left

    def both(self) -> tree.Node:
        """`and`."""
        left = self.negated()
        while word := self.sign("and"):
            left = tree.Logic(word.at, "and", left, self.negated())
        return left

    def negated(self) -> tree.Node:
        """`not`; at most once, as twice says nothing."""
        word = self.tokens.take_if("not")
        return tree.Not(word.at, self.comparison()) if word else self.comparison()

    def comparison(self) -> tree.Node:
        """A comparison of two sums, a sum within an interval, or a sum alone."""
        left = self.added()
        if sign := self.tokens.take_if("==", "!=", "<", "<=", ">", ">="):
            return tree.Compare(sign.at, sign.text, left, self.added())
        if word := self.tokens.take_if("in"):
            self.tokens.need("[")
            low = self.added()
            self.tokens.need(",")
            high = self.added()
            self.tokens.need("]")
            return tree.Within(word.at, left, low, high)
        return left

    def added(self) -> tree.Node:
        """A sum."""
        left = self.multiplied()
        while sign := self.sign("+", "-"):
            left = tree.Arithmetic(sign.at, sign.text, left, self.multiplied())
        return left

    def multiplied(self) -> tree.Node:
        """A product."""
        left = self.signed()
        while sign := self.sign("*", "/"):
            left = tree.Arithmetic(sign.at, sign.text, left, self.signed())
        return left

    def signed(self) -> tree.Node:
        """A number, with a sign before it if it is negative."""
        sign = self.tokens.take_if("-")
        return tree.Negative(sign.at, self.quantity()) if sign else self.quantity()

    def quantity(self) -> tree.Node:
        """A primary, or what records that it selects say of something."""
        found = self.primary()
        while dot := self.tokens.take_if("."):
            word = self.tokens.take()
            if word.kind != "word":
                raise Fault(word.at, f"the name of a quantity must follow, not {described(word)}")
            found = tree.Quantity(dot.at, found, word.text)
        return found

    def primary(self) -> tree.Node:
        """A number, a name, a selection, a function, or anything in brackets."""
        token = self.tokens.take()
        if token.kind == "number":
            return self.number(token.at, token.text)
        if token.text == "(":
            found = self.either()
            self.tokens.need(")")
            return found
        if token.kind != "word" or token.text in WORDS:
            raise Fault(token.at, f"{described(token)} cannot stand here")
        if token.text in units.NAMED:
            raise Fault(token.at, f"the unit {token.text!r} must follow a number")
        if token.text in KINDS:
            return tree.Select(token.at, token.text, self.filters())
        if token.text in AGGREGATES or token.text in CALLS:
            return self.function(token.at, token.text)
        refined = self.filters() if self.tokens.next.text == "(" else ()
        return tree.Name(token.at, token.text, refined)

    def number(self, at: int, text: str) -> tree.Node:
        """A number and what it counts, such as 8 calls per message."""
        value, unit = Fraction(text.replace("_", "")), units.NONE
        if self.tokens.next.text in units.NAMED:
            factor, unit = units.NAMED[self.tokens.take().text]
            value *= factor
        if self.tokens.take_if("per"):
            below = self.tokens.take()
            if below.text not in units.NAMED:
                raise Fault(below.at, f"a unit must follow per, not {described(below)}")
            factor, under = units.NAMED[below.text]
            value, unit = value / factor, units.times(unit, under, -1)
        return tree.Number(at, value, unit)

    def pairs(self) -> tree.Filters:
        """key=value|value, key=value"""
        found: dict[str, tuple[str, ...]] = {}
        while True:
            key = self.tokens.take()
            if key.kind != "word":
                raise Fault(key.at, f"the key of a filter must stand here, not {described(key)}")
            if key.text in found:
                raise Fault(key.at, f"the filter {key.text} stands twice")
            if self.tokens.next.text != "=":
                raise Fault(self.tokens.next.at, "'=' must follow the key of a filter, not "
                            f"{described(self.tokens.next)}")
            values = [self.tokens.value()]
            while self.tokens.next.text == "|":
                values.append(self.tokens.value())
            if len(values) > MOST_VALUES or len(set(values)) < len(values):
                raise Fault(key.at, f"{key.text} must have at most {MOST_VALUES} values, all "
                            "different")
            found[key.text] = tuple(values)
            if not self.tokens.take_if(","):
                return tuple(found.items())

    def filters(self) -> tree.Filters:
        """(key=value, ...)"""
        self.tokens.need("(")
        if self.tokens.take_if(")"):
            return ()
        found = self.pairs()
        self.tokens.need(")")
        return found

    def function(self, at: int, name: str) -> tree.Node:
        """all(size=64|512: ...), or min(one, other)."""
        self.tokens.need("(")
        if self.tokens.next.kind == "word" and self.tokens.followed_by_equals():
            if name not in AGGREGATES:
                raise Fault(at, f"{name} takes numbers, not keys; {' '.join(AGGREGATES)} take keys")
            keys = self.pairs()
            self.tokens.need(":")
            body = self.either()
            self.tokens.need(")")
            return tree.Aggregate(at, name, keys, body)
        if name not in CALLS:
            raise Fault(at, f"{name} needs keys, such as {name}(size=64|512: ...)")
        arguments = [self.either()]
        while self.tokens.take_if(","):
            arguments.append(self.either())
        self.tokens.need(")")
        return tree.Call(at, name, tuple(arguments))


def parse(text: str) -> tree.Node:
    """Read a predicate; raise Fault with the place of what is wrong."""
    return Parser(text).whole()
