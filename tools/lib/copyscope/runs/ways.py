# SPDX-License-Identifier: GPL-2.0
"""Prices every way to send that a kernel has, on one path, by turns; makes the document."""
from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from copyscope.common.errors import Refused, Unusable
from copyscope.common.outcomes import ALIKE_WITHIN, MOST_REPEATS, UNDECIDED
from copyscope.common.text import listed, size_text
from copyscope.records import turns
from copyscope.records.run_record import Record
from copyscope.records.ways import (
    BASES,
    CALLS,
    FROM_FILE,
    IN_PIECES,
    OVER_TCP,
    PLAIN,
    RECEIVERS,
    SOURCES,
    outcomes,
    told,
)

from .alternation import EVERY_S, LEAST_STARTS, LONG_FROM_BYTES, Asked, Starts, blocks_of, count
from .alternation_document import counted, decided, interval

SCHEMA = "copyscope.ways/1"
# Ways that can share a connection: MSG_ZEROCOPY and SEND_ZC cannot, and all are held against a
# neighbour in their own one.
GROUPS = ((PLAIN, *RECEIVERS, IN_PIECES, "A2", "A3-whole", FROM_FILE, "sendfile", "splice",
           "vmsplice"),
          (PLAIN, "uring", "uring-zc", "uring-zc-fixed"))
BY_UDP = (("udp", "udp-zc"), ("udp-each", "udp"))
BY_RING = GROUPS[1][1:]
SIZES = (64, 4096, 16384, 65536, 262144, 1 << 20)
COUNTED_BYTES = 65536
# Eight ways make a round: shorter turns than of two, and as many rounds in a start.
SECONDS, LONG, BLOCKS_MS, BUDGET_S = 0.4, 4, (1, 3), 80.0
MOST_STARTS = 60
# Of the budget: for all ways at once; the rest is for those that are undecided then.
FIRST_SHARE = 0.6


@dataclass(frozen=True)
class Place:
    """Where messages go, and over how many connections."""

    path: str
    threads: int
    between: tuple[str, ...] = ()   # words for trace_run: addresses, devices
    answer_bytes: int = 0           # after which the sender waits for an answer; 0: it never does

    def words(self, size: int) -> tuple[str, ...]:
        """What trace_run is told of all ways alike."""
        return (str(size), str(self.threads), "--path", self.path, *self.between)

    def answer_every(self, size: int) -> int:
        """The same in messages; 0: never."""
        return self.answer_bytes and max(1, round(self.answer_bytes / size))


@dataclass
class Found:
    """What was measured: of each way a row for each size, and why others have none."""

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    absent: dict[str, dict[int, str]] = field(default_factory=dict)     # by size
    copies: list[dict[str, Any]] = field(default_factory=list)
    others: list[float] = field(default_factory=list)
    first: Record | None = None


def quantity(starts: list[turns.Start], way: int, base: int, cost: turns.Cost,
             each_s: float) -> dict[str, Any]:
    """One quantity of a way over that of what it is used in place of, and each start's."""
    found = decided(turns.over_starts(starts, way, cost, base), each_s)
    return {**found, "starts": [round(each, 4)
                                for each in turns.medians(starts, way, cost, base)]}


@dataclass
class Job:
    """Starts of some variants at a size. Those of several jobs take turns: what disturbs this
    machine for a minute then widens the interval of each answer, instead of moving one."""

    starts: Starts
    size: int
    group: tuple[str, ...]
    refused: str = ""           # why it can make no more: others may take what a limit allows

    @property
    def count(self) -> int:
        """Starts so far."""
        return len(self.starts.records)

    @property
    def alternations(self) -> list[turns.Start]:
        """What each start took."""
        return [each.at("experiment.alternation") for each in self.starts.records]

    @property
    def each_s(self) -> float:
        """Seconds that one takes: others wait their turn meanwhile."""
        return self.starts.spent_s / self.count


def row(job: Job, name: str) -> dict[str, Any]:
    """A way at a size."""
    way, base = job.group.index(name), job.group.index(BASES[SOURCES[name]])
    starts = job.alternations
    return {"bytes": job.size,
            "processor_time": quantity(starts, way, base, turns.processor_ns, job.each_s),
            "wall_time": quantity(starts, way, base, turns.wall_ns, job.each_s),
            "processor_ns_per_byte": interval(turns.a_byte(starts, way, turns.processor_ns))}


def keep(found: Found, job: Job) -> None:
    """Keep what the starts of a job say."""
    records = job.starts.records
    found.first = found.first or records[0]
    found.others += [each.times.others_share for each in records
                     if each.times.others_share is not None]
    for name in priced(job.group):
        found.rows.setdefault(name, []).append(row(job, name))


def priced(group: tuple[str, ...]) -> list[str]:
    """Those of a group that are held against another of it."""
    return [name for name in group if name in SOURCES and BASES[SOURCES[name]] in group]


def bases_of(group: tuple[str, ...]) -> tuple[int, ...]:
    """Whom each of a group is held against; what a program does today against nobody."""
    return tuple(group.index(BASES[SOURCES[name]]) if name in priced(group) else way
                 for way, name in enumerate(group))


def seconds_of(size: int) -> float:
    """How long a start takes: some rounds of its blocks."""
    return SECONDS * (LONG if size >= LONG_FROM_BYTES else 1)


def job_of(place: Place, size: int, group: tuple[str, ...]) -> Job:
    """Nothing is made yet."""
    asked = Asked(",".join(group), place.words(size), LEAST_STARTS, MOST_STARTS, seconds_of(size),
                  blocks_of(size, BLOCKS_MS), answer_every=place.answer_every(size),
                  bases=bases_of(group), every_s=EVERY_S)
    return Job(Starts(asked), size, group)


