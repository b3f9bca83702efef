# SPDX-License-Identifier: GPL-2.0
"""Reads and checks the list of figures of a profile; has the list for records without a profile."""
from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from copyscope.common.text import meant
from copyscope.common.tree import PROFILES
from copyscope.records.documents import BadRecord, read_toml
from copyscope.records.load import MOST_RUNS

from .metrics import ENDS_SHOWN, METRICS, X_AXES
from .published import Published, published

SCALES = ("linear", "log-x", "log-y", "log-log")
# What may tell lines apart, tell panels apart, or pick records.
KEYS = ("label", "variant", "threads", "size")
# What tells the points of a profile apart.
POINT_KEYS = ("label", "size", "threads")


@dataclass(frozen=True)
class Spec:
    """One line figure: what a profile says of it."""

    file: str
    title: str
    x: str
    y: str
    series: tuple[str, ...] = ("label",)
    panels: str = ""                          # one panel for each value of this; empty: one panel
    where: dict[str, Any] = field(default_factory=dict)
    scale: str = ""
    end: str = "both"                         # of counters: sender, receiver or both
    beside: str = ""                          # another y, in a panel of its own
    mean_over: str = ""                       # each point is the mean over all values of this
    wanted: frozenset[tuple[Any, ...]] = frozenset()  # POINT_KEYS of all points of its profile
    published: tuple[Published, ...] = ()     # what its report published at such points

    @property
    def ys(self) -> tuple[str, ...]:
        """Everything that it shows."""
        return (self.y, self.beside) if self.beside else (self.y,)

    @property
    def log_x(self) -> bool:
        """Sizes span decades, threads do not: that is the default."""
        return self.scale in ("log-x", "log-log") or not self.scale and self.x == "size"

    @property
    def log_y(self) -> bool:
        """Only if asked for: a linear axis starts at 0 and shows ratios as they are."""
        return self.scale in ("log-y", "log-log")


def default(y: str, x: str, title: str) -> Spec:
    """A figure with one panel for each value of the other axis. Over sizes everything spans
    decades; a linear axis would show the largest size alone."""
    other = "threads" if x == "size" else "size"
    return Spec(f"{y}-by-{x}", title, x, y, panels=other, scale="log-log" if x == "size" else "")


DEFAULTS = (
    default("throughput_gbps", "size", "Throughput against message size"),
    default("throughput_gbps", "threads", "Throughput against threads"),
    default("latency_us", "size", "Latency against message size"),
    default("latency_us", "threads", "Latency against threads"),
    default("l1_misses_per_mb", "size", "L1 data cache misses against message size"),
    default("llc_misses_per_mb", "size", "Last-level cache misses against message size"),
    default("context_switches_per_mb", "size", "Context switches against message size"),
    default("context_switches_per_mb", "threads", "Context switches against threads"),
    default("cycles_per_byte", "size", "CPU cycles per payload byte against message size"),
    default("speedup", "threads", "Speedup with threads"),
    default("efficiency", "threads", "Efficiency with threads"),
)


