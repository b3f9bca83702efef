# SPDX-License-Identifier: GPL-2.0
"""The quantities of baselines, crossovers and facts, and what filters compare of them."""
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from statistics import median
from typing import Any

from .language import tree, units, values
from .language.check import Meaning
from .language.values import Missing, Value
from .readings import Item

# The unit of a row: how many of ours it is.
TIMES = {"ns": Fraction(1, 10 ** 9), "us": Fraction(1, 10 ** 6), "ms": Fraction(1, 10 ** 3)}
RATES = {"GB/s": Fraction(10 ** 9), "Mbit/s": Fraction(10 ** 6, 8)}
SIZES = {"MiB": Fraction(1 << 20)}
CLOCKS = {"GHz": Fraction(10 ** 9)}
FACTORS = {"time": TIMES, "rate": RATES, "size": SIZES, "core_clock": CLOCKS}
# The row whose number is the clock of the core, in whatever row of the record it is asked for.
CLOCK = "core-clock"
# Of which a time of a baseline needs several: runs of one are no repeats of each other.
RECORDS = "records of the baseline"
USABLE = ("valid", "unchecked")
# Of a crossover that was not found: larger than any message.
MOST_SIZE = 1 << 62

BASELINE: dict[str, tuple[Meaning, str]] = {
    "time": (Meaning(units.SECOND, False), "what a row of time costs"),
    "rate": (Meaning(units.RATE, False), "what a row of bandwidth reaches"),
    "size": (Meaning(units.BYTE, False), "what a row of sizes found"),
    "curve_time": (Meaning(units.SECOND, False), "one point of a row's curve, at x"),
    "curve_rate": (Meaning(units.RATE, False), "one point of a row's curve, at x"),
    "core_clock": (Meaning(units.made(cycle=1, second=-1), False),
                   "cycles of a core a second, by the row core-clock of the same record"),
    "per_call": (Meaning(units.NONE, True), "what a counter counted for each call of the row"),
}
BASELINE_KEYS = frozenset(("row", "x", "counter", "kernel"))
CROSSOVER: dict[str, tuple[Meaning, str]] = {
    "ratio": (Meaning(units.NONE, False), "first's time over second's, at a size"),
    "from_size": (Meaning(units.SIZE, False), "the size from which second is the faster one"),
    "crosses": (Meaning(units.NONE, True), "1 if second becomes the faster one at some size"),
}
CROSSOVER_KEYS = frozenset(("profile", "first", "second", "path", "pattern", "threads", "size"))

FACT: dict[str, tuple[Meaning, str]] = {
    "number": (Meaning(units.NONE, True), "a fact that is a plain number"),
    "bytes": (Meaning(units.BYTE, True), "a fact that is a number of bytes"),
}
FACT_KEYS = frozenset(("name", "of", "size", "kernel"))


def baseline_items(data: dict[str, Any]) -> Iterator[Item]:
    """Each row of a baseline."""
    machine = data["machine"]
    place = f"{machine['cpu_model']}, {machine['cpus']} CPUs, {machine['kernel']}"
    clock = next((row for row in data["rows"] if row["row"] == CLOCK), None)
    for row in data["rows"]:
        yield Item("baseline", data["id"], {"row": row["row"], "kernel": machine["kernel"]},
                   {**row, "emulated": machine["emulated"], "clock": clock, "machine": machine},
                   f"{row['row']} {place}")


def usable(item: Item) -> dict[str, Any]:
    """A row that was measured on a machine that is not emulated."""
    row: dict[str, Any] = item.data  # type: ignore[assignment]
    if row["emulated"]:
        raise Missing("a machine that is not emulated")
    if row["status"] not in USABLE or not row.get("measured"):
        raise Missing(f"the row {row['row']} of a baseline, which is {row['status']} in "
                      f"{item.name}: {row.get('why') or 'no reason is given'}")
    return row


def counted(item: Item, counter: str) -> Fraction:
    """What the counting pass of a row counted, for each call, also on an emulated machine; of a
    row that its counts made invalid, too: else no count could be another than its invariant
    says."""
    row: dict[str, Any] = item.data  # type: ignore[assignment]
    told = row if row["status"] in (*USABLE, "invalid") else usable(item)
    proof = told.get("proof") or {"calls": 0, "invariants": []}
    for each in proof["invariants"] if proof["calls"] else ():
        if each["counter"] == counter and each["counted"] is not None:
            return Fraction(each["counted"]) / proof["calls"]
    raise Missing(f"the counter {counter!r} of the row {item.words['row']}")


def real(items: list[Item]) -> list[Item]:
    """Rows of machines that are not emulated, where there are any: a guest has counts alone."""
    rows: list[dict[str, Any]] = [each.data for each in items]  # type: ignore[misc]
    return [each for each, row in zip(items, rows) if not row["emulated"]] or items


def of_baseline(items: list[Item], filters: dict[str, tuple[str, ...]], name: str) -> Value:
    """A quantity of the same row in all baselines."""
    items = real(items)
    if len({each.point for each in items}) > 1:
        raise Missing("records of one row and one machine; narrow the selection")
    meaning = BASELINE[name][0]
    if name == "core_clock":
        items = clocks(items)
    ids = tuple(each.name for each in items)
    if name == "per_call":
        return values.sample(meaning.unit, True, ids, tuple(
            counted(each, filters.get("counter", ("",))[0]) for each in items))
    if name.startswith("curve"):
        return curve(items, filters, meaning, name.removeprefix("curve_"))
    # Runs of one record are alike, and records differ: the interval is over records.
    return values.sample(meaning.unit, False, ids, tuple(one_record(each, name) for each in items),
                         RECORDS)


