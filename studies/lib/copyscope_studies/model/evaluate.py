# SPDX-License-Identifier: GPL-2.0
"""Takes times from run records, fits A1-plain, and holds the predictions against the rest."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from copyscope.common.spread import Spread, spread
from copyscope.model.costs import Costs
from copyscope.model.terms import FIELDS, FITTED, PREDICTED, Fit, Terms, predict, total
from copyscope.records.documents import BadRecord
from copyscope.records.run_record import ENDS, Record
from copyscope.runs.paths import taken_in_here
from copyscope_studies.ways import RECV


@dataclass(frozen=True)
class Point:
    """One variant at one size: what was measured, and what was predicted without it."""

    variant: str
    size: int
    measured: Spread
    terms: Terms

    @property
    def predicted(self) -> float:
        """Nanoseconds a message."""
        return total(self.terms)

    @property
    def error(self) -> float:
        """Predicted over measured, less 1."""
        return self.predicted / self.measured.middle - 1


def check(record: Record, costs: Costs) -> None:
    """Refuse a run that the model does not cover."""
    def refuse(key: str, problem: str, remedy: str) -> None:
        raise BadRecord(record.source, key, problem, remedy)

    if record.variant not in (FITTED, *PREDICTED):
        refuse("experiment.workload.variant", f"there is no model of {record.variant}",
               f"give runs of {FITTED}, {', '.join(PREDICTED)}")
    if record.workload("receiver") not in (RECV, None):
        refuse("experiment.workload.receiver", f"it is {record.workload('receiver')!r}",
               f"run with --receiver {RECV}: no profile measures the others")
    if record.times.probed:
        refuse("experiment.timing", "probes were attached, which change times",
               "run with --no-probes, or sweep with the profile model")
    if record.threads != 1 or record.readers != 1:
        refuse("experiment.workload.threads", "it is not 1", "the model is of one connection")
    if record.workload("pattern") != "stream":
        refuse("experiment.workload.pattern", "it is not stream", "run with --pattern stream")
    if record.at("machine.emulated"):
        refuse("machine.emulated", "times mean nothing in an emulated machine", "run natively")
    costs.check_machine(record)


def why_not(variant: str, path: str) -> str:
    """Why a variant is not predicted on a path; "" if it is. A1-plain tells what lies between the
    ends, and what others do besides costs the same everywhere, but for pages: the baseline sends
    them over loopback, where they are copied late."""
    if variant == "A3" and not taken_in_here(path):
        return "no row of the baseline prices pages that leave this machine's kernel"
    return ""


def path_of(records: list[Record]) -> str:
    """The path that all records are of."""
    found = dict.fromkeys(record.path for record in records)
    if len(found) > 1:
        raise BadRecord("records", "experiment.path.kind", f"they are of {', '.join(found)}",
                        "give those of one path: the model is fitted to it")
    return next(iter(found))


def time_ns(record: Record) -> float:
    """Time of one message by the receiver's clock."""
    if record.message_ns is None:
        raise BadRecord(record.source, "experiment.workload.messages", "no whole message arrived",
                        "make that run longer")
    return record.message_ns


def switches(record: Record) -> float:
    """Context switches per message of the end that has more: they overlap with the other's."""
    counts = [record.counter(end, "context-switches") for end in ENDS]
    for end, count in zip(ENDS, counts):
        if count is None:
            raise BadRecord(record.source, f"experiment.counters.{end}.context-switches",
                            "it is not measured",
                            "run where context switches can be counted")
    return max(count for count in counts if count is not None) / (record.times.messages or 1)


def by_point(records: list[Record], value: Callable[[Record], float]) -> \
        dict[tuple[str, int], list[float]]:
    """A value of all repeats, by variant and size."""
    found: dict[tuple[str, int], list[float]] = {}
    for record in records:
        found.setdefault((record.variant, record.bytes), []).append(value(record))
    return found


def fit(costs: Costs, records: list[Record]) -> Fit:
    """Fit A1-plain; nothing else of the records is looked at."""
    mine = [record for record in records if record.variant == FITTED]
    times = {size: median(values) for (_, size), values in by_point(mine, time_ns).items()}
    counts = {size: median(values) for (_, size), values in by_point(mine, switches).items()}
    if len(times) < 2:
        raise BadRecord("records", FITTED, f"{len(times)} sizes of it",
                        f"give runs of {FITTED} at two sizes or more: the model is fitted to them")
    return Fit(costs, times, counts)


def points(costs: Costs, records: list[Record]) -> list[Point]:
    """Every prediction that can be held against a measurement; a size too small for the fit of its
    fields is left out."""
    for record in records:
        check(record, costs)
    fitted, path = fit(costs, records), path_of(records)
    low, high = fitted.sizes
    made = [Point(variant, size, spread(values), predict(fitted, variant, size))
            for (variant, size), values in by_point(records, time_ns).items()
            if low * FIELDS <= size <= high and not why_not(variant, path)]
    order = (FITTED, *PREDICTED)
    return sorted(made, key=lambda each: (order.index(each.variant), each.size))


def median_error(found: list[Point], *variants: str) -> float | None:
    """Median of the size of the errors of some variants; None if none was run."""
    errors = [abs(each.error) for each in found if each.variant in variants]
    return median(errors) if errors else None


def noise(found: list[Point]) -> float:
    """Median over the points of how far repeats lie apart: half the range, of the median. No model
    can be held to less."""
    return median((each.measured.high - each.measured.low) / 2 / each.measured.middle
                  for each in found)
