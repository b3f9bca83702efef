# SPDX-License-Identifier: GPL-2.0
"""Makes the starts of an alternation, without probes, and a run with probes of each variant."""
from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from copyscope.common.errors import CommandError, Refused
from copyscope.common.outcomes import sharp
from copyscope.records import turns
from copyscope.records.check import check_complete
from copyscope.records.load import record_of
from copyscope.records.run_record import Record

from . import launch
from .launch import Run
from .placement import CPUS, cpus_of

# Counts of a short run are as exact as those of a long one.
COUNTED_BYTES, LEAST_COUNTED, MOST_COUNTED = 16 << 20, 4, 2000
# Starts at least, which give an interval, and at most, if it gets not sharp before.
LEAST_STARTS, MOST_STARTS = 6, 30
BLOCKS_MS = (2, 6)
# What a way leaves behind, in sockets and in the kernel's lists of free pages, takes tens of MiB to
# pass: on lo MSG_ZEROCOPY took 1.05 of send at 256 KiB in blocks of 3 MiB, 1.39 in those of 33, at
# 1 MiB 1.11 and 1.52; in programs of their own 1.74. Smaller messages hardly show it.
LONG_FROM_BYTES, LONG_BLOCKS_MS = 128 << 10, (20, 40)
# Of a start that only tells of what size messages are.
LEAST_S = 0.01
# What else a machine does moves an answer for half a minute: of 20 alternations whose starts came
# every 1 or 4 s, intervals of 95 % held the median of all in 17 and 16; dealt to so long, in all.
EVERY_S = 12


@dataclass(frozen=True)
class Asked:
    """What is asked for: the variants, the words of trace_run for all of them, and how much."""

    variants: str               # with commas
    words: tuple[str, ...]      # BYTES, THREADS and options
    least: int                  # starts
    most: int
    seconds: float
    blocks_ms: tuple[int, ...] = ()     # every two starts have these in turn; (): by the size
    cost: turns.Cost = turns.processor_ns       # whose ratio is to be narrow
    answer_every: int = 0       # messages that the sender waits after; 0: after a turn alone
    bases: tuple[int, ...] = ()     # whom each is held against; (): the first
    until: float = math.inf         # by time.monotonic(): no more than the least from then on
    every_s: float = 0.0            # from the beginning of one start to that of the next, at least


@dataclass
class Made:
    """What was made."""

    starts: list[Record] = field(default_factory=list)
    counted: dict[str, Record | str] = field(default_factory=dict)  # by variant; or why none is
    each_s: float = 0.0         # that a start took, with what is around it


def run(name: str, words: tuple[str, ...], seconds: float, passes: str = launch.BOTH) -> Record:
    """Make one run; one that is blind is kept, too."""
    said = launch.record_of(Run(name, words), seconds, passes,
                            fine=(launch.EXIT_FINE, launch.EXIT_BLIND))
    return record_of(said, Path(name))


def blocks_of(size: int, otherwise: tuple[int, ...] = BLOCKS_MS) -> tuple[int, ...]:
    """Milliseconds of work in a block of messages of so many bytes."""
    return LONG_BLOCKS_MS if size >= LONG_FROM_BYTES else otherwise


def start(asked: Asked, number: int) -> Record:
    """One start."""
    # Which processors another host has is not known here.
    placed = any(each.split("=")[0] in (CPUS, "--host") for each in asked.words)
    # Of six starts each place has three.
    block = asked.blocks_ms[number // 2 % len(asked.blocks_ms)]
    waits = ("--answer-every", str(asked.answer_every)) if asked.answer_every else ()
    record = run(asked.variants, ("--alternate", asked.variants, "--block", str(block),
                                  *asked.words, *waits, *([] if placed else cpus_of(number))),
                 asked.seconds)
    check_complete(record)
    if record.at("machine.emulated"):
        raise Refused("this machine is emulated: times mean nothing here")
    return record


def count(asked: Asked, variant: str, first: Record) -> Record | str:
    """A run with probes of one variant; or why this kernel makes none."""
    messages = max(LEAST_COUNTED * first.threads, min(MOST_COUNTED, COUNTED_BYTES // first.bytes))
    try:
        sender, _, receiver = variant.partition(":")
        words = ("--receiver", receiver) if receiver else ()
        return run(variant, (sender, *asked.words, *words, "--messages", str(messages)), 0,
                   "counted")
    except CommandError as error:
        return str(error)


def enough(starts: list[Record], asked: Asked) -> bool:
    """Whether no more starts are made. It looks at how sharp intervals are, and not at which side
    of 1: one that was made longer until it said something would lie."""
    if not asked.least <= len(starts) < asked.most:
        return len(starts) >= asked.most
    if time.monotonic() > asked.until:
        return True
    found = [each.at("experiment.alternation") for each in starts]
    bases = asked.bases or (0,) * len(found[0]["variants"])
    ratios = [turns.over_starts(found, way, asked.cost, base)
              for way, base in enumerate(bases) if way != base]
    return all(ratio and sharp(ratio) for ratio in ratios)


@dataclass
class Starts:
    """The starts of what is asked for, made one at a time."""

    asked: Asked
    records: list[Record] = field(default_factory=list)
    spent_s: float = 0.0
    began: float = -math.inf    # by time.monotonic(): the last one

    def step(self) -> None:
        """One more, not too soon after the last one."""
        time.sleep(max(0.0, self.began + self.asked.every_s - time.monotonic()))
        self.began = began = time.monotonic()
        if not self.asked.blocks_ms:
            self.find_blocks()
        self.records.append(start(self.asked, len(self.records)))
        self.spent_s += time.monotonic() - began

    def find_blocks(self) -> None:
        """What blocks there are, by the size of messages, as a start reads it from the words."""
        short = replace(self.asked, blocks_ms=BLOCKS_MS, seconds=LEAST_S)
        self.asked = replace(self.asked, blocks_ms=blocks_of(start(short, 0).bytes))

    @property
    def enough(self) -> bool:
        """Whether no more are made."""
        return enough(self.records, self.asked)

    @property
    def made(self) -> Made:
        """What was made."""
        return Made(self.records, each_s=max(self.spent_s / len(self.records), self.asked.every_s))


def make_starts(asked: Asked, tell: Callable[[str], None]) -> Made:
    """The starts alone; `tell` is told of each."""
    starts = Starts(asked)
    while not starts.enough:
        tell(f"start {len(starts.records) + 1} of {asked.least} to {asked.most}")
        starts.step()
    return starts.made


def make(asked: Asked, tell: Callable[[str], None]) -> Made:
    """The starts, and then each variant with probes."""
    made = make_starts(asked, tell)
    first = made.starts[0]
    for variant in dict.fromkeys(first.at("experiment.alternation.variants")):
        tell(f"{variant} with probes")
        made.counted[variant] = count(asked, variant, first)
    return made
