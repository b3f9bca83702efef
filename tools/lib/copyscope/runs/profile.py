# SPDX-License-Identifier: GPL-2.0
"""Reads a profile and checks every key: a slip of the pen must not change an experiment."""
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copyscope.common.errors import Unusable
from copyscope.common.tables import (
    BEHAVIOURS,
    LEAST_BYTES,
    MOST_BYTES,
    MOST_SECONDS,
    MOST_THREADS,
    PATHS,
    RECEIVER_BEHAVIOURS,
    RECEIVERS,
    VARIANTS,
)
from copyscope.common.tree import PROFILES
from copyscope.records.documents import read_toml

from . import summaries
from .values import COUNTED

MODES = ("as-published", "corrected")
ENDS = ("sender", "receiver", "both")
# Names become names of files, lists are multiplied with each other.
MOST_TEXT, MOST_NAME, MOST_LISTED = 1000, 100, 1024
COLUMNS = ("label", "size", "threads", "throughput_gbps", "throughput_mbps", "latency_us",
           "total_bytes", "total_messages", "duration_s", "cycles", "instructions", "l1_misses",
           "llc_misses", "cache_misses", "context_switches", "page_faults", "task_clock_ns",
           *COUNTED)
# What else lies in a sweep's folder.
OWN_FILES = ("plan.json", "runs", "failed", "pending", "tidy.csv", "points.csv", "pairs.csv",
             "PROVENANCE.md", "figures", "modelled_sites.csv", "modelled")

Check = Callable[[Any], str]  # what is wrong with a value, or ""


def text(value: Any) -> str:
    """Accept one line of text."""
    fine = isinstance(value, str) and value.isprintable() and len(value) <= MOST_TEXT
    return "" if fine else f"must be one line in quotes, at most {MOST_TEXT} characters"


def name(value: Any) -> str:
    """Accept what is safe in a file name."""
    fine = isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+-]*", value)
    if not fine:
        return "must be letters, digits and -_.+"
    return "" if len(value) <= MOST_NAME else f"must have at most {MOST_NAME} characters"


def table_name(value: Any) -> str:
    """Accept the name of a file that a sweep does not write itself."""
    return f"must not be one of {' '.join(OWN_FILES)}" if value in OWN_FILES else name(value)


def among(*allowed: str) -> Check:
    """Accept one of some words."""
    return lambda value: "" if value in allowed else f"must be {' or '.join(allowed)}"


def whole(low: int, high: int) -> Check:
    """Accept a whole number."""
    def check(value: Any) -> str:
        fine = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        return "" if fine else f"must be a whole number {low} to {high}"
    return check


def list_of(check: Check) -> Check:
    """Accept a list of different things with at least one in it."""
    def check_list(value: Any) -> str:
        if not isinstance(value, list) or not value:
            return "must be a list with something in it"
        if len(value) > MOST_LISTED:
            return f"must have at most {MOST_LISTED} elements"
        if len({str(each) for each in value}) < len(value):
            return "must not name anything twice"
        return next((wrong for wrong in map(check, value) if wrong), "")
    return check_list


def duration(value: Any) -> str:
    """Accept a number of seconds."""
    fine = isinstance(value, (int, float)) and not isinstance(value, bool)
    return "" if fine and 0 < value <= MOST_SECONDS else f"must be above 0, up to {MOST_SECONDS}"


def column(value: Any) -> str:
    """Accept [header, what]."""
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        return "must be a list of [header, what] pairs"
    return "" if value[1] in COLUMNS else f"has no {value[1]!r}; known are {' '.join(COLUMNS)}"


def truth(value: Any) -> str:
    """Accept true or false."""
    return "" if isinstance(value, bool) else "must be true or false"


def counters(value: Any) -> str:
    """Accept the counters of an emulator."""
    fine = isinstance(value, str) and re.fullmatch(r"model(:[\w./-]+)?", value)
    return "" if fine else "must be model, or model:NAME of studies/caches"


def anything(_: Any) -> str:
    """Leave the check to the reader."""
    return ""


# Key: its check, and whether it must be there.
TOP: dict[str, tuple[Check, bool]] = {
    "title": (text, True), "report": (text, True), "seconds": (duration, True),
    "sizes": (list_of(whole(LEAST_BYTES, MOST_BYTES)), True),
    "threads": (list_of(whole(1, MOST_THREADS)), True),
    "end": (among(*ENDS), True), "addresses": (text, False),
    "devices": (text, False), "port": (whole(1, 65535), False),
    "as-published": (anything, False), "corrected": (anything, False),
    "counters": (counters, False),
    "tables": (anything, False), "summaries": (anything, False), "figures": (anything, False),
    "published": (anything, False),
}
MODE: dict[str, tuple[Check, bool]] = {
    "note": (text, True), "path": (among(*PATHS), True),
    "pattern": (among("stream", "rr"), True),
    "threads_are": (among("connections", "cap", "readers"), True), "variants": (anything, True),
    "probes": (truth, False), "behaviours": (list_of(among(*BEHAVIOURS)), False),
    "message_bytes": (whole(LEAST_BYTES, MOST_BYTES), False),
    "figures_of": (among("all", "first"), False),
    "throughput_is": (among("elapsed", "nominal"), False),
    "latency_is": (among("measured", "size/throughput"), False), "end": (among(*ENDS), False),
}
DEFAULTS = {"message_bytes": None, "figures_of": "all", "throughput_is": "elapsed",
            "latency_is": "measured"}
