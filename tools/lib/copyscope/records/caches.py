# SPDX-License-Identifier: GPL-2.0
"""Reads and checks one description of caches, and says it in the plugin's words."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copyscope.common.tree import CACHES

from .documents import BadRecord, read_toml

DEFAULT = "cascade-lake"
LEVELS = ("l1d", "l2", "llc")
KINDS = ("inclusive", "non-inclusive", "victim")
MOST_BYTES, MOST_WAYS, LINES = 1 << 30, 64, tuple(16 << power for power in range(7))
KEYS = ("title", "line_bytes", "write_allocate", "llc_kind", *LEVELS)
REMEDY = f"see studies/caches/{DEFAULT}.toml"


@dataclass(frozen=True)
class Caches:
    """A checked description; `levels` are bytes and ways of L1d, L2 and the last level."""

    name: str
    title: str
    line_bytes: int
    write_allocate: bool
    llc_kind: str
    levels: tuple[tuple[int, int], ...]

    def plugin_words(self) -> list[str]:
        """What the plugin is told."""
        sizes = [f"{name}={size}:{ways}" for name, (size, ways) in zip(LEVELS, self.levels)]
        return [*sizes, f"line={self.line_bytes}", f"kind={self.llc_kind}",
                f"allocate={int(self.write_allocate)}"]

    def record_words(self) -> list[str]:
        """What trace_run is told for its record, beside the port and the emulator."""
        return [str(self.line_bytes), self.llc_kind, str(int(self.write_allocate)),
                *(str(number) for level in self.levels for number in level)]


def whole(source: Path, key: str, value: Any, most: int) -> int:
    """A whole number from 1 on."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise BadRecord(source, key, f"must be a whole number 1 to {most}", REMEDY)
    return value


def checked_keys(source: Path, at: str, table: Any, keys: tuple[str, ...]) -> dict[str, Any]:
    """A table with exactly these keys."""
    if not isinstance(table, dict):
        raise BadRecord(source, at or "TOML", "must be a table", REMEDY)
    for key in table:
        if key not in keys:
            raise BadRecord(source, f"{at}{key}", f"unknown key; known are {' '.join(keys)}",
                            REMEDY)
    for key in keys:
        if key not in table:
            raise BadRecord(source, f"{at}{key}", "it is missing", REMEDY)
    return table


def level_of(source: Path, name: str, table: Any, line: int) -> tuple[int, int]:
    """Bytes and ways of one cache."""
    found = checked_keys(source, f"{name}.", table, ("bytes", "ways"))
    size = whole(source, f"{name}.bytes", found["bytes"], MOST_BYTES)
    ways = whole(source, f"{name}.ways", found["ways"], MOST_WAYS)
    if size % (ways * line):
        raise BadRecord(source, f"{name}.bytes", f"{size} is no multiple of {ways} ways of {line} "
                        "bytes", REMEDY)
    return size, ways


def load(wanted: str) -> Caches:
    """Caches by their name, by the path of a .toml file, or the usual ones for ""."""
    wanted = wanted or DEFAULT
    source = Path(wanted) if wanted.endswith(".toml") else CACHES / f"{wanted}.toml"
    table = checked_keys(source, "", read_toml(source, CACHES), KEYS)
    title, line = table["title"], table["line_bytes"]
    if not isinstance(title, str) or not title.isprintable() or not 0 < len(title) <= 60:
        raise BadRecord(source, "title", "must be one line in quotes, at most 60 characters",
                        REMEDY)
    if line not in LINES or isinstance(line, bool):
        raise BadRecord(source, "line_bytes", f"must be one of {', '.join(map(str, LINES))}",
                        REMEDY)
    if not isinstance(table["write_allocate"], bool):
        raise BadRecord(source, "write_allocate", "must be true or false", REMEDY)
    if table["llc_kind"] not in KINDS:
        raise BadRecord(source, "llc_kind", f"must be {', '.join(KINDS)}", REMEDY)
    levels = tuple(level_of(source, name, table[name], line) for name in LEVELS)
    for (above, _), (size, _), name in zip(levels, levels[1:], LEVELS[1:]):
        if size < above:
            raise BadRecord(source, f"{name}.bytes", "must not be smaller than the cache above it",
                            REMEDY)
    name = "".join(each if each.isalnum() or each in "-_." else "_" for each in source.stem)[:60]
    return Caches(name, title, line, table["write_allocate"], table["llc_kind"], levels)
