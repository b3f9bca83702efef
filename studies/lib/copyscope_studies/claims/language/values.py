# SPDX-License-Identifier: GPL-2.0
"""Numbers as records give them: exact in each, or known by the interval of their repeats."""
from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from copyscope.common.spread import rank_below, spread

from .units import Unit

# Fewer repeats hold the true median with less than 95 %.
LEAST_REPEATS = next(n for n in range(2, 100) if rank_below(n) is not None)
COMPARED: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge}
# Which end of which interval decides: true if the worst pair holds, false if the best does not.
DONE: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
# What the numbers of a time are of, as messages call it: of more of them an interval is made.
REPEATS = "repeats"
# Digits of a fraction that is computed with; counters have 64 bits.
MOST_BITS = 4096


class Missing(Exception):
    """Why a number is not known: what would have to be measured."""


@dataclass(frozen=True)
class Value:
    """A number for each of some records, or an interval that is left of such numbers."""

    unit: Unit
    exact: bool
    low: Fraction
    high: Fraction
    # Records by name, and their numbers in the same order; none where only an interval is left.
    records: tuple[str, ...] = ()
    numbers: tuple[Fraction, ...] = ()
    # Where only an interval is left: what the medians came to. None: not even that is known.
    centre: Fraction | None = None
    repeats: str = REPEATS

    @property
    def constant(self) -> bool:
        """It is of no record: written in the predicate, or published."""
        return not self.records and self.low == self.high

    @property
    def middle(self) -> Fraction | None:
        """The median of the repeats, or what was computed from such medians; never the middle of
        an interval, which nobody measured."""
        if self.numbers:
            return median(self.numbers)
        return self.low if self.low == self.high else self.centre


def constant(number: Fraction, unit: Unit) -> Value:
    """A number that is the same for all records."""
    return Value(unit, True, number, number)


def sample(unit: Unit, exact: bool, records: tuple[str, ...], numbers: tuple[Fraction, ...],
           repeats: str = REPEATS) -> Value:
    """A number for each record: counts span all of them, times the interval of their median."""
    if not numbers:
        raise Missing("no record has it")
    # Only a comparison needs the interval: until then few numbers are computed with, too.
    if exact or len(numbers) < LEAST_REPEATS:
        return Value(unit, exact, min(numbers), max(numbers), records, numbers, None, repeats)
    found = spread(numbers)  # type: ignore[arg-type]
    return Value(unit, exact, Fraction(found.low), Fraction(found.high), records, numbers, None,
                 repeats)


def check_interval(value: Value) -> None:
    """Raise Missing if a time has too few repeats for an interval."""
    if not value.exact and value.numbers and len(value.numbers) < LEAST_REPEATS:
        raise Missing(f"{LEAST_REPEATS - len(value.numbers)} more {value.repeats}, as "
                      f"{len(value.numbers)} give no 95 % interval")


def middles(do: Callable[..., Fraction], *found: Value) -> Fraction | None:
    """What the medians of several numbers come to; None if one has none."""
    known = [each.middle for each in found]
    return None if None in known else do(*known)


def check_size(number: Fraction) -> Fraction:
    """Refuse a number that has grown beyond all that is measured."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > MOST_BITS:
        raise Missing("a number of sensible size")
    return number


def arithmetic(sign: str, left: Value, right: Value, unit: Unit) -> Value:
    """Combine record by record where both are of the same ones, else by the ends of intervals."""
    if sign == "/" and (right.low <= 0 <= right.high and not right.numbers or 0 in right.numbers):
        raise Missing("a divisor that is not zero")
    do, exact = DONE[sign], left.exact and right.exact
    if left.numbers and (right.constant or left.records == right.records) or \
            right.numbers and left.constant:
        records = left.records or right.records
        pairs = zip(left.numbers or (left.low,) * len(records),
                    right.numbers or (right.low,) * len(records))
        repeats = next((each.repeats for each in (left, right) if each.repeats != REPEATS), REPEATS)
        return sample(unit, exact, records, tuple(check_size(do(a, b)) for a, b in pairs), repeats)
    check_interval(left)
    check_interval(right)
    if sign == "/" and right.low <= 0 <= right.high:
        raise Missing("a divisor whose interval is away from zero")
    ends = [check_size(do(a, b)) for a in (left.low, left.high) for b in (right.low, right.high)]
    return Value(unit, exact, min(ends), max(ends), centre=middles(do, left, right))


def negative(value: Value) -> Value:
    """A number with its sign turned."""
    return Value(value.unit, value.exact, -value.high, -value.low, value.records,
                 tuple(-each for each in value.numbers), middles(operator.neg, value),
                 value.repeats)


def compare(sign: str, left: Value, right: Value) -> bool | None:
    """Compare two numbers. Counts: true if it holds in every record, false if it fails in one.
    Times: by the interval of the differences if both are of the same records, else true or false
    if it is so wherever in their intervals the numbers lie; None if that decides nothing."""
    holds = COMPARED[sign]
    same = left.records == right.records and left.numbers and right.numbers
    if left.exact and right.exact and (left.numbers or left.low == left.high) and \
            (right.numbers or right.low == right.high):
        if same:
            return all(map(holds, left.numbers, right.numbers))
        return all(holds(a, b) for a in set(left.numbers or (left.low,))
                   for b in set(right.numbers or (right.low,)))
    if same:
        left, right = arithmetic("-", left, right, left.unit), constant(Fraction(0), left.unit)
    check_interval(left)
    check_interval(right)
    truths = {holds(a, b) for a in (left.low, left.high) for b in (right.low, right.high)}
    if sign in ("==", "!=") and truths == {sign == "!="}:
        apart = left.high < right.low or right.high < left.low
        return sign == "!=" if apart else None
    return truths.pop() if len(truths) == 1 else None
