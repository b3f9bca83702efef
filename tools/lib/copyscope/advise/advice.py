# SPDX-License-Identifier: GPL-2.0
"""The advice for one service: what it costs today, what would change, how each is known."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from copyscope.common.tables import COPY_SITES, most
from copyscope.model.changes import (
    BY_RING,
    FILE,
    FILE_READ,
    GB,
    OF_FILES,
    READ_ROW,
    STREAM,
    TURNS,
    ZEROCOPY,
    Change,
    unpriced,
)
from copyscope.model.choice import LEAVE, PAYS, UNDECIDED, Choice, Sends, back, choose
from copyscope.model.costs import Costs
from copyscope.model.terms import PAGE_BYTES
from copyscope.records.sizes import (
    PLAIN as SENT_PLAIN,
    RECV,
    SEND,
    ZEROCOPY as SENT_BY_REFERENCE,
    Bucket,
    buckets,
    chief_sizes,
)

from .route import Way

# Of a program that waits for each answer, sends and receives are about as many.
MOST_PER_ANSWER = 2.0
MOST_CONNECTIONS = 8
# Longer answers fill the buffers of both sockets, as a stream does.
MOST_ANSWER_BYTES = 16 << 20
SEGMENT = "UDP_SEGMENT"
SPLICE, MAP = "splice", "TCP_ZEROCOPY_RECEIVE"
# Who receives within so much of what it sends may pass it on unread.
RELAYED = 0.1
# Of UDP: why a way has no price.
BY_TURNS_ALONE = "prices are of TCP; turns (--verify) tell it"
PASSED_ON = "turns (--verify) tell it, if the program passes on unread what it receives"
IN_PAGES = "turns (--verify) tell it; only whole pages of a packet are mapped"
# What a packet of Ethernet carries: a longer send is cut on its way as it is, by UDP_SEGMENT or IP.
UNCUT_BYTES = 1500 - 20 - 8
# What a send that is cut carries at most.
MOST_SEGMENTS, MOST_SEND_BYTES = most("datagrams_of_send"), most("datagram_bytes")
# Of the bytes that a process sent: where send copied less, no way saves anything.
LITTLE = 0.01


@dataclass(frozen=True)
class Quantity:
    """A number: its name, unit and ends, and how it is known."""

    name: str
    unit: str
    value: float
    low: float | None
    high: float | None
    how: str


@dataclass(frozen=True)
class Advice:
    """What is known of one service, whose processes are as one (services.py)."""

    name: str
    comm: str
    process: dict[str, Any]
    way: Way
    sent: list[Bucket]              # plain
    referenced: list[Bucket]        # by MSG_ZEROCOPY already
    choices: tuple[Choice, ...]
    source: str                     # of the bytes: file, memory or ""
    pattern: str                    # of trace_run
    unpriced: dict[str, str]        # ways without a number, and why
    source_told: str = ""           # how the source is known, if nobody said it
    datagrams: bool = False         # it sends by UDP, which has no prices

    @property
    def verdict(self) -> str:
        """Of all ways together: one that pays is enough; without a known source none by a file. To
        send by a ring is another program: that it might pay is no reason to leave this one open."""
        verdicts = [each.verdict for each in self.choices
                    if self.decides(each.way) and
                    (each.way not in BY_RING or each.verdict == PAYS)]
        return UNDECIDED if self.unpriced and not self.choices else \
            next((each for each in (PAYS, UNDECIDED) if each in verdicts), LEAVE)

    def decides(self, way: str) -> bool:
        """Whether it counts if a way pays: one by a file only where the bytes come from one.
        Nothing tells that what is received is passed on unread, as splice() does, nor how much its
        peer sends at once."""
        return way not in (SPLICE, MAP) and (way not in OF_FILES or self.source == "file")

    @property
    def little(self) -> float | None:
        """The share of what it sent that send copied, where that is next to nothing."""
        whole = self.process["sum"]["counts"].get("accepted_bytes") or 0
        copied = self.process["sum"]["sites"]["tx_copy"]["bytes"]
        share = copied / whole if whole and copied is not None else 1.0
        return share if share < LITTLE and not self.referenced else None

    @property
    def answer_bytes(self) -> int:
        """What it sends for each message that it receives, if it waits for those; 0: it streams.
        No more than that is on its way at once."""
        if self.datagrams:
            return 0
        asked = sum(each.calls for each in buckets(self.process, RECV, SENT_PLAIN))
        whole = sum(each.bytes for each in (*self.sent, *self.referenced))
        return round(whole / asked) if asked and whole / asked <= MOST_ANSWER_BYTES else 0

    @property
    def relays(self) -> bool:
        """It sends about as many bytes by TCP as it receives: it may pass them on unread."""
        counts = self.process["sum"]["counts"]
        sent, got = (counts.get(each) or 0 for each in ("accepted_bytes", "returned_bytes"))
        return bool(self.sent) and not self.datagrams and abs(sent - got) <= RELAYED * sent

    @property
    def sends(self) -> bool:
        """Whether it sends at all."""
        return bool(self.sent or self.referenced)

    @property
    def tells(self) -> bool:
        """Whether there is a way to say anything of."""
        return bool(self.choices or self.unpriced)

    @property
    def mapped_bytes(self) -> int:
        """Bytes of the receives by TCP that carry most, where they are of a page or more, which
        could be mapped; 0: of less."""
        got = [] if self.datagrams else buckets(self.process, RECV, SENT_PLAIN)
        size = chief_sizes(got, 1)[0] if got else 0
        return size if size >= PAGE_BYTES else 0

    @property
    def segments(self) -> tuple[int, int] | None:
        """The bytes of a datagram, and how many one send may carry in place of one each: as many
        as it sends for each that it receives, where it receives any. None: it has no two."""
        if not self.datagrams or not self.sent:
            return None
        size, = chief_sizes(self.sent, 1)
        asked = sum(each.calls for each in buckets(self.process, RECV, SENT_PLAIN))
        ready = sum(each.calls for each in self.sent) // asked if asked else MOST_SEGMENTS
        count = min(ready, MOST_SEGMENTS, MOST_SEND_BYTES // size)
        return (size, count) if size <= UNCUT_BYTES and count > 1 else None

    @property
    def connections(self) -> int:
        """As many as a run that is like it has."""
        return max(1, min(MOST_CONNECTIONS, self.process["sum"]["sockets"]))


def sends_of(found: list[Bucket]) -> list[Sends]:
    """The same for the model."""
    return [Sends(each.from_bytes, each.mean_bytes, each.calls) for each in found]


def pattern_of(process: dict[str, Any], sent: list[Bucket]) -> str:
    """What trace_run calls it: messages in a stream, or each with an answer."""
    sends = sum(each.calls for each in sent)
    receives = sum(each.calls for each in buckets(process, RECV, SENT_PLAIN))
    alike = sends and receives and max(sends / receives, receives / sends) <= MOST_PER_ANSWER
    return TURNS if alike else STREAM


def of_files(costs: Costs, source: str) -> list[str]:
    """What sendfile may be used in place of: a send of what was read, or of what is mapped."""
    known = not costs.lacking(READ_ROW)
    if source == "file":
        return [FILE_READ if known else FILE]
    return [] if source else [*([FILE_READ] if known else []), FILE]


def of_process(name: str, process: dict[str, Any], way: Way, costs: Costs,
               source: str, source_told: str = "") -> Advice:
    """Advise on one service."""
    sent, referenced = (buckets(process, SEND, each) for each in (SENT_PLAIN, SENT_BY_REFERENCE))
    pattern, choices = pattern_of(process, [*sent, *referenced]), []
    lacking = unpriced(costs)
    if sent:
        ways = [ZEROCOPY, *of_files(costs, source), *(() if lacking else BY_RING)]
        choices += [choose(costs, each, way.route, pattern, sends_of(sent)) for each in ways]
    if referenced and not (by_ring(process) and lacking):
        choices.append(back(costs, way.route, pattern, sends_of(referenced), by_ring(process)))
    found = Advice(name, process["comm"], process, way, sent, referenced, tuple(choices), source,
                   pattern, lacking, source_told)
    if found.little is not None:
        return replace(found, choices=(), unpriced={})
    return replace(found, unpriced={**(lacking if found.sends else {}),
                                    **({SPLICE: PASSED_ON} if found.relays else {}),
                                    **({MAP: IN_PAGES} if found.mapped_bytes else {})})


def of_datagrams(name: str, process: dict[str, Any], way: Way, source: str) -> Advice:
    """The same of one that sends by UDP: nothing is priced."""
    sent, referenced = (buckets(process, SEND, each) for each in (SENT_PLAIN, SENT_BY_REFERENCE))
    found = Advice(name, process["comm"], process, way, sent, referenced, (), source, STREAM, {},
                   datagrams=True)
    ways = [*([ZEROCOPY] if found.sends else []), *([SEGMENT] if found.segments else [])]
    return replace(found, unpriced=dict.fromkeys(ways, BY_TURNS_ALONE))


def by_ring(process: dict[str, Any]) -> bool:
    """Are its sends by reference those of io_uring? Of records of before nobody knows."""
    holds = process.get("holds") or {}
    return bool(holds.get("by_ring"))


def payload_bytes(process: dict[str, Any]) -> int:
    """What it sent and received; nothing where that is not known."""
    counts = process["sum"]["counts"]
    return (counts.get("accepted_bytes") or 0) + (counts.get("returned_bytes") or 0)


def copied(process: dict[str, Any]) -> list[tuple[str, int | None, str]]:
    """Bytes copied at each site, and how that is known; a site where nothing was is left out."""
    sites = process["sum"]["sites"]
    return [(site, sites[site]["bytes"], sites[site]["how"]) for site in COPY_SITES
            if site in sites and sites[site]["bytes"] != 0]


def cpu_of_copies(process: dict[str, Any]) -> Quantity | None:
    """The share of its processor time that copying took; None if no sample found it."""
    use = process.get("cpu")
    if not use:
        return None
    share = use["copies"]
    return Quantity("copies.cpu_share", "share", share["share"], share["share_low"],
                    share["share_high"], "sampled")


def per_gb_of_copies(process: dict[str, Any]) -> Quantity | None:
    """The same in processor time a GB of payload."""
    share, size = cpu_of_copies(process), payload_bytes(process)
    if not share or not size:
        return None
    ns = process["cpu"]["clock_seconds"] * 1e9 * GB / size
    return Quantity("copies.cpu_per_gb", "ns/GB", share.value * ns, (share.low or 0.0) * ns,
                    (share.high or 0.0) * ns, "sampled")


def of_change(name: str, change: Change) -> Quantity:
    """A change as a number."""
    return Quantity(name, "ns/GB", change.ns, change.low, change.high, "modelled")


def quantities(advice: Advice) -> Iterator[Quantity]:
    """Every number of an advice, by a name that stays."""
    for site, size, how in copied(advice.process):
        if size is not None:
            yield Quantity(f"copied.{site}", "bytes", size, None, None, how)
            payload = payload_bytes(advice.process)
            if payload:
                yield Quantity(f"copied.{site}.per_gb", "bytes/GB", size * GB / payload, None,
                               None, how)
    for sampled in (cpu_of_copies(advice.process), per_gb_of_copies(advice.process)):
        if sampled:
            yield sampled
    route = advice.way.route
    yield Quantity("path.local_share", "share", (route.local_low + route.local_high) / 2,
                   route.local_low, route.local_high, "derived")
    for choice in advice.choices:
        for option in choice.options:
            yield of_change(f"{choice.way}.from_{option.from_bytes}.change", option.per_gb)
        if choice.verdict == PAYS:
            yield Quantity(f"{choice.way}.best_from", "bytes", choice.best.from_bytes, None, None,
                           "modelled")


def as_json(advice: Advice) -> dict[str, Any]:
    """One advice as a document has it."""
    return {
        "pid": advice.process["pid"], "pids": advice.process["pids"],
        "process": advice.name, "comm": advice.comm,
        "verdict": advice.verdict, "source": advice.source or None,
        "path": {"told": advice.way.told, "like": advice.way.path, "in_the_way": [
            {"cause": each.cause, "where": each.where, "remedy": each.remedy or None}
            for each in advice.way.hindrances]},
        "ways": [{"way": each.way, "verdict": each.verdict, "best_from_bytes":
                  each.best.from_bytes if each.verdict == PAYS else None}
                 for each in advice.choices],
        "not_priced": [{"way": way, "why": why} for way, why in advice.unpriced.items()],
        "quantities": [vars(each) for each in quantities(advice)]}