def begun(found: Found, place: Place, size: int, group: tuple[str, ...]) -> Job | None:
    """A group at a size with its first start; without its last way, which registers memory, where
    that is refused; None if the kernel refuses the others, too."""
    for tried in (group, group[:-1])[:len(group) - 1]:
        job = job_of(place, size, tried)
        try:
            job.starts.step()
            return job
        except Refused as error:
            if not set(group) & set(BY_RING):
                raise
            for name in group[-1:] if tried == group else priced(tried):
                found.absent.setdefault(name, {})[size] = str(error)
    return None


def in_turn(jobs: list[Job], until: float, tell: Callable[[str], None]) -> None:
    """A start of each job, and again of each that has not enough, until the time is over."""
    while jobs := [each for each in jobs if not each.refused and (
            each.count < LEAST_STARTS or
            time.monotonic() < until and not each.starts.enough)]:
        for job in jobs:
            tell(f"start {job.count + 1} of {size_text(job.size)}: "
                 f"{listed([CALLS[name] for name in priced(job.group)])}")
            try:
                job.starts.step()
            except Refused as error:
                job.refused = str(error)


def groups_of(wanted: Collection[str]) -> list[tuple[str, ...]]:
    """Those ways alone, each group with whom they are held against. Fewer make more rounds."""
    held = set(wanted) | {BASES[SOURCES[each]] for each in wanted}
    kept = [tuple(each for each in group if each in held) for group in (*GROUPS, *BY_UDP)]
    return [group for group in kept if set(priced(group)) & set(wanted)]


def measure(place: Place, sizes: tuple[int, ...], budget_s: float,
            tell: Callable[[str], None], wanted: Collection[str] = OVER_TCP) -> Found:
    """Price ways at each size, in about so many seconds."""
    found, began, jobs = Found(), time.monotonic(), []
    for size in sizes:
        for group in groups_of(wanted):
            tell(f"start 1 of {size_text(size)}")
            jobs.append(begun(found, place, size, group))
    made = [each for each in jobs if each]
    in_turn(made, began + FIRST_SHARE * budget_s, tell)
    for job in made:
        if job.count >= LEAST_STARTS:
            keep(found, job)
            continue
        for name in priced(job.group):
            found.absent.setdefault(name, {})[job.size] = job.refused
    sharpen(found, place, began + budget_s, tell)
    return found


def sharpen(found: Found, place: Place, until: float, tell: Callable[[str], None]) -> None:
    """Let each way that is undecided at a size take turns with what it is used in place of alone,
    which makes more rounds; of more than there is time for those that fewest starts would decide.
    Such an answer replaces the one before, whatever it is."""
    cells = [(each["processor_time"]["more_starts"] or MOST_REPEATS, each["bytes"], name)
             for name, rows in found.rows.items() for each in rows
             if each["processor_time"]["outcome"] == UNDECIDED]
    left_s = until - time.monotonic()
    jobs: dict[tuple[str, int], Job] = {}
    for _, size, name in sorted(cells):
        # A start is that long at least, and as much again is around it.
        left_s -= 2 * seconds_of(size) * LEAST_STARTS
        if left_s >= 0:
            jobs[name, size] = job_of(place, size, (BASES[SOURCES[name]], name))
    in_turn(list(jobs.values()), until, tell)
    for (name, size), job in jobs.items():
        if job.count < LEAST_STARTS:
            continue
        rows = found.rows[name]
        at = next(at for at, each in enumerate(rows) if each["bytes"] == size)
        rows[at] = row(job, name)


def count_all(found: Found, place: Place, tell: Callable[[str], None]) -> None:
    """What each way copies, by a run with probes of its own."""
    assert found.first is not None
    bases = (BASES[SOURCES[name]] for name in found.rows)
    for name in dict.fromkeys((*bases, *found.rows)):
        tell(f"{CALLS[name]} with probes")
        asked = Asked(name, place.words(COUNTED_BYTES), 1, 1, 0.0)
        found.copies.append(counted(name, count(asked, name, found.first)))


def document(found: Found, place: Place, started: str, command: list[str]) -> dict[str, Any]:
    """All of it, by docs/ways.schema.json."""
    first = found.first
    assert first is not None
    return {
        "schema": SCHEMA, "started": started, "command": command, "tool": first.data["tool"],
        "machine": first.data["machine"], "path": first.at("experiment.path"),
        "threads": place.threads,
        **({"answer_bytes": place.answer_bytes} if place.answer_bytes else {}),
        "receiver": first.workload("receiver"), "seconds": SECONDS,
        "alike_within": ALIKE_WITHIN,
        "others_median": median(found.others) if found.others else None,
        "ways": [{"variant": name, "call": CALLS[name], "source": SOURCES[name],
                  "in_place_of": BASES[SOURCES[name]], "answer": told(outcomes(rows)),
                  "sizes": rows} for name, rows in found.rows.items()],
        "absent": [{"variant": name, "bytes": list(whys), "why": next(iter(whys.values()))}
                   for name, whys in found.absent.items()],
        "counted": found.copies}


def refuse_elsewhere(data: dict[str, Any]) -> None:
    """Refuse to go on with a document of another kernel."""
    kernel = data["machine"]["kernel"]
    if kernel != os.uname().release:
        raise Unusable(f"this is kernel {os.uname().release}, and what is there is of {kernel}: "
                       "give another --out")
