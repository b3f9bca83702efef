# SPDX-License-Identifier: GPL-2.0
"""Holds an advice against turns that are taken on the program's path, at its sizes."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from copyscope.common.outcomes import PAYS as TAKES_LESS, UNDECIDED, answer, inverse
from copyscope.common.spread import Spread
from copyscope.common.text import size_text
from copyscope.model.changes import (
    BY_RING,
    FILE_READ,
    GB,
    RING,
    RING_ZEROCOPY,
    ZEROCOPY,
    Change,
)
from copyscope.model.choice import LEAVE, PAYS, PLAIN, UNDECIDED as OPEN, Choice
from copyscope.records.sizes import Bucket, chief_sizes
from copyscope.records.ways import MAPPED, SPLICED
from copyscope.report.alternation import percent
from copyscope.runs import ways
from copyscope.runs.ways import Place

from .advice import MAP, SEGMENT, SPLICE, Advice, by_ring

MOST_SIZES, BUDGET_S = 3, 150.0
# Of the bytes that are sent: sizes with less decide nothing, and take turns from those that do.
LEAST_SHARE = 0.01
# The variant of trace_run that sends so; sendfile of mapped files takes no turns.
VARIANTS = {ZEROCOPY: "A3-whole", PLAIN: "A3-whole", FILE_READ: "sendfile", RING: "uring",
            RING_ZEROCOPY: "uring-zc"}
BY_REFERENCE, IN_SEGMENTS = "udp-zc", "udp"
RELAYING = (SPLICED, "vmsplice")


@dataclass(frozen=True)
class Verified:
    """What the turns say of one way: its processor time over that of what it is used in place of,
    for all sizes from the advised one on; whether the advice held, None if they do not tell."""

    way: str
    said: str
    ratio: Spread
    outcome: str
    per_gb: Change
    of: str = ""                # what of the way took turns

    @property
    def held(self) -> bool | None:
        """Whether the advice held."""
        if self.outcome == UNDECIDED or self.said not in (PAYS, LEAVE):
            return None
        return (self.outcome == TAKES_LESS) == (self.said == PAYS)

    @property
    def text(self) -> str:
        """The same in words."""
        ends = [percent(each).removesuffix(" %") for each in (self.ratio.low, self.ratio.high)]
        told = {True: "the advice held", False: "the advice did not hold",
                None: "not decided" if self.outcome == UNDECIDED else "that settles it"}
        return f"{self.way}{self.of}: {self.outcome}, {percent(self.ratio.middle)} of processor " \
            f"time ({' to '.join(ends)}): {told[self.held]}"


def paying(advice: Advice, told: Sequence[Verified]) -> list[str]:
    """The ways that pay by the turns."""
    return [each.way for each in told if each.outcome == TAKES_LESS and advice.decides(each.way)]


def unless(advice: Advice, told: Sequence[Verified]) -> list[str]:
    """Those that pay by the turns, on a condition that nothing tells of."""
    return [each.way for each in told
            if each.outcome == TAKES_LESS and not advice.decides(each.way)]


def still_open(advice: Advice, told: Sequence[Verified]) -> bool:
    """Whether a way may pay for all that the turns say. A ring is another program: that it might
    pay leaves nothing open."""
    return any(each.outcome == UNDECIDED and each.way not in BY_RING and
               advice.decides(each.way) for each in told)


def weighed(rows: list[dict[str, Any]], bytes_of: dict[int, int], least: int
            ) -> tuple[Spread, float] | None:
    """The ratio over several sizes, each by what its bytes take: of what both take together. And
    what the one that is there takes, in ns a byte of all."""
    used = [0.0, 0.0, 0.0, 0.0]
    starts = []
    for row in rows:
        ratio, per_byte = row["processor_time"]["ratio"], row["processor_ns_per_byte"]
        if ratio is None or per_byte is None or row["bytes"] < least:
            continue
        before = per_byte["median"] / ratio["median"] * bytes_of.get(row["bytes"], 1)
        used = [used[0] + before, *(all_ + before * ratio[end] for all_, end in
                                    zip(used[1:], ("median", "low", "high")))]
        starts.append(ratio["n"])
    if not starts:
        return None
    return Spread(*(each / used[0] for each in used[1:]), min(starts)), \
        used[0] / max(1, sum(bytes_of.values()))


def change_of(ratio: Spread, per_byte: float) -> Change:
    """What a ratio changes for each GB, of what is there now."""
    return Change(*((each - 1) * per_byte * GB for each in (ratio.middle, ratio.low, ratio.high)))


def of_choice(choice: Choice, found: ways.Found, bytes_of: dict[int, int]) -> Verified | None:
    """What the turns say of a choice; None if they are of none such."""
    # A threshold that is advised lies at the beginning of a range, a size that was measured in it.
    least = choice.best.from_bytes if choice.verdict == PAYS and choice.way != PLAIN else 0
    return of_way(choice.way, choice.verdict, found.rows.get(VARIANTS.get(choice.way, "")),
                  bytes_of, least)


def of_way(way: str, said: str, rows: list[dict[str, Any]] | None, bytes_of: dict[int, int],
           least: int = 0) -> Verified | None:
    """The same of a way with its rows."""
    found_of = weighed(rows, bytes_of, least) if rows else None
    if found_of is None:
        return None
    ratio, per_byte = found_of
    if way == PLAIN:
        # What is there is the way by reference.
        ratio, per_byte = inverse(ratio), per_byte * ratio.middle
    return Verified(way, said, ratio, answer(ratio).outcome, change_of(ratio, per_byte))


def chief_sends(advice: Advice) -> list[Bucket]:
    """Its sends, without sizes that carry next to nothing."""
    sent = [*advice.sent, *advice.referenced]
    whole = sum(each.bytes for each in sent)
    return [each for each in sent if each.bytes >= LEAST_SHARE * whole]


def chief_size(advice: Advice) -> int:
    """Bytes of the sends that carry most."""
    return chief_sizes(chief_sends(advice), 1)[0]


def segments_words(segments: tuple[int, int]) -> tuple[str, ...]:
    """How trace_run sends datagrams of that size, to a receiver that changes nothing."""
    return ("--piece", str(segments[0]), "--behaviours", "no-gro")


def by_itself(way: str, variant: str, place: Place, size: int, of: str,
              tell: Callable[[str], None]) -> Verified | None:
    """Take turns of a way that has no price and of what it is used in place of, at one size."""
    found = ways.measure(place, (size,), BUDGET_S / 2, tell, (variant,))
    one = of_way(way, OPEN, found.rows.get(variant), {})
    return one and replace(one, of=of)


def verify_segments(advice: Advice, tell: Callable[[str], None]) -> Verified | None:
    """Take turns of one send for all datagrams that are there at once, and of one for each."""
    if advice.segments is None:
        return None
    size, count = advice.segments
    place = Place(advice.way.path, advice.connections, segments_words(advice.segments))
    return by_itself(SEGMENT, IN_SEGMENTS, place, size * count,
                     f" ({count} datagrams of {size_text(size)} in a send)", tell)


def verify_relay(advice: Advice, tell: Callable[[str], None]) -> Verified | None:
    """Take turns of splices at either end and of plain calls: a relay has both ends. Memory stands
    for what the pipe gets from the other socket."""
    if not advice.relays:
        return None
    size = chief_size(advice)
    found = ways.measure(Place(advice.way.path, advice.connections), (size,), BUDGET_S / 2, tell,
                         RELAYING)
    ends = [weighed(found.rows.get(each, []), {}, 0) for each in RELAYING]
    if ends[0] is None or ends[1] is None:
        return None
    (got, per_byte), (sent, _) = ends[0], ends[1]
    ratio = Spread(got.middle + sent.middle - 1, got.low + sent.low - 1, got.high + sent.high - 1,
                   min(got.n, sent.n))
    return Verified(SPLICE, OPEN, ratio, answer(ratio).outcome, change_of(ratio, per_byte),
                    f" of {size_text(size)}, of what is passed on unread")


def verify_map(advice: Advice, tell: Callable[[str], None]) -> Verified | None:
    """Take turns of a receiver that maps and of one that copies."""
    if not advice.mapped_bytes:
        return None
    return by_itself(MAP, MAPPED, Place(advice.way.path, advice.connections), advice.mapped_bytes,
                     f", if {size_text(advice.mapped_bytes)} are sent at once", tell)


def by_files(advice: Advice) -> Choice | None:
    """The choice of one sendfile() for an answer that is read and sent in pieces; None: it is
    none, or the answer is one piece."""
    return next((each for each in advice.choices if each.way == FILE_READ and
                 advice.answer_bytes >= 2 * chief_size(advice)), None)


def verify_files(advice: Advice, choice: Choice, tell: Callable[[str], None]) -> Verified | None:
    """Take turns of whole answers, read and sent in the program's pieces and by sendfile()."""
    place = Place(advice.way.path, advice.connections, ("--piece", str(chief_size(advice))),
                  answer_bytes=advice.answer_bytes)
    found = ways.measure(place, (advice.answer_bytes,), BUDGET_S / 2, tell, (VARIANTS[FILE_READ],))
    one = of_choice(choice, found, {})
    return one and replace(one, of=f" of {size_text(advice.answer_bytes)} at once")


