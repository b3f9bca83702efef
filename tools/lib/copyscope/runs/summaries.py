# SPDX-License-Identifier: GPL-2.0
"""Writes the tables in which a report compares points, with what it published beside ours.

A row names the label, size and threads that all of its cells have in common. A column is a header
and what it shows: a word (label, size, threads), or a quantity with what the row does not name:

    throughput_gbps of A2 at 4096 with 8

A quantity can be compared with that of another label, or with that of other threads:

    throughput_gbps of A2 over A1       their ratio            context_switches with 8 over 4
    throughput_gbps of A2 above A1      how much more, in per cent of A1
    llc_misses of A2 below A1           how much less, in per cent of A1
    throughput_gbps of A1 or A3         the label with more, "undecided" where intervals overlap
"""
from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from copyscope.common import spread
from copyscope.common.errors import Unusable
from copyscope.records.run_record import Record

from .values import COUNTS, EVENTS, column, modelled_columns

Cell = str | float | int | None
WORDS = ("label", "size", "threads")
QUANTITY = re.compile(r"(?P<what>[a-z0-9_]+)(?: of (?P<label>[\w.+-]+))?"
                      r"(?: at (?P<size>\d{1,8}))?(?: with (?P<threads>\d{1,4}))?"
                      r"(?: (?P<how>over|above|below|or) (?P<other>[\w.+-]{1,100}))?", re.ASCII)
KEYS = {"file", "note", "columns", "rows"}
MODELLED_SAID, COMPARED_SAID = "(modelled, a message)", "(modelled)"
DURATIONS = ("Seconds a run", "Seconds a run, published")
ROW_KEYS = {*WORDS, "published"}


def durations(plan: dict[str, Any], records: Collection[Record]) -> tuple[float, float] | None:
    """Seconds of our runs and of the report's, if they differ: counts are of as long."""
    mine = {each.asked_s for each in records if each.asked_s is not None}
    other: float | None = plan.get("report_seconds")
    return None if other is None or not mine or mine == {other} else (max(mine), other)


def counts(summary: dict[str, Any]) -> bool:
    """Whether a table shows how many events there were in a run, which is the more the longer it
    took."""
    shown = [QUANTITY.fullmatch(what) for _, what in summary["columns"]]
    return any(each and not each["how"] and each["what"] in COUNTS for each in shown)


class Found:
    """The repeats of every point, by what tells points apart."""

    def __init__(self, plan: dict[str, Any], groups: dict[str, list[Record]]) -> None:
        self.settings = plan["settings"]
        points = {each["name"]: each for each in plan["points"]}
        self.modelled = modelled_columns(EVENTS, self.settings,
                                         [each for group in groups.values() for each in group])
        self.durations = durations(plan, [each for group in groups.values() for each in group])
        self.groups = {tuple(points[name][word] for word in WORDS): group
                       for name, group in groups.items()}

    def spread(self, at: dict[str, Any], what: str) -> spread.Spread | None:
        """The median of a quantity at a point; None if it was neither measured nor modelled."""
        group = self.groups.get(tuple(at.get(word) for word in WORDS), [])
        values = [value for value in (column(each, self.settings, what, what in self.modelled)
                                      for each in group) if value is not None]
        return spread.spread(values, what in COUNTS) if values else None  # type: ignore[arg-type]


def compared(mine: spread.Spread, other: spread.Spread, how: str,
             labels: tuple[str, str]) -> Cell:
    """One quantity held against another."""
    if how == "or":
        if mine.low <= other.high and other.low <= mine.high:
            return "undecided"
        return labels[mine.middle < other.middle]
    if not other.middle:
        return None
    ratio = mine.middle / other.middle
    return {"over": ratio, "above": (ratio - 1) * 100, "below": (1 - ratio) * 100}[how]


def cell(found: Found, row: dict[str, Any], text: str) -> Cell:
    """What a column shows in a row."""
    if text in WORDS:
        return row.get(text)
    parts = QUANTITY.fullmatch(text)
    assert parts
    at = {word: row.get(word) for word in WORDS}
    at |= {word: int(value) if value.isdigit() and word != "label" else value
           for word in WORDS if (value := parts[word])}
    mine = found.spread(at, parts["what"])
    if not parts["how"]:
        return mine.middle if mine else None
    word = "threads" if parts["other"].isdigit() else "label"
    with_other = {**at, word: int(parts["other"]) if word == "threads" else parts["other"]}
    other = found.spread(with_other, parts["what"])
    return compared(mine, other, parts["how"], (at["label"], parts["other"])) \
        if mine and other else None


