# SPDX-License-Identifier: GPL-2.0
"""Searches for one crossover, says the answer in words, and makes its record."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from copyscope.common.text import now_utc
from copyscope.model.costs import Costs
from copyscope.runs.launch import clock
from copyscope.runs.plan import OVERHEAD_S

from .runs import MOST_PAIRS, Effort, Pairs, Side, Workload
from .search import UNDECIDED, Found, most_sizes, search

SCHEMA = "copyscope.crossover/1"


@dataclass(frozen=True)
class Question:
    """What is asked: two sides, the workload, which sizes, how closely, by how many pairs."""

    sides: tuple[Side, Side]
    workload: Workload
    low: int
    high: int
    nearness: float
    effort: Effort
    profile: str = ""

    @property
    def where(self) -> str:
        """Path and connections in words."""
        threads = self.workload.threads
        return f"path {self.workload.path}, {threads} " + \
            ("connection" if threads == 1 else "connections") + \
            (", request and reply" if self.workload.pattern == "rr" else "")


    @property
    def most_s(self) -> float:
        """How long the runs take at most where nobody else uses the CPUs; as long it may wait."""
        runs = most_sizes(self.low, self.high, self.nearness) * self.effort.most * 2
        return runs * (self.workload.seconds + OVERHEAD_S)

    @property
    def bound(self) -> str:
        """The same in words."""
        return (f"at most {clock(self.most_s)}, and no more than {clock(2 * self.most_s)} "
                "if others use the CPUs")


def what_decides(sizes: dict[int, dict[str, Any]], undecided: tuple[int, ...]) -> str:
    """How many more pairs would decide what is not."""
    needs = {size: sizes[size].get("more_pairs") for size in undecided if size in sizes}
    few = [f"{need} at {size}" for size, need in needs.items() if need]
    many = [str(size) for size, need in needs.items() if not need]
    said = f"; about so many more pairs would decide: {', '.join(few)} (--repeats)" if few else ""
    return said + (f"; not even {MOST_PAIRS} pairs would decide at {', '.join(many)}"
                   if many else "")


def sentence(found: Found, names: tuple[str, str], where: str,
             sizes: dict[int, dict[str, Any]] | None = None) -> str:
    """The answer in words."""
    name = {"first": names[0], "second": names[1]}
    early = "; its time was up before it looked at more sizes" if found.time_up else ""
    if found.kind == "none":
        tail = f" but {', '.join(map(str, found.undecided))}" if found.undecided else ""
        return (f"none between {found.low} and {found.high} bytes on {where}: {name[found.below]} "
                f"is faster at every size measured{tail}")
    if found.kind == "undecided":
        known = "the interval holds 1 at every size measured" if found.below == UNDECIDED \
            else (f"{name[found.below]} is faster at some sizes, but at "
                  f"{', '.join(map(str, found.undecided))} the interval holds 1")
        return (f"undecided between {found.low} and {found.high} bytes on {where}: {known}" +
                what_decides(sizes or {}, found.undecided) + early)
    tail = f"; undecided between {found.low} and {found.high}" if found.undecided else ""
    if found.contrary:
        tail += f"; not at {', '.join(map(str, found.contrary))}: the curves cross more than once"
    if found.open:
        tail += f"; undecided at {', '.join(map(str, found.open))}"
    beyond = [*found.contrary, *found.open]
    until = f"to {found.top} bytes" if any(size > found.top for size in beyond) else "bytes on"
    return (f"{name[found.above]} beats {name[found.below]} from {found.high} {until}, "
            f"on {where}; {name[found.below]} is faster up to {found.low}{tail}{early}")


def wide_sizes(pairs: Pairs) -> list[int]:
    """Sizes of which the interval is wider than was asked for."""
    return [size for size in sorted(pairs.sizes) if not pairs.sizes[size]["width_reached"]]


def width_text(wide: list[int], effort: Effort) -> str:
    """What the sentence says of intervals that are not as narrow as they should be."""
    return (f"; the interval of {effort.width * 100:.0f} % is not reached at "
            f"{', '.join(map(str, wide))} bytes") if wide else ""


def others_text(others: list[float], limit: float) -> str:
    """What the sentence says of other programs, if they used more than they should."""
    middle = median(others) if others else 0.0
    return f"; other programs used {middle:.0%} of the CPUs' time beside a run in the middle" \
        if middle > limit else ""


def record_of(question: Question, pairs: Pairs, found: Found, started: str, said: str,
              command: list[str]) -> dict[str, Any]:
    """The JSON record; tool and machine are taken from the runs' records."""
    run, work = pairs.first_record, question.workload
    assert run is not None
    first, second = question.sides
    kind = {"first": first.told, "second": second.told, UNDECIDED: None}
    labels = {"profile": question.profile, "labels": [first.name, second.name]} \
        if question.profile else {}
    return {
        "schema": SCHEMA, "started": started, "command": command,
        "tool": run.data["tool"], "machine": run.data["machine"], "path": run.experiment["path"],
        **labels, "first": first.told, "second": second.told, "threads": work.threads,
        "pattern": work.pattern, "seconds": work.seconds, "pairs": question.effort.least,
        "most_pairs": question.effort.most, "width_wanted": question.effort.width,
        "others_median": median(pairs.others) if pairs.others else None,
        "nearness": question.nearness, "low_bytes": question.low, "high_bytes": question.high,
        "interval": "95 % interval of the median of paired ratios, first's time over second's",
        "answer": {"kind": found.kind, "faster_below": kind[found.below],
                   "faster_above": kind[found.above], "low_bytes": found.low,
                   "high_bytes": found.high, "undecided_bytes": list(found.undecided),
                   "contrary_bytes": list(found.contrary), "top_bytes": found.top or None,
                   "open_bytes": list(found.open), "wide_bytes": wide_sizes(pairs),
                   "time_up": found.time_up, "sentence": said},
        "sizes": [pairs.sizes[size] for size in sorted(pairs.sizes)], "proofs": []}


def copy_cost(costs: Costs, size: int, pairs: Pairs) -> dict[str, Any]:
    """The time of one copy of a message, and its share of the message's time."""
    at = min(pairs.sizes, key=lambda each: abs(each - size))
    times = sorted(pairs.sizes[at]["first_ns"])
    copy_ns = costs.copy_ns(size)
    return {"baseline": costs.id, "bytes": size, "copy_ns": copy_ns,
            "share_of_first": copy_ns / times[len(times) // 2]}


def answer(question: Question, costs: Costs | None, tell: Callable[[str], None],
           command: list[str]) -> dict[str, Any]:
    """Search, and return the record; each size is told as soon as it is judged."""
    started = now_utc()
    tell(question.bound)
    pairs = Pairs(question.sides, question.workload, question.effort, tell, question.most_s)
    # Not counted: the first run finds cold caches and a slow clock.
    pairs.time_ns(question.sides[0], question.low)
    if costs:
        costs.check_machine(pairs.first_record)
    found = search(pairs.judge, question.low, question.high, question.nearness)
    names = (question.sides[0].name, question.sides[1].name)
    said = sentence(found, names, question.where, pairs.sizes) + \
        width_text(wide_sizes(pairs), question.effort) + \
        others_text(pairs.others, question.workload.most_others)
    record = record_of(question, pairs, found, started, said, command)
    record["proofs"] = pairs.prove(found.high)
    if costs:
        record["copy"] = copy_cost(costs, found.high, pairs)
    return record
