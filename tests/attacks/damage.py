# SPDX-License-Identifier: GPL-2.0
"""Damages what is no JSON, such as profiles: a tree by its nodes, any text by its bytes."""
from __future__ import annotations

import copy
from random import Random
from typing import Any

# In place of any value: other types, numbers at and beyond limits, text that moves a cursor.
VALUES = [None, True, False, 0, -1, 1, 2, 1.5, -0.0, 1e308, -1e308, 1e-320, 2**31, 2**53 + 1, 2**63,
          2**64, -2**63, 10**7, 10**30, 10**400, float("nan"), float("inf"), float("-inf"), "", " ",
          "x", "0", "NaN", "a" * 5000, "\x1b[2J", "\x00", "\x7f\x9b", "\u202e", "\ud800", "a\nb",
          "../../x", "/etc/passwd", "A1", "A3", "balanced", "measured", "host", [], [[]], [None],
          [0] * 50, {}, {"": None}, {"value": None}, {"x": {"x": {}}}]


def nodes(tree: Any, at: tuple = ()) -> list[tuple]:
    """The way to every node below the root."""
    found = []
    if isinstance(tree, dict):
        pairs = list(tree.items())
    elif isinstance(tree, list):
        pairs = list(enumerate(tree))
    else:
        return found
    for key, value in pairs:
        found.append((*at, key))
        found += nodes(value, (*at, key))
    return found


def _holder(tree: Any, way: tuple) -> Any:
    """What holds the node at the end of a way."""
    for key in way[:-1]:
        tree = tree[key]
    return tree


def damage_tree(tree: Any, dice: Random) -> Any:
    """A copy with one to three nodes replaced, dropped, renamed, repeated or wrapped."""
    tree = copy.deepcopy(tree)
    if dice.random() < 0.02:
        return copy.deepcopy(dice.choice(VALUES))
    for _ in range(dice.choice([1, 1, 2, 3])):
        ways = nodes(tree)
        if not ways:
            return tree
        # By depth first, or the thousand leaves would leave the few branches alone.
        depth = dice.choice(sorted({len(way) for way in ways}))
        way = dice.choice([each for each in ways if len(each) == depth])
        holder, key = _holder(tree, way), way[-1]
        act = dice.randrange(8)
        if act < 4:
            holder[key] = copy.deepcopy(dice.choice(VALUES))
        elif act == 4:
            del holder[key]
        elif act == 5 and isinstance(holder, dict):
            holder[str(dice.choice(["", "x", "\x1b", key])) + str(key)] = holder.pop(key)
        elif act == 6 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        else:
            holder[key] = dice.choice([[holder[key]], {"value": holder[key]}, str(holder[key])])
    return tree


def damage_text(text: bytes, dice: Random) -> bytes:
    """The bytes with one to four things done to them: flipped, cut, doubled, joined."""
    data = bytearray(text)
    for _ in range(dice.choice([1, 1, 2, 4])):
        at = dice.randrange(len(data) + 1)
        length = min(dice.choice([1, 1, 2, 8, 100, 4000]), len(data) - at)
        act = dice.randrange(7)
        if act == 0 and at < len(data):
            data[at] ^= 1 << dice.randrange(8)
        elif act == 1:
            del data[at:at + length]
        elif act == 2:
            del data[at:]
        elif act == 3:
            data[at:at] = data[at:at + length]
        elif act == 4:
            data[at:at] = dice.randbytes(dice.choice([1, 2, 8]))
        elif act == 5:
            data[at:at] = dice.choice([b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"[" * 2000, b"{\"a\":" * 500,
                                       b"9" * 400, b"\"", b",", b"}", b"\x1b[31m", b"NaN", b"-"])
        elif length:
            other = dice.randrange(len(data) - length + 1)
            data[at:at + length] = data[other:other + length]
    return bytes(data)
