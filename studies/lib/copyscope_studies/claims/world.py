# SPDX-License-Identifier: GPL-2.0
"""The records and published tables that claims are judged by, and what may be asked of them."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import cast

from copyscope.common.text import listed

from . import of_others, of_runs
from .language import expand, tree, units, values
from .language.check import Meaning
from .language.evaluate import interval
from .language.values import Missing, Value
from .published import Table
from .readings import Evidence, Item

KEYS = {"run": of_runs.KEYS - {"row"}, "matrix": of_runs.KEYS - {"profile", "mode", "repeat"},
        "baseline": of_others.BASELINE_KEYS, "crossover": of_others.CROSSOVER_KEYS,
        "fact": of_others.FACT_KEYS, "watch": of_runs.WATCH_KEYS}
# Units of keys that an aggregate may run through; others are plain words or numbers.
KEY_UNITS = {"size": units.SIZE}
# These choose a part of an item, not an item.
PARTS = {"baseline": frozenset(("x", "counter")), "crossover": frozenset(("size",))}
RUNS = {"run": of_runs.QUANTITIES, "matrix": of_runs.QUANTITIES, "watch": of_runs.OF_WATCHES}
OTHERS = {"baseline": of_others.BASELINE, "crossover": of_others.CROSSOVER, "fact": of_others.FACT}
# Of several keys whose words no record has, these are told first.
FIRST = ("profile", "mode")
# Names in a message; a sweep has hundreds of records.
MOST_NAMED = 3


class World:
    """All that claims are judged by."""

    def __init__(self, tables: Iterable[Table] = (), items: Iterable[Item] = ()) -> None:
        self.tables = {each.name: each for each in tables}
        self.items: dict[str, list[Item]] = defaultdict(list)
        self.index: dict[tuple[str, str, str], set[int]] = defaultdict(set)
        self.evidence: list[Evidence] = []
        for each in items:
            self.add(each)

    def add(self, item: Item) -> None:
        """Add an item, and the words that it is found by."""
        place = len(self.items[item.kind])
        self.items[item.kind].append(item)
        for key, word in item.words.items():
            self.index[item.kind, key, word].add(place)

    # What may be asked
    def keys(self, kind: str, filters: tree.Filters) -> frozenset[str]:
        """The filters that a kind of records has; of published tables, those of the table."""
        if kind != "published":
            return KEYS[kind]
        table = self.tables.get(next(iter(dict(filters).get("table", ())), ""))
        return frozenset(("table", *(table.keys if table else ())))

    def unit_of(self, key: str) -> units.Unit | None:
        """The unit of a key's values; None if no kind of records has it."""
        known = any(key in each for each in KEYS.values()) or \
            any(key in each.keys for each in self.tables.values())
        return KEY_UNITS.get(key, units.NONE) if known else None

    def meaning(self, kind: str, filters: tree.Filters, name: str) -> Meaning | str:
        """What a quantity is, or why it is none."""
        if kind == "published":
            return self.column(dict(filters), name)
        if kind in RUNS:
            found = RUNS[kind].get(name)
            if found:
                return found.meaning
        elif name in OTHERS[kind]:
            return OTHERS[kind][name][0]
        known = " ".join(RUNS[kind] if kind in RUNS else OTHERS[kind])
        return f"{kind} has no quantity {name!r}; it has {known}"

    def column(self, filters: dict[str, tuple[str, ...]], name: str) -> Meaning | str:
        """What a column of a published table is."""
        tables = filters.get("table", ())
        if len(tables) != 1:
            return "published needs the filter table=NAME, and one name"
        table = self.tables.get(tables[0])
        if not table:
            known = " ".join(sorted(self.tables)) or "none"
            return f"no published table is called {tables[0]!r}; known are {known}"
        if name not in table.units:
            return f"the table {table.name} has no column {name!r} of numbers; it has " \
                   f"{' '.join(table.units)}"
        return Meaning(table.units[name], True)

    # What they say
    def chosen(self, kind: str, filters: tree.Filters) -> list[Item]:
        """The items that pass the filters; a kernel may be named by its beginning."""
        left = set(range(len(self.items[kind])))
        for key, words in filters:
            if key in PARTS.get(kind, ()):
                continue
            if key == "kernel":
                left &= {place for place in left
                         if self.items[kind][place].words["kernel"].startswith(words)}
            else:
                left &= set().union(*(self.index.get((kind, key, word), set()) for word in words))
        return [self.items[kind][place] for place in sorted(left)]

    def kept_out(self, kind: str, filters: tree.Filters) -> str:
        """A filter that by itself keeps all records out, and what these are of in its place."""
        items = self.items[kind]
        for key, words in sorted(filters, key=lambda each: each[0] not in FIRST) if items else ():
            here = sorted({each.words.get(key) or "unknown" for each in items})
            fits = key in PARTS.get(kind, ()) or any(
                each.startswith(words) if key == "kernel" else each in words for each in here)
            if not fits:
                more = ["others"] if len(here) > MOST_NAMED else []
                return f": these are of {key} {listed([*here[:MOST_NAMED], *more])}, and none is " \
                    f"of {listed(words, 'or')}"
        return "" if items else f": there is no {kind} among them"

    def read(self, kind: str, filters: tree.Filters, name: str) -> Value:
        """A quantity of all records that pass the filters; raise Missing if it is not known."""
        said = expand.text(tree.Quantity(0, tree.Select(0, kind, filters), name))
        if kind == "published":
            found = self.tables[dict(filters)["table"][0]].read(filters, name)
            self.evidence.append(Evidence(said, found, ("published by the report",)))
            return found
        items = self.chosen(kind, filters)
        if not items:
            raise Missing(f"no record passes these filters{self.kept_out(kind, filters)}")
        if kind in RUNS:
            fitting = items if kind == "watch" else of_runs.fitting(items, name)
            return self.of_runs(fitting, name, said)
        if kind == "fact":
            found, hows = of_others.of_fact(items, name)
            self.evidence.append(Evidence(said, found, hows))
            return found
        read = of_others.of_baseline if kind == "baseline" else of_others.of_crossover
        found = read(items, of_others.plain(filters, PARTS[kind]), name)
        self.evidence.append(Evidence(said, found, ("measured, without probes",)))
        return found

    def of_runs(self, items: list[Item], name: str, said: str) -> Value:
        """A quantity of runs, each of which must have it."""
        quantity = RUNS[items[0].kind][name]
        readings = [(each, quantity.read(cast(of_runs.Record, each.data))) for each in items]
        lost = [(each, reading.how) for each, reading in readings if reading.number is None]
        if lost:
            raise Missing(f"{lost[0][1]}: {named([each for each, _ in lost])}")
        points = sorted({each.point for each in items})
        if not quantity.meaning.exact and len(points) > 1:
            raise Missing("repeats of one point, where these records are of "
                          f"{len(points)}; narrow the selection")
        found = values.sample(quantity.meaning.unit, quantity.meaning.exact,
                              tuple(each.name for each in items),
                              tuple(reading.number for _, reading in readings
                                    if reading.number is not None), quantity.repeats)
        self.evidence.append(Evidence(said, found, tuple(sorted({each.how
                                                                 for _, each in readings}))))
        return found


def named(items: list[Item]) -> str:
    """Some records by name, and how many more there are."""
    names = list(dict.fromkeys(each.name for each in items))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def evidence_line(found: Evidence) -> str:
    """One quantity in words: value and interval, records, how it is known."""
    value = found.value
    records = [name.split(", ")[0] for name in value.records]
    names = list(dict.fromkeys(records))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    count = f"n = {len(value.numbers)}: " if value.numbers else ""
    where = f"; {count}{', '.join(names[:MOST_NAMED])}{more}" if names else ""
    return f"{found.said} = {interval(value)} ({', '.join(found.hows)}{where})"
