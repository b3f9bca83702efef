# SPDX-License-Identifier: GPL-2.0
"""The tree that a predicate is read into; `at` is where in the text each part begins."""
from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .units import Unit

# A filter: its key, and the values of which a record must have one.
Filters = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Node:
    """Any part of a predicate."""

    at: int


@dataclass(frozen=True)
class Number(Node):
    """A number with its unit."""

    value: Fraction
    unit: Unit


@dataclass(frozen=True)
class Name(Node):
    """A name of the file, or a key that an aggregate runs through; refined by more filters."""

    name: str
    filters: Filters = ()


@dataclass(frozen=True)
class Select(Node):
    """Records of one kind that pass all filters."""

    kind: str
    filters: Filters


@dataclass(frozen=True)
class Quantity(Node):
    """What records say of one thing: a value for each of them."""

    of: Node
    name: str


@dataclass(frozen=True)
class Negative(Node):
    """A number with its sign turned."""

    of: Node


@dataclass(frozen=True)
class Arithmetic(Node):
    """+ - * or / of two numbers."""

    sign: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Compare(Node):
    """== != < <= > or >= of two numbers."""

    sign: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Within(Node):
    """A number that lies in an interval, its ends included."""

    of: Node
    low: Node
    high: Node


@dataclass(frozen=True)
class Logic(Node):
    """`and` or `or` of two truths."""

    word: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Not(Node):
    """A truth turned round."""

    of: Node


@dataclass(frozen=True)
class Call(Node):
    """A function of numbers: min, max, median, abs."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Aggregate(Node):
    """A function of all values that a body has while keys run through their values."""

    function: str
    keys: Filters
    body: Node
