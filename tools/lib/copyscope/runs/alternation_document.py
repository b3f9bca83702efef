# SPDX-License-Identifier: GPL-2.0
"""What an alternation comes to, as JSON, by docs/alternation.schema.json."""
from __future__ import annotations

import math
from typing import Any

from copyscope.common.outcomes import ALIKE_WITHIN, UNDECIDED, answer
from copyscope.common.spread import Spread, kind
from copyscope.common.tables import SITES
from copyscope.records import copies, turns
from copyscope.records.run_record import Record

from .alternation import Made
from .placement import kind_of

SCHEMA = "copyscope.alternation/1"


def interval(found: Spread | None) -> dict[str, Any] | None:
    """A median with the ends of its interval."""
    return found and {"median": found.middle, "low": found.low, "high": found.high, "n": found.n}


def decided(found: Spread | None, each_s: float) -> dict[str, Any]:
    """A ratio of what two took, and what it decides."""
    if found is None:
        return {"ratio": None, "outcome": UNDECIDED, "why": "no clock told it in a whole round",
                "more_starts": None, "more_s": None}
    told = answer(found)
    more_s = None if told.more is None else math.ceil(told.more * each_s)
    return {"ratio": interval(found), "outcome": told.outcome, "why": told.why or None,
            "more_starts": told.more, "more_s": more_s}


def in_parts(starts: list[dict[str, Any]], way: int, cost: turns.Cost, each_s: float
             ) -> dict[str, Any]:
    """The same, and for each length of turns and each place of the ends alone."""
    return {**decided(turns.over_starts(starts, way, cost), each_s), **{
        name: [{key: value, "ratio": interval(ratio)}
               for value, ratio in turns.by(starts, key, way, cost).items()]
        for name, key in (("by_length", "asked_ms"), ("by_place", "ends"))}}


def compared(starts: list[dict[str, Any]], way: int, each_s: float) -> dict[str, Any]:
    """One variant beside the first."""
    names = starts[0]["variants"]
    return {
        "variant": names[way], "with": names[0],
        "processor_time": in_parts(starts, way, turns.processor_ns, each_s),
        "wall_time": in_parts(starts, way, turns.wall_ns, each_s),
        "machine_time": {**decided(turns.machine_over_starts(starts, way), each_s),
                         "by_length": [], "by_place": []}}


def variant(starts: list[dict[str, Any]], way: int) -> dict[str, Any]:
    """What one took by itself."""
    return {"variant": starts[0]["variants"][way],
            "processor_ns_per_byte": interval(turns.a_byte(starts, way, turns.processor_ns)),
            "wall_ns_per_byte": interval(turns.a_byte(starts, way, turns.wall_ns))}


def counted(name: str, found: Record | str) -> dict[str, Any]:
    """What probes counted of one, per byte of payload."""
    if isinstance(found, str):
        return {"variant": name, "record": None, "backend": None, "copies_per_byte": None,
                "sites": None, "why": found}
    sums = copies.amounts([found])
    total, missing = copies.copied(sums)
    why = "; ".join(dict.fromkeys(f"{site}: {sums[site].why}" for site in missing))
    return {"variant": name, "record": found.id, "backend": found.backend,
            "copies_per_byte": total, "sites": {site: sums[site].value for site in SITES},
            "why": why or None}


def start(record: Record) -> dict[str, Any]:
    """One start with all its turns."""
    found = record.at("experiment.alternation")
    return {"id": record.id, "others": record.times.others_share,
            "ends": kind_of(record.workload("cpus")), "length_ms": turns.length_ms(found), **found}


def document(made: Made, started: str, command: list[str]) -> dict[str, Any]:
    """All of it."""
    first = made.starts[0]
    starts = [start(each) for each in made.starts]
    ways = range(len(starts[0]["variants"]))
    return {
        "schema": SCHEMA, "started": started, "command": command, "tool": first.data["tool"],
        "machine": first.data["machine"], "path": first.at("experiment.path"), "bytes": first.bytes,
        "threads": first.threads, "receiver": first.workload("receiver"), "seconds": first.asked_s,
        "interval": kind(len(starts)) or None, "alike_within": ALIKE_WITHIN,
        "variants": [variant(starts, way) for way in ways],
        "comparisons": [compared(starts, way, made.each_s) for way in ways[1:]],
        "counted": [counted(name, found) for name, found in made.counted.items()],
        "starts": starts}
