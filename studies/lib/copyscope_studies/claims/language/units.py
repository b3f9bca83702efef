# SPDX-License-Identifier: GPL-2.0
"""Units: what each is made of, how two combine, and how a number is shown in one."""
from __future__ import annotations

from fractions import Fraction

# Exponents of base units, without those that are 0, in order: a byte a second is
# (("byte", 1), ("second", -1)).
Unit = tuple[tuple[str, int], ...]
NONE: Unit = ()
# Beyond it nothing is meant by a unit, and its text grows.
MOST_EXPONENT = 6


def made(**exponents: int) -> Unit:
    """A unit of these base units."""
    return tuple(sorted((base, power) for base, power in exponents.items() if power))


def times(one: Unit, other: Unit, sign: int = 1) -> Unit:
    """The unit of a product; of a quotient with sign -1."""
    powers = dict(one)
    for base, power in other:
        powers[base] = powers.get(base, 0) + sign * power
    return made(**powers)


BYTE, SECOND, MESSAGE = made(byte=1), made(second=1), made(message=1)
CALL, PAGE, SWITCH = made(call=1), made(page=1), made(switch=1)
CYCLE, MISS, FAULT = made(cycle=1), made(miss=1), made(fault=1)
RATE, SIZE = made(byte=1, second=-1), made(byte=1, message=-1)

# Name in a predicate: how many of the base units it is, and which.
NAMED: dict[str, tuple[Fraction, Unit]] = {
    **{name: (Fraction(1 << shift), BYTE)
       for name, shift in (("B", 0), ("KiB", 10), ("MiB", 20), ("GiB", 30))},
    **{name: (Fraction(1, 10 ** power), SECOND)
       for name, power in (("s", 0), ("ms", 3), ("us", 6), ("ns", 9))},
    **{name: (Fraction(10 ** power, 8), RATE)
       for name, power in (("Gbps", 9), ("Mbps", 6))},
    **{name: (Fraction(10 ** power), RATE)
       for name, power in (("GBps", 9), ("MBps", 6))},
    **{name: (Fraction(1), unit) for names, unit in (
        (("message", "messages"), MESSAGE), (("call", "calls"), CALL), (("page", "pages"), PAGE),
        (("switch", "switches"), SWITCH), (("cycle", "cycles"), CYCLE),
        (("miss", "misses"), MISS), (("fault", "faults"), FAULT)) for name in names},
    "percent": (Fraction(1, 100), NONE),
}
# What people read a quantity in, the largest first that leaves a digit before the point.
SHOWN: dict[Unit, tuple[str, ...]] = {
    SECOND: ("s", "ms", "us", "ns"), RATE: ("Gbps", "Mbps"),
    made(second=1, byte=-1): ("us per B", "ns per B"), made(second=1, message=-1):
    ("ms per message", "us per message", "ns per message")}


def text(unit: Unit) -> str:
    """A unit in words, such as byte a second."""
    above = [base if power == 1 else f"{base}^{power}" for base, power in unit if power > 0]
    below = [base if power == -1 else f"{base}^{-power}" for base, power in unit if power < 0]
    if not unit:
        return "a plain number"
    return " ".join([*(above or ["1"]), *(["per", *below] if below else [])])


def scaled(value: Fraction, unit: Unit) -> tuple[Fraction, str]:
    """A value in the unit that people read it in, and its name."""
    for words in SHOWN.get(unit, ()):
        factor = NAMED[words.split()[0]][0]
        if abs(value) >= factor or words == SHOWN[unit][-1]:
            return value / factor, words
    return value, "" if not unit else text(unit).replace("byte", "B")


def shown(value: Fraction, unit: Unit) -> str:
    """A number with its unit, six digits at most unless it is whole."""
    number, name = scaled(value, unit)
    whole = number.denominator == 1 and abs(number) < 10 ** 15
    return f"{int(number) if whole else format(float_of(number), '.6g')}{' ' if name else ''}{name}"


def float_of(value: Fraction) -> float:
    """The nearest number that a processor has; infinite beyond them."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
