# SPDX-License-Identifier: GPL-2.0
"""Puts what names stand for in their places, and writes a tree as text again."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

from . import tree, units
from .fault import Fault

# Names may stand for names: without a limit, ten lines could become a million parts.
MOST_PARTS = 2000
# Each level takes several frames of Python's stack, of which there are a thousand.
MOST_LEVELS = 100


class Expansion:
    """Expands one tree by the trees of names."""

    def __init__(self, names: Mapping[str, tree.Node]) -> None:
        self.names = names
        self.parts = self.level = 0
        self.within: list[str] = []

    def whole(self, node: tree.Node, bound: frozenset[str] = frozenset()) -> tree.Node:
        """The tree without names, but for the keys that an aggregate around them runs through."""
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise Fault(node.at, f"with its names put in, it has more than {MOST_PARTS} parts")
        if self.level >= MOST_LEVELS:
            raise Fault(node.at, f"it is nested more than {MOST_LEVELS} deep")
        self.level += 1
        found = self.expanded(node, bound)
        self.level -= 1
        return found

    def expanded(self, node: tree.Node, bound: frozenset[str]) -> tree.Node:
        """One part of it and all below."""
        if isinstance(node, tree.Name):
            return self.named(node, bound)
        if isinstance(node, tree.Aggregate):
            bound |= {key for key, _ in node.keys}
        made = {}
        for each in fields(node):
            part = getattr(node, each.name)
            if isinstance(part, tree.Node):
                made[each.name] = self.whole(part, bound)
            elif part and isinstance(part, tuple) and isinstance(part[0], tree.Node):
                made[each.name] = tuple(self.whole(inner, bound) for inner in part)
        return replace(node, **made) if made else node

    def named(self, node: tree.Name, bound: frozenset[str]) -> tree.Node:
        """What a name stands for, with its further filters."""
        if node.name in bound:
            if node.filters:
                raise Fault(node.at, f"{node.name} is a number here: filters cannot follow")
            return node
        if node.name not in self.names:
            raise Fault(node.at, f"the name {node.name!r} is not known")
        if node.name in self.within:
            circle = " -> ".join([*self.within[self.within.index(node.name):], node.name])
            raise Fault(node.at, f"the names form a cycle: {circle}")
        self.within.append(node.name)
        # The keys around the name mean nothing in what it stands for.
        found = self.whole(self.names[node.name])
        self.within.pop()
        if not node.filters:
            return found
        if not isinstance(found, tree.Select):
            raise Fault(node.at, f"{node.name} selects no records: filters cannot follow")
        return tree.Select(node.at, found.kind, tuple({**dict(found.filters),
                                                       **dict(node.filters)}.items()))


def expand(node: tree.Node, names: Mapping[str, tree.Node]) -> tree.Node:
    """Expand one tree; raise Fault for names that are unknown or stand for themselves."""
    return Expansion(names).whole(node)


def filters_text(filters: tree.Filters) -> str:
    """Filters as they are written."""
    return ", ".join(f"{key}={'|'.join(quoted(each) for each in values)}"
                     for key, values in filters)


def quoted(value: str) -> str:
    """The value of a filter as it is written."""
    return value if value.replace("-", "").replace(".", "").replace("_", "").isalnum() and \
        value.isascii() else f"'{value}'"


def text(node: tree.Node) -> str:
    """A tree as text that would be read into it again."""
    match node:
        case tree.Number():
            return units.shown(node.value, node.unit)
        case tree.Name():
            return node.name + (f"({filters_text(node.filters)})" if node.filters else "")
        case tree.Select():
            return f"{node.kind}({filters_text(node.filters)})"
        case tree.Quantity():
            return f"{text(node.of)}.{node.name}"
        case tree.Negative():
            return f"-{text(node.of)}"
        case tree.Not():
            return f"not {text(node.of)}"
        case tree.Within():
            return f"{text(node.of)} in [{text(node.low)}, {text(node.high)}]"
        case tree.Call():
            return f"{node.function}({', '.join(map(text, node.arguments))})"
        case tree.Aggregate():
            return f"{node.function}({filters_text(node.keys)}: {text(node.body)})"
        case tree.Logic():
            return f"{text(node.left)} {node.word} {text(node.right)}"
        case tree.Arithmetic() | tree.Compare():
            return f"{side(node.left)} {node.sign} {side(node.right)}"
    raise TypeError(type(node).__name__)


def side(node: tree.Node) -> str:
    """One side of a sign, in brackets where they are needed."""
    return f"({text(node)})" if isinstance(node, tree.Arithmetic) else text(node)