def one_record(item: Item, name: str) -> Fraction:
    """A row of one baseline: the median of its runs."""
    row = usable(item)
    factor = factor_of(row["unit"], FACTORS[name], row["row"])
    found = row["measured"].get("values") or [row["measured"]["value"]]
    return Fraction(median(found)) * factor


def clocks(items: list[Item]) -> list[Item]:
    """The rows of the core's clock. Records made before there was one are passed over where others
    have it."""
    rows: list[dict[str, Any]] = [each.data for each in items]  # type: ignore[misc]
    return [clock_of(each) for each in
            [each for each, row in zip(items, rows) if row["clock"]] or items]


def clock_of(item: Item) -> Item:
    """The row of the core's clock in the same record."""
    row: dict[str, Any] = item.data  # type: ignore[assignment]
    if not row["clock"]:
        raise Missing(f"the row {CLOCK} of a baseline: {item.name} was made before there was one")
    return replace(item, data={**row["clock"], "emulated": row["emulated"]})


def factor_of(unit: str, factors: dict[str, Fraction], row: str) -> Fraction:
    """How many of our units one of a row's is."""
    if unit not in factors:
        raise Missing(f"a quantity of another kind: the row {row} is in {unit}")
    return factors[unit]


def curve(items: list[Item], filters: dict[str, tuple[str, ...]], meaning: Meaning,
          name: str) -> Value:
    """One point of a row's curve, a median for each baseline that has it. A quick one has fewer
    points."""
    wanted, found = Fraction(filters.get("x", ("0",))[0]), {}
    for each in items:
        row = usable(each)
        points = row.get("curve") or {"points": [], "unit": row["unit"]}
        factor = factor_of(points["unit"], FACTORS[name], row["row"])
        for point in points["points"]:
            if point["x"] == wanted:
                found[each.name] = Fraction(point["value"]) * factor
    if not found:
        raise Missing(f"a point at {float(wanted):g} of the curve of the row "
                      f"{items[0].words['row']}")
    return values.sample(meaning.unit, False, tuple(found), tuple(found.values()), RECORDS)


def crossover_item(data: dict[str, Any], name: str) -> Item:
    """A crossover as selections find it."""
    first, second = data.get("labels") or (data["first"], data["second"])
    words = {"profile": data.get("profile", ""), "first": first, "second": second,
             "path": data["path"]["kind"], "pattern": data["pattern"],
             "threads": str(data["threads"])}
    return Item("crossover", name, words, data)


def of_crossover(items: list[Item], filters: dict[str, tuple[str, ...]], name: str) -> Value:
    """A quantity of one crossover."""
    if len(items) > 1:
        raise Missing("one crossover; narrow the selection")
    data: dict[str, Any] = items[0].data  # type: ignore[assignment]
    if data["machine"]["emulated"]:
        raise Missing("a machine that is not emulated")
    answer = data["answer"]
    second = data["second"]
    crosses = answer["kind"] == "crossover" and answer["faster_above"] == second
    if name == "ratio":
        wanted = Fraction(filters.get("size", ("0",))[0])
        at = next((each for each in data["sizes"] if each["bytes"] == wanted), None)
        if at is None:
            raise Missing(f"pairs at {float(wanted):g} bytes in {items[0].name}")
        return Value(units.NONE, False, Fraction(at["ratio_low"]), Fraction(at["ratio_high"]),
                     centre=Fraction(at["ratio"]))
    if answer["kind"] == "undecided":
        raise Missing(f"more pairs: {items[0].name} is undecided")
    if name == "crosses":
        return values.constant(Fraction(crosses), units.NONE)
    low, high = Fraction(answer["low_bytes"]), Fraction(answer["high_bytes"])
    if answer["kind"] == "none":
        # Beyond all sizes that were tried, or below them.
        always = answer["faster_above"] == second
        low, high = (Fraction(0), low) if always else (high, Fraction(MOST_SIZE))
    elif not crosses:
        raise Missing(f"a size from which second is faster: in {items[0].name} it is up to one")
    else:
        # Among sizes that are undecided there may be some at which first wins: it is beyond them.
        low = max([low, *(Fraction(each["bytes"]) for each in data["sizes"]
                          if each["winner"] == "first" and each["bytes"] < high)])
    return Value(units.SIZE, False, low, high)


def fact_items(data: dict[str, Any]) -> Iterator[Item]:
    """Each fact of a record. One that is of a number can be filtered by it as a size."""
    kernel = data["machine"]["kernel"]
    for each in data["facts"]:
        words = {"name": each["name"], "of": each["of"], "kernel": kernel}
        if each["of"].isdigit():
            words["size"] = each["of"]
        yield Item("fact", data["id"], words, {**each, "machine": data["machine"]},
                   f"{each['name']} {each['of']} {kernel}")


def of_fact(items: list[Item], name: str) -> tuple[Value, tuple[str, ...]]:
    """A fact in all records that have it, and how it is known."""
    found: list[dict[str, Any]] = [each.data for each in items]  # type: ignore[misc]
    lost = next((each for each in found if each["number"] is None), None)
    if lost:
        raise Missing(f"{lost['means']}: {lost['why']}")
    value = values.sample(FACT[name][0].unit, True, tuple(each.name for each in items),
                          tuple(Fraction(each["number"]) for each in found))
    return value, tuple(dict.fromkeys(f"counted, {each['how']}" for each in found))


def plain(filters: tree.Filters, keys: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """The filters that do not choose items but a part of them."""
    found = {key: words for key, words in filters if key in keys}
    for key in ("x", "size"):
        words = found.get(key, ("0",))
        if len(words) > 1 or not re.fullmatch(r"[0-9]{1,20}", words[0], re.ASCII):
            raise Missing(f"one whole number for {key}, which is {'|'.join(words)}")
    return found
