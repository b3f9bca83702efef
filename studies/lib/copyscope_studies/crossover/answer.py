# SPDX-License-Identifier: GPL-2.0
"""Searches for one crossover, says the answer in words, and makes its record."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from copyscope.common.errors import Unusable
from copyscope.common.outcomes import spans
from copyscope.common.text import listed, now_utc
from copyscope.model.costs import Costs
from copyscope.runs.launch import clock
from copyscope.runs.plan import OVERHEAD_S

from .runs import MOST_PAIRS, PROCESSOR_TIME, Effort, Judge, Pairs, Side, Workload
from .search import ALIKE, FIRST, SECOND, UNDECIDED, Found, most_sizes, search
from .turns import Turns

SCHEMA = "copyscope.crossover/1"


@dataclass(frozen=True)
class Question:
    """What is asked: two sides, the workload, which sizes, how closely, by how many pairs."""

    sides: tuple[Side, Side]
    workload: Workload
    low: int
    high: int
    nearness: float
    pairs: Effort                   # of runs
    starts: Effort                  # of turns
    profile: str = ""
    quantity: str = ""              # that decides; "": processor time where turns tell it

    @property
    def where(self) -> str:
        """Path and connections in words."""
        threads = self.workload.threads
        return f"path {self.workload.path}, {threads} " + \
            ("connection" if threads == 1 else "connections") + \
            (", request and reply" if self.workload.pattern == "rr" else "")

    def most_s(self, runs_of_size: int) -> float:
        """How long the runs take at most."""
        runs = most_sizes(self.low, self.high, self.nearness) * runs_of_size
        return runs * (self.workload.seconds + OVERHEAD_S)


def what_decides(sizes: dict[int, dict[str, Any]], judged: Mapping[int, str], repeats: str) -> str:
    """How many more pairs or starts would decide what is not."""
    undecided = [size for size, winner in judged.items() if winner == UNDECIDED and size in sizes]
    needs = {size: sizes[size].get("more_pairs") for size in undecided}
    few = [f"{need} at {size}" for size, need in needs.items() if need]
    many = [str(size) for size, need in needs.items() if not need]
    said = f"; about so many more {repeats} would decide: {', '.join(few)} (--repeats)" \
        if few else ""
    return said + (f"; not even {MOST_PAIRS} {repeats} would decide at {', '.join(many)}"
                   if many else "")


def spans_text(judged: Mapping[int, str], winner: str) -> str:
    """The sizes at which one wins: from 64 to 4096 and at 65536."""
    return listed([f"at {low}" if low == high else f"from {low} to {high}"
                   for low, high in spans(judged, winner)])


def sentence(judged: Mapping[int, str], names: tuple[str, str], where: str, time_up: bool,
             quantity: str) -> str:
    """The answer in words: from which size to which the second pays in place of the first."""
    first, second = names
    if not judged:
        return f"{second} in place of {first}, on {where}: undecided; its time was up"
    winners = set(judged.values())
    low, high = min(judged), max(judged)
    ends = f"{low} to {high} bytes on {where}, by {quantity}"
    early = "; its time was up before it looked at more sizes" if time_up else ""
    if winners in ({FIRST}, {SECOND}, {ALIKE}):
        word = {FIRST: "never pays in place of", SECOND: "always pays in place of",
                ALIKE: "is like"}[winners.pop()]
        return f"{second} {word} {first}, {ends}{early}"
    told = [f"{word} {spans_text(judged, winner)}" for winner, word in (
        (SECOND, "pays"), (FIRST, "costs"), (ALIKE, "is like it"), (UNDECIDED, "is undecided"))
        if winner in winners]
    never = "never pays in place of" if not winners & {SECOND, UNDECIDED} else "in place of"
    return f"{second} {never} {first}, {ends}: it {', '.join(told)}{early}"


def wide_sizes(pairs: Judge) -> list[int]:
    """Sizes of which the interval is wider than was asked for."""
    return [size for size in sorted(pairs.sizes) if not pairs.sizes[size]["width_reached"]]


def width_text(wide: list[int], judge: Judge) -> str:
    """What the sentence says of intervals that are not as narrow as they should be."""
    wanted = f"of {judge.effort.width * 100:.0f} % " if isinstance(judge, Pairs) else ""
    return (f"; the interval {wanted}is wider than wanted at "
            f"{', '.join(map(str, wide))} bytes") if wide else ""


def others_text(others: list[float], limit: float) -> str:
    """What the sentence says of other programs, if they used more than they should."""
    middle = median(others) if others else 0.0
    return f"; other programs used {middle:.0%} of the CPUs' time beside a run in the middle" \
        if middle > limit else ""


def record_of(question: Question, pairs: Judge, why: str, found: Found, started: str, said: str,
              command: list[str]) -> dict[str, Any]:
    """The JSON record; tool and machine are taken from the runs' records."""
    run, work = pairs.first_record, question.workload
    assert run is not None
    first, second = question.sides
    winners = {size: each["winner"] for size, each in pairs.sizes.items()}
    kind = {FIRST: first.told, SECOND: second.told}

    def faster(winner: str, sizes: list[int]) -> str | None:
        """Whom the record names: nobody where both are alike."""
        return kind.get(winner) if winner in map(winners.get, sizes) else None

    below = [size for size in winners if size <= found.low or found.kind != "crossover"]
    above = [size for size in winners if size >= found.high or found.kind != "crossover"]
    labels = {"profile": question.profile, "labels": [first.name, second.name]} \
        if question.profile else {}
    return {
        "schema": SCHEMA, "started": started, "command": command,
        "tool": run.data["tool"], "machine": run.data["machine"], "path": run.experiment["path"],
        **labels, "first": first.told, "second": second.told, "threads": work.threads,
        "pattern": work.pattern, "seconds": work.seconds, "method": pairs.method,
        "why_pairs": why or None, "quantity": pairs.quantity, "pairs": pairs.effort.least,
        "most_pairs": pairs.effort.most, "width_wanted": pairs.effort.width,
        "others_median": median(pairs.others) if pairs.others else None,
        "nearness": question.nearness, "low_bytes": question.low, "high_bytes": question.high,
        "interval": f"95 % interval of the median of ratios, first's {pairs.quantity} over "
                    f"second's, over {pairs.repeats}",
        "answer": {"kind": found.kind, "faster_below": faster(found.below, below),
                   "faster_above": faster(found.above, above), "low_bytes": found.low,
                   "high_bytes": found.high, "undecided_bytes": list(found.undecided),
                   "contrary_bytes": list(found.contrary), "top_bytes": found.top or None,
                   "open_bytes": list(found.open), "alike_bytes": list(found.alike),
                   "pays": [{"from_bytes": low, "to_bytes": high}
                            for low, high in spans(winners, SECOND)],
                   "wide_bytes": wide_sizes(pairs),
                   "time_up": found.time_up, "sentence": said},
        "sizes": [pairs.sizes[size] for size in sorted(pairs.sizes)], "proofs": []}