def one_of(source: object, key: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return the value if it is allowed."""
    if value not in allowed:
        raise BadRecord(source, key, f"{value!r} is not known", meant(str(value), allowed))
    return str(value)


def names(source: object, key: str, value: Any, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Return a name or a list of names as a tuple."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not listed:
        raise BadRecord(source, key, f"{value!r} is no list", f"take some of {', '.join(allowed)}")
    return tuple(one_of(source, key, each, allowed) for each in listed)


def word(source: object, key: str, value: Any) -> str:
    """Return the value if it is text."""
    if not isinstance(value, str) or not value.strip():
        raise BadRecord(source, key, f"{value!r} is no text", "write it in quotes")
    return value


def parse(source: object, number: int, entry: Any, end: str) -> Spec:
    """Check one entry of a list of figures."""
    at = f"figures[{number}]"
    if not isinstance(entry, dict):
        raise BadRecord(source, at, "it is no table", "write it as [[figures]]")
    known = {each.name for each in fields(Spec)} - {"wanted", "published"}
    for key in entry:
        one_of(source, at, key, tuple(sorted(known)))
    for key in ("file", "title", "x", "y"):
        if key not in entry:
            raise BadRecord(source, f"{at}.{key}", "it is missing", "add it")
    file = re.sub(r"\.(png|svg)$", "", word(source, f"{at}.file", entry["file"]))
    if not re.fullmatch(r"[\w.+-]+", file) or file.startswith("."):
        raise BadRecord(source, f"{at}.file", f"{file!r} is no file name", "use letters and -_.+")
    where = entry.get("where", {})
    if not isinstance(where, dict):
        raise BadRecord(source, f"{at}.where", "it is no table", "write { threads = 8 }")
    for key in where:
        one_of(source, f"{at}.where", key, KEYS)
    spec = Spec(
        file, word(source, f"{at}.title", entry["title"]),
        one_of(source, f"{at}.x", entry["x"], tuple(X_AXES)),
        one_of(source, f"{at}.y", entry["y"], tuple(METRICS)),
        names(source, f"{at}.series", entry.get("series", "label"), KEYS),
        one_of(source, f"{at}.panels", entry.get("panels", ""), ("", *KEYS)),
        where, one_of(source, f"{at}.scale", entry.get("scale", ""), ("", *SCALES)),
        one_of(source, f"{at}.end", entry.get("end", end), ENDS_SHOWN),
        one_of(source, f"{at}.beside", entry.get("beside", ""), ("", *METRICS)),
        one_of(source, f"{at}.mean_over", entry.get("mean_over", ""), ("", *X_AXES)))
    check_together(source, at, spec)
    return spec


def check_together(source: object, at: str, spec: Spec) -> None:
    """Refuse keys that make no sense together."""
    if any(METRICS[y].relative for y in spec.ys) and spec.x != "threads":
        raise BadRecord(source, f"{at}.x", f"{spec.y} is against threads", "write x = \"threads\"")
    if spec.beside and (spec.panels or spec.beside == spec.y):
        raise BadRecord(source, f"{at}.beside", "it takes panels that differ in y alone",
                        "leave out panels, and name another y")
    if spec.mean_over in (spec.x, *spec.series, spec.panels) and spec.mean_over:
        raise BadRecord(source, f"{at}.mean_over", f"{spec.mean_over} is told apart",
                        "take another key")


def all_of(kind: type, values: Any) -> list[Any]:
    """What of a list is of a kind: tools/sweep says what is wrong with the rest."""
    return [each for each in values if isinstance(each, kind)] if isinstance(values, list) else []


def points(profile: dict[str, Any], mode: str) -> frozenset[tuple[Any, ...]]:
    """All points of a profile in a mode, by POINT_KEYS; none of a mode that it does not have, nor
    of more points than a sweep takes."""
    special = profile.get(mode)
    variants = all_of(dict, special.get("variants")) if isinstance(special, dict) else []
    values = (all_of(str, [each.get("label") for each in variants]),
              all_of(int, profile.get("sizes")), all_of(int, profile.get("threads")))
    fits = prod(map(len, values)) <= MOST_RUNS
    return frozenset(product(*values)) if fits else frozenset()


def profile_file(name: str) -> Path:
    """A profile by its name, or by the path of its file."""
    return Path(name) if name.endswith(".toml") else PROFILES / f"{name}.toml"


def load(name: str, mode: str) -> list[Spec]:
    """Return the figures of a profile; a mode may have another end counted."""
    source = profile_file(name)
    profile = read_toml(source, PROFILES)
    figures = profile.get("figures")
    if not isinstance(figures, list) or not figures:
        raise BadRecord(source, "figures", "no list of figures", "add [[figures]] entries")
    end = one_of(source, "end", profile.get("end", "both"), ENDS_SHOWN)
    special = profile.get(mode)
    if isinstance(special, dict):
        end = one_of(source, f"{mode}.end", special.get("end", end), ENDS_SHOWN)
    wanted, theirs = points(profile, mode), published(source, profile)
    return [replace(parse(source, number, entry, end), wanted=wanted, published=theirs)
            for number, entry in enumerate(figures, 1)]
