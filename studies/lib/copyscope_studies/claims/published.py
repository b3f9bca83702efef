# SPDX-License-Identifier: GPL-2.0
"""Tables of numbers as reports published them, read from TOML and checked."""
from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .language import tree
from .language.fault import Fault
from .language.parse import Parser
from .language.units import Unit
from .language.values import Missing, Value, sample

KEYS = ("name", "where", "keys", "columns", "rows")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}", re.ASCII)
COLUMN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}", re.ASCII)
MOST_ROWS, MOST_COLUMNS = 1000, 40


class BadTable(Exception):
    """What is wrong with a table."""


@dataclass(frozen=True)
class Table:
    """One table: rows are found by their keys, numbers by their columns."""

    name: str
    where: str
    keys: tuple[str, ...]
    units: dict[str, Unit]
    rows: tuple[tuple[dict[str, str], dict[str, Fraction | None]], ...]

    def read(self, filters: tree.Filters, column: str) -> Value:
        """A column of the rows that pass the filters."""
        wanted = {key: words for key, words in filters if key != "table"}
        found = [(keys, numbers[column]) for keys, numbers in self.rows
                 if all(keys[key] in words for key, words in wanted.items())]
        if not found:
            raise Missing(f"no row of the table {self.name} passes these filters")
        numbers = tuple(number for _, number in found if number is not None)
        if len(numbers) < len(found):
            raise Missing(f"a cell of the table {self.name}: the report printed none")
        unit = self.units[column]
        if len(numbers) == 1:
            return Value(unit, True, numbers[0], numbers[0])
        rows = tuple(f"{self.name} {' '.join(keys.values())}" for keys, _ in found)
        return sample(unit, True, rows, numbers)


def unit_of(text: Any, column: str) -> tuple[Fraction, Unit]:
    """A unit in words, such as Gbps, or us per message; empty for a plain number."""
    if not isinstance(text, str):
        raise BadTable(f"the unit of the column {column} must be in quotes")
    try:
        found = Parser(f"1 {text}").whole()
    except Fault as error:
        raise BadTable(f"the unit of the column {column}: {error.reason}") from None
    if not isinstance(found, tree.Number):
        raise BadTable(f"the unit of the column {column} is {text[:40]!r}, which is none")
    return found.value, found.unit


def cell(value: Any, factor: Fraction, column: str) -> Fraction | None:
    """A number as it was printed; "" where none was."""
    if value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or \
            not math.isfinite(value) or abs(value) > 1e18:
        raise BadTable(f"a cell of the column {column} is no number below 1e18")
    # As it was printed: 0.1 is a tenth.
    return Fraction(str(value)) * factor


def table_of(data: Any) -> Table:
    """A checked table; raise BadTable with what is wrong."""
    if not isinstance(data, dict) or set(data) != set(KEYS):
        raise BadTable(f"a table has the keys {' '.join(KEYS)}, and no others")
    name, where, keys, columns, rows = (data[key] for key in KEYS)
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise BadTable("name must be letters, digits and -_.")
    if not isinstance(where, str) or not where or not where.isprintable():
        raise BadTable(f"where in {name} must say where the report has the table")
    if not isinstance(columns, dict) or len(columns) > MOST_COLUMNS or \
            not all(COLUMN.fullmatch(each) for each in columns):
        raise BadTable(f"columns in {name} must be NAME = \"unit\", NAME of letters and digits")
    if not isinstance(keys, list) or \
            not all(isinstance(each, str) and COLUMN.fullmatch(each) and each != "table" and
                    each not in columns for each in keys) or len(set(keys)) < len(keys):
        raise BadTable(f"keys in {name} must be names that differ from those of the columns")
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST_ROWS:
        raise BadTable(f"rows in {name} must be a list of at most {MOST_ROWS} rows")
    made = {column: unit_of(text, column) for column, text in columns.items()}
    found = []
    for row in rows:
        if not isinstance(row, list) or len(row) != len(keys) + len(columns):
            raise BadTable(f"a row of {name} must have {len(keys) + len(columns)} cells")
        mine = {key: str(value) for key, value in zip(keys, row)}
        if any(mine == other for other, _ in found):
            raise BadTable(f"two rows of {name} have the keys {' '.join(mine.values())[:60]!r}")
        found.append((mine, {column: cell(value, factor, column) for (column, (factor, _)), value
                             in zip(made.items(), row[len(keys):])}))
    return Table(name, where, tuple(keys), {column: unit for column, (_, unit) in made.items()},
                 tuple(found))