def copy_cost(costs: Costs, size: int, pairs: Judge) -> dict[str, Any]:
    """The time of one copy of a message, and its share of the message's time."""
    at = min(pairs.sizes, key=lambda each: abs(each - size))
    times = sorted(pairs.sizes[at]["first_ns"])
    copy_ns = costs.copy_ns(size)
    return {"baseline": costs.id, "bytes": size, "copy_ns": copy_ns,
            "share_of_first": copy_ns / times[len(times) // 2]}


def judge_of(question: Question, tell: Callable[[str], None]) -> tuple[Judge, str]:
    """Turns where both sides can share a connection; else pairs of runs, and why."""
    sides, work = question.sides, question.workload
    most_s = question.most_s(question.starts.most)
    turns = Turns(sides, work, question.starts, tell, most_s, question.quantity or PROCESSOR_TIME)
    why = turns.why_not(question.low)
    if not why:
        tell(f"at most {clock(most_s)}, by {turns.method}")
        return turns, ""
    if question.quantity == PROCESSOR_TIME:
        raise Unusable(f"--by processor: {sides[0].name} and {sides[1].name} cannot share a "
                       f"connection: {why}")
    most_s = question.most_s(2 * question.pairs.most)
    pairs = Pairs(sides, work, question.pairs, tell, most_s)
    tell(f"at most {clock(most_s)}, and no more than {clock(2 * most_s)} if others use the CPUs; "
         f"by {pairs.method}, as {why}")
    # Not counted: the first run finds cold caches and a slow clock.
    pairs.time_ns(sides[0], question.low)
    return pairs, why


def answer(question: Question, costs: Costs | None, tell: Callable[[str], None],
           command: list[str]) -> dict[str, Any]:
    """Search, and return the record; each size is told as soon as it is judged."""
    started = now_utc()
    judge, why = judge_of(question, tell)
    if costs:
        costs.check_machine(judge.first_record)
    found = search(judge.judge, question.low, question.high, question.nearness)
    names = (question.sides[0].name, question.sides[1].name)
    winners = {size: each["winner"] for size, each in judge.sizes.items()}
    said = sentence(winners, names, question.where, found.time_up, judge.quantity) + \
        what_decides(judge.sizes, winners, judge.repeats) + \
        width_text(wide_sizes(judge), judge) + \
        others_text(judge.others, question.workload.most_others)
    record = record_of(question, judge, why, found, started, said, command)
    record["proofs"] = judge.prove(found.high)
    if costs:
        record["copy"] = copy_cost(costs, found.high, judge)
    return record