def verify(advice: Advice, tell: Callable[[str], None]) -> list[Verified]:
    """Take turns as the program sends, and say of each choice what they say."""
    sent = chief_sends(advice)
    sizes = chief_sizes(sent, MOST_SIZES)
    bytes_of = {size: sum(each.bytes for each in sent if chief_sizes([each], 1) == [size])
                for size in sizes}
    place = Place(advice.way.path, advice.connections, answer_bytes=advice.answer_bytes)
    apart = by_files(advice)
    wanted = dict.fromkeys([BY_REFERENCE] if advice.datagrams else [
        VARIANTS[each.way] for each in advice.choices if each.way in VARIANTS and each != apart])
    found = ways.measure(place, tuple(sizes), BUDGET_S, tell, tuple(wanted))
    if advice.datagrams:
        both = (of_way(PLAIN if advice.referenced else ZEROCOPY, OPEN,
                       found.rows.get(BY_REFERENCE), bytes_of), verify_segments(advice, tell))
        tell("")
        return [each for each in both if each]
    # What a ring sends by reference takes turns with a ring's copy, and not with send().
    told = [*(of_choice(each, found, bytes_of) for each in advice.choices
              if each.way != PLAIN or not by_ring(advice.process)),
            apart and verify_files(advice, apart, tell), verify_relay(advice, tell),
            verify_map(advice, tell)]
    tell("")
    return [each for each in told if each]