VARIANT: dict[str, tuple[Check, bool]] = {
    "label": (name, True), "variant": (among(*VARIANTS), True),
    "receiver": (among(*RECEIVERS), False),
    "behaviours": (list_of(among(*BEHAVIOURS)), False),
}
TABLE: dict[str, tuple[Check, bool]] = {
    "file": (table_name, True), "columns": (list_of(column), True),
}
FIGURE: dict[str, tuple[Check, bool]] = {
    "file": (name, True), "title": (text, True), "x": (among("size", "threads"), True),
    "y": (name, True), "series": (anything, False), "panels": (text, False),
    "where": (anything, False), "scale": (among("linear", "log-x", "log-y", "log-log"), False),
    "end": (among(*ENDS), False), "beside": (name, False),
    "mean_over": (among("size", "threads"), False),
}


@dataclass(frozen=True)
class Profile:
    """A checked profile in one of its modes; `settings` has every key of MODE but variants."""

    name: str
    mode: str
    title: str
    report: str
    sizes: list[int]
    threads: list[int]
    seconds: float
    settings: dict[str, Any]
    variants: list[dict[str, Any]]
    tables: list[dict[str, Any]]
    summaries: list[dict[str, Any]]
    counters: str = ""      # besides those of the processor
    figures: bool = False   # it lists figures of its own


def check_table(source: Path, at: str, table: Any, keys: dict[str, tuple[Check, bool]]) -> None:
    """Check one TOML table against its keys."""
    if not isinstance(table, dict):
        raise Unusable(f"{source}: {at.rstrip('.')}: must be a table; see standard.toml")
    for key in table:
        if key not in keys:
            raise Unusable(f"{source}: {at}{key}: unknown key; known are {' '.join(keys)}")
    for key, (check, needed) in keys.items():
        if key not in table:
            if needed:
                raise Unusable(f"{source}: {at}{key}: it is missing; see standard.toml")
            continue
        wrong = check(table[key])
        if wrong:
            raise Unusable(f"{source}: {at}{key}: {wrong}")


def check_list(source: Path, at: str, tables: Any, keys: dict[str, tuple[Check, bool]],
               unique: str) -> None:
    """Check a list of TOML tables, no two alike in `unique`."""
    if not isinstance(tables, list) or len(tables) > MOST_LISTED:
        raise Unusable(f"{source}: {at}: must be a list of at most {MOST_LISTED} tables; see "
                       "standard.toml")
    seen: set[str] = set()
    for number, table in enumerate(tables, 1):
        check_table(source, f"{at}[{number}].", table, keys)
        if table[unique] in seen:
            raise Unusable(f"{source}: {at}[{number}].{unique}: {table[unique]} appears twice")
        seen.add(table[unique])


def check_mode(source: Path, mode: str, table: Any) -> None:
    """Check one mode and what its keys mean together."""
    check_table(source, f"{mode}.", table, MODE)
    check_list(source, f"{mode}.variants", table["variants"], VARIANT, "label")
    if not table["variants"]:
        raise Unusable(f"{source}: {mode}.variants: must have something in it")
    if table["threads_are"] == "readers":
        if table["pattern"] == "rr":
            raise Unusable(f"{source}: {mode}.pattern: readers can only take a stream")
        if any("receiver" in each for each in table["variants"]):
            raise Unusable(f"{source}: {mode}.variants: leave out receiver: readers have none")
        asked = [name for each in [table, *table["variants"]]
                 for name in each.get("behaviours", [])]
        if any(name in RECEIVER_BEHAVIOURS for name in asked):
            raise Unusable(f"{source}: {mode}.behaviours: readers see no messages: leave out "
                           f"{' and '.join(RECEIVER_BEHAVIOURS)}")


def check_profile(source: Path, data: dict[str, Any]) -> None:
    """Check a whole profile, both modes."""
    check_table(source, "", data, TOP)
    check_list(source, "tables", data.get("tables", []), TABLE, "file")
    summaries.check(source, data.get("summaries", []), COLUMNS)
    files = [each["file"] for each in (*data.get("tables", []), *data.get("summaries", []))]
    twice = next((each for each in files if files.count(each) > 1 or each in OWN_FILES), None)
    if twice:
        raise Unusable(f"{source}: summaries: the file {twice} is written already")
    check_list(source, "figures", data.get("figures", []), FIGURE, "file")
    for mode in MODES:
        if mode in data:
            check_mode(source, mode, data[mode])


def read(source: Path) -> dict[str, Any]:
    """Read a profile's TOML and check it."""
    data = read_toml(source, PROFILES)
    check_profile(source, data)
    return data


def load(wanted: str, mode: str | None = None) -> Profile:
    """Load a profile by its name, or by the path of a .toml file, in one mode."""
    source = Path(wanted) if wanted.endswith(".toml") else PROFILES / f"{wanted}.toml"
    data = read(source)
    have = [each for each in MODES if each in data]
    chosen = mode or (have[-1] if have else "")
    if chosen not in have:
        raise Unusable(f"{source}: {chosen or 'corrected'}: no such mode in this profile; "
                       f"it has {' '.join(have) or 'none'}")
    transport = {key: data[key] for key in ("addresses", "devices", "port") if key in data}
    settings = {**DEFAULTS, **transport, "end": data["end"], **data[chosen]}
    variants = settings.pop("variants")
    return Profile(source.stem, chosen, data["title"], data["report"], data["sizes"],
                   data["threads"], float(data["seconds"]), settings, variants,
                   data.get("tables", []), data.get("summaries", []), data.get("counters", ""),
                   bool(data.get("figures")))
