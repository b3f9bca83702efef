# SPDX-License-Identifier: GPL-2.0
"""What a record says of one thing: the number and how it is known, or why it is not."""
from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .language.values import Value


@dataclass(frozen=True)
class Reading:
    """A number of one record; None says why in `how`."""

    number: Fraction | None
    how: str


@dataclass(frozen=True)
class Item:
    """One thing that a selection can find: its kind, its name, the words that filters compare."""

    kind: str
    name: str
    words: dict[str, str]
    # The record, or the part of it that this is.
    data: object
    # What must be equal for two to be repeats of each other.
    point: str = ""


@dataclass(frozen=True)
class Evidence:
    """One quantity of the records that a claim was judged by."""

    said: str
    value: Value
    hows: tuple[str, ...]


def number(value: float | int | None, how: str, why: str | None = None,
           factor: Fraction = Fraction(1)) -> Reading:
    """A reading of a number of a document, None for what was not measured."""
    if value is None:
        return Reading(None, why or "not measured")
    return Reading(Fraction(value) * factor, how)
