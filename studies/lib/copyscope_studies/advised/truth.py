# SPDX-License-Identifier: GPL-2.0
"""Predicted against measured: a row for each workload and way, and whether the sign was right."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from copyscope.common.spread import Spread, spread
from copyscope.common.text import csv_text, size_text
from copyscope.model.changes import Change, of_send
from copyscope.model.costs import Costs
from copyscope.records.documents import BadRecord
from copyscope.records.run_record import ENDS, Record

from .workloads import GUEST, PLACES, PLAIN, WAYS, Series

HEAD = ("where", "path", "pattern", "message_bytes", "variant", "way", "unit", "advice",
        "predicted", "predicted_low", "predicted_high")
MEASURED = ("plain", "measured", "measured_low", "measured_high", "n", "error",
            "error_of_whole", "sign")
RIGHT, WRONG, OPEN = "right", "WRONG", "undecided"
SOFTIRQ = "softirq"
# The interval of what was measured holds 0.
UNTOLD = "not told"


@dataclass(frozen=True)
class Row:
    """One workload by one way: the advice, then what was measured of it."""

    series: Series
    size: int
    variant: str
    change: Change
    plain: float | None = None
    measured: Spread | None = None

    @property
    def unit(self) -> str:
        """What a message takes of."""
        return "instructions" if self.series.where == GUEST else "ns"

    @property
    def error(self) -> float:
        """How far the prediction is off, as a share of what changed."""
        return self.change.ns / self.measured.middle - 1 if self.measured else 0.0

    @property
    def error_of_whole(self) -> float:
        """The same of what the message then takes."""
        if self.measured is None or self.plain is None:
            return 0.0
        return (self.plain + self.change.ns) / (self.plain + self.measured.middle) - 1

    @property
    def sign(self) -> str:
        """Whether the advice was right."""
        if self.measured is None:
            return ""
        if self.change.verdict == OPEN:
            return OPEN
        if self.measured.low <= 0 <= self.measured.high:
            return UNTOLD
        paid = self.measured.middle < 0
        return RIGHT if paid == (self.change.verdict == "pays") else WRONG


def advised(costs: dict[str, Costs], series: Iterable[Series]) -> list[Row]:
    """The advice for every workload, before anything of it is measured."""
    return [Row(each, size, variant,
                of_send(costs[each.where], way, PLACES[each.path], each.pattern, size))
            for each in series for size in each.sizes for variant, way in WAYS.items()]


def message_cost(record: Record, where: str) -> float:
    """Processor time, or instructions, of a message, both ends together. Of what else the guest
    did only softirqs, as packets take them there: its idle loop is no cost, nor in a task clock."""
    messages = record.times.messages
    if not messages:
        raise BadRecord(record.source, "messages", "no whole message arrived", "make it longer")
    if where == GUEST:
        modelled = record.times.modelled
        if modelled is None:
            raise BadRecord(record.source, "modelled", "it is not there",
                            "run with --counters model")
        return sum(each["instructions"] for each in modelled.data["ends"]
                   if each["end"] in ENDS or each["context"] == SOFTIRQ) / messages
    clocks = [record.counter(end, "task-clock") for end in ENDS]
    for end, clock in zip(ENDS, clocks):
        if clock is None:
            raise BadRecord(record.source, f"counters.{end}.task-clock", "it is not measured",
                            "run where perf_event_open is allowed")
    return sum(clock for clock in clocks if clock is not None) / messages


def found(rows: list[Row], series: Series, records: list[Record]) -> list[Row]:
    """The rows of a series with what its runs measured, round by round."""
    taken = {(record.size, record.variant, record.point.repeat): message_cost(record, series.where)
             for record in records if record.point}
    made = []
    for row in rows:
        if row.series != series:
            made.append(row)
            continue
        rounds = [repeat for size, variant, repeat in taken
                  if (size, variant) == (row.size, PLAIN) and
                  (row.size, row.variant, repeat) in taken]
        plain = [taken[row.size, PLAIN, each] for each in rounds]
        more = [taken[row.size, row.variant, each] - before
                for each, before in zip(rounds, plain)]
        made.append(Row(row.series, row.size, row.variant, row.change, median(plain), spread(more))
                    if rounds else row)
    return made


def cells(row: Row) -> list[object]:
    """The advice."""
    series, change = row.series, row.change
    return [series.where, series.path, series.pattern, row.size, row.variant, WAYS[row.variant],
            row.unit, change.verdict,
            *(f"{each:.0f}" for each in (change.ns, change.low, change.high))]


def sheet(rows: list[Row]) -> str:
    """The advice alone, as it was before the runs."""
    return csv_text(HEAD, map(cells, rows))


def table(rows: list[Row]) -> str:
    """The advice and what was measured."""
    def more(row: Row) -> list[object]:
        got = row.measured
        if got is None or row.plain is None:
            return [None] * len(MEASURED)
        return [*(f"{each:.0f}" for each in (row.plain, got.middle, got.low, got.high)), got.n,
                f"{row.error:.3f}", f"{row.error_of_whole:.3f}", row.sign]

    return csv_text([*HEAD, *MEASURED], ([*cells(row), *more(row)] for row in rows))


def summary(rows: list[Row]) -> list[str]:
    """How many signs were right, and how far predictions were off."""
    measured = [row for row in rows if row.measured]
    signs = [row.sign for row in measured]
    if not measured:
        return ["nothing was measured"]
    told = [f"{len(measured)} pieces of advice: {signs.count(RIGHT)} with the right sign, "
            f"{signs.count(WRONG)} with a wrong one, {signs.count(OPEN)} undecided, "
            f"{signs.count(UNTOLD)} that the runs do not tell (their interval holds 0)"]
    for name, errors in (("of a message", [abs(row.error_of_whole) for row in measured]),
                         ("of the change, where advice and runs are decided",
                          [abs(row.error) for row in measured if row.sign in (RIGHT, WRONG)])):
        if errors:
            told.append(f"the prediction is off by {median(errors):.0%} {name} in the median, "
                        f"{max(errors):.0%} at most")
    return told


def page(rows: list[Row]) -> list[str]:
    """The same in Markdown."""
    lines = ["| where | path | pattern | bytes | way | a plain message | advice | predicted | "
             "measured | error | sign |", "|---|---|---|---:|---|---:|---|---:|---:|---:|---|"]
    for row in rows:
        change, got = row.change, row.measured
        told = [f"{row.plain:,.0f} {row.unit}", f"{got.middle:+,.0f} ({got.low:+,.0f} to "
                f"{got.high:+,.0f})", f"{row.error:+.0%}", row.sign] \
            if got and row.plain is not None else ["-", "not measured", "-", "-"]
        lines.append(f"| {row.series.where} | {row.series.path} | {row.series.pattern} | "
                     f"{size_text(row.size)} | {WAYS[row.variant]} | {told[0]} | "
                     f"{change.verdict} | "
                     f"{change.ns:+,.0f} ({change.low:+,.0f} to {change.high:+,.0f}) | "
                     f"{' | '.join(told[1:])} |")
    return lines