def header(summary: dict[str, Any], modelled: Collection[str] = (),
           lasted: tuple[float, float] | None = None) -> list[str]:
    """Headers; after each that shows a quantity the report's own, if it published any. Of modelled
    quantities they say so. At the end how long runs took, if counts are of another time."""
    published = any("published" in row for row in summary["rows"])
    found = []
    for name, what in summary["columns"]:
        parts = QUANTITY.fullmatch(what)
        said = COMPARED_SAID if parts and parts["how"] else MODELLED_SAID
        found.append(f"{name} {said}" if parts and parts["what"] in modelled else name)
        if published and what not in WORDS:
            found.append(f"{name}, published")
    return [*found, *DURATIONS] if lasted and counts(summary) else found


def rows(summary: dict[str, Any], found: Found) -> list[list[Cell]]:
    """The rows of one table, empty where nothing was measured."""
    made, beside = [], len(header(summary)) > len(summary["columns"])
    for row in summary["rows"]:
        published, cells = iter(row.get("published", [])), []
        for _, what in summary["columns"]:
            cells.append(cell(found, row, what))
            if beside and what not in WORDS:
                cells.append(next(published, None))
        made.append([*cells, *found.durations] if found.durations and counts(summary) else cells)
    return made


def check(source: Path, listed: Any, quantities: Collection[str]) -> None:
    """Raise Unusable if a profile's summaries are not as this file reads them."""
    if not isinstance(listed, list) or len(listed) > 100:
        raise Unusable(f"{source}: summaries: must be a list of at most 100 tables")
    for number, summary in enumerate(listed, 1):
        wrong = fault(summary, quantities)
        if wrong:
            raise Unusable(f"{source}: summaries[{number}]{wrong}")


def fault(summary: Any, quantities: Collection[str]) -> str:
    """What is wrong with one table, after its name; "" if nothing is."""
    if not isinstance(summary, dict) or set(summary) != KEYS:
        return f": must be a table with the keys {', '.join(sorted(KEYS))}"
    if not isinstance(summary["file"], str) or \
            not re.fullmatch(r"[A-Za-z0-9][\w.+-]{0,95}\.csv", summary["file"]):
        return ".file: must be letters, digits and -_.+, ending in .csv"
    if not isinstance(summary["note"], str) or not summary["note"].isprintable():
        return ".note: must be one line in quotes"
    for at, wanted in (("columns", is_column), ("rows", is_row)):
        listed = summary[at]
        if not isinstance(listed, list) or not 0 < len(listed) <= 100:
            return f".{at}: must be a list with something in it, of at most 100"
        for number, each in enumerate(listed, 1):
            if not wanted(each, quantities):
                return f".{at}[{number}]: {each!r} is not one; see standard.toml"
    for number, row in enumerate(summary["rows"], 1):
        for name, what in summary["columns"]:
            lacks = [word for word in WORDS if word not in row and not named(what, word)]
            if lacks:
                return f".rows[{number}]: it does not say of which {lacks[0]} {name!r} is"
    return ""


def named(what: str, word: str) -> bool:
    """Tell whether a column names one of WORDS, or needs no other."""
    return what in WORDS and what != word or bool((QUANTITY.fullmatch(what) or {word: ""})[word])


def is_column(column_: Any, quantities: Collection[str]) -> bool:
    """Tell a header and what it shows."""
    if not isinstance(column_, list) or len(column_) != 2 or \
            not all(isinstance(each, str) and each.isprintable() for each in column_):
        return False
    parts = QUANTITY.fullmatch(column_[1])
    return column_[1] in WORDS or bool(parts) and parts["what"] in quantities \
        and parts["what"] not in WORDS


def is_row(row: Any, _: Collection[str]) -> bool:
    """Tell what the cells of a row have in common, and what was published of them."""
    if not isinstance(row, dict) or not set(row) <= ROW_KEYS:
        return False
    published = row.get("published", [])
    return isinstance(row.get("label", ""), str) and isinstance(published, list) and \
        all(isinstance(row.get(word, 0), int) for word in ("size", "threads")) and \
        all(isinstance(each, (str, int, float)) for each in published)
