# SPDX-License-Identifier: GPL-2.0
"""Holds the record of a watch against what a random program in its window says of its own calls."""
from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.draw import UDP, WHOLE, Draw
from fuzz.suite import Watched
from helpers.watch_tool import broken
from odd.judge import SHORT, completions_are_least, is_short, part, record_in, shown_first, text
from odd.words import numbers, unbacked_sentences

SITES = ("tx_copy", "tx_reference", "tx_splice", "rx_copy", "rx_map", "rx_splice", "rx_discard")
SUMS = ("accepted_bytes", "returned_bytes", "peeked_bytes")
# How many bytes of these a call that connects put into the SYN, and copied so, it does not say.
SYN_MAY_COPY = ("tx_copy", "tx_reference")
# No tracepoint tells that an urgent byte left the queue unread.
URGENT_MAY_LEAVE = ("rx_splice", "returned_bytes")


@dataclass(frozen=True)
class Fault:
    """What is not so: its kind, without numbers; all of it."""
    kind: str
    said: str


@dataclass
class Compared:
    """What came of one program."""
    seed: int
    faults: list[Fault] = field(default_factory=list)
    sockets: int = 0
    # That its calls moved; of these, those at sites that the record calls not measured, by what it says of why.
    moved_bytes: int = 0
    unmeasured_bytes: Counter = field(default_factory=Counter)


def wrong(where: str, name: str, known: object, told: object) -> Fault:
    """A number that is not so."""
    return Fault(f"wrong {name}", f"{where}: {name} is {known}, told {told}")


def wrong_bytes(where: str, known: dict[str, int], marks: set[str], told: dict, backend: str) -> Iterator[Fault]:
    """Sites and sums that are not so; null is not measured."""
    unseen = URGENT_MAY_LEAVE if "urgent" in marks and backend == "tracepoint" else ()
    for name in (*SITES, *SUMS):
        if name in unseen or "fast open" in marks and name in SYN_MAY_COPY:
            continue
        if told[name] not in (None, known[name]):
            yield wrong(where, name, known[name], told[name])
    if "fast open" in marks and None not in (both := [told[name] for name in SYN_MAY_COPY]) and \
            sum(both) != sum(known[name] for name in SYN_MAY_COPY):
        yield wrong(where, " + ".join(SYN_MAY_COPY), sum(known[name] for name in SYN_MAY_COPY), sum(both))


def wrong_sends(where: str, known: dict[str, int], sockets: list[dict], told: dict, way: str) -> Iterator[Fault]:
    """Zero-copy sends of these sockets, and what the kernel said of them."""
    if told["zerocopy_sends"] not in (None, known["zerocopy_sends"]):
        yield wrong(where, "zerocopy_sends", known["zerocopy_sends"], told["zerocopy_sends"])
    for name in ("completed_sends", "copied_sends"):
        # What completed before a window may be read in it, and what the program never read is told, too.
        if told[name] is not None and told[name] < known[name] and way == WHOLE and not completions_are_least(sockets):
            yield wrong(where, name, f"at least {known[name]}", told[name])
    if None not in (told["copied_sends"], told["completed_sends"]) and told["copied_sends"] > told["completed_sends"]:
        yield Fault("more COPIED than completed", f"{where}: {told['copied_sends']} of {told['completed_sends']}")


# late_copy has no bound here: what the kernel sends again after a program's last look is copied again.
def wrong_sockets(truth: dict, record: dict, way: str) -> Iterator[Fault]:
    """The same of each socket that both know by its cookie."""
    theirs = {each["cookie"]: each for each in record["sockets"]}
    for mine in truth["sockets"]:
        if mine["cookie"] not in theirs:
            continue
        marks, told = set(mine["marks"]), numbers(theirs[mine["cookie"]])
        where = f"socket {mine['number']} ({', '.join(mine['marks']) or 'plain'})"
        yield from wrong_bytes(where, mine["moved"], marks, told, record["backend"]["name"])
        yield from wrong_sends(where, mine["moved"], [theirs[mine["cookie"]]], told, way)


def broken_laws(truth: dict, record: dict) -> Iterator[Fault]:
    """Laws that the kernel kept: what is called broken is the watch's own."""
    mine = {each["cookie"]: each for each in truth["sockets"]}
    for each in record["sockets"]:
        for name, law in each["laws"].items():
            if law["status"] == "broken":
                known = mine.get(each["cookie"], {"number": "?", "marks": ["moved nothing"]})
                yield Fault(f"false BROKEN {name}", f"socket {known['number']} ({', '.join(known['marks']) or 'plain'}): "
                            f"{name} {law['left']} against {law['right']}")
    for law in record["laws"]:
        if law["status"] == "broken":
            yield Fault(f"false BROKEN {law['law']}", f"{law['law']} of all: {law['left']} against {law['right']}")


def measured(compared: Compared, truth: dict, record: dict) -> None:
    """How much moved, and at which sites the record says that it was not measured."""
    told = numbers(record["total"])
    compared.moved_bytes = sum(truth["moved"][site] for site in SITES)
    for site in SITES:
        if told[site] is None and truth["moved"][site]:
            compared.unmeasured_bytes[f"{site}: {record['sites'][site]['why']}"] += truth["moved"][site]
    cookies = {each["cookie"] for each in record["sockets"]}
    compared.sockets = sum(each["cookie"] in cookies for each in truth["sockets"])


def compare_one(truth: dict, record: dict, way: str, first: str) -> Compared:
    """One program against a record that has it alone, or its part."""
    compared, marks = Compared(truth["seed"]), set(truth["marks"])
    measured(compared, truth, record)
    compared.faults += [Fault("schema", fault) for fault in record["faults"][:3]]
    if is_short(record):
        if not SHORT.search(first):
            compared.faults.append(Fault("short, unsaid", first[:300]))
        return compared
    compared.faults += broken_laws(truth, record)
    compared.faults += wrong_bytes("program", truth["moved"], marks, numbers(record["total"]),
                                   record["backend"]["name"])
    compared.faults += wrong_sends("program", truth["moved"], record["sockets"], numbers(record["total"]), way)
    compared.faults += wrong_sockets(truth, record, way)
    compared.faults += [Fault("sentence", said) for said in unbacked_sentences(record)]
    return compared


def pages_are_copied(truth: dict) -> None:
    """Counts as copied what went by sendfile or splice into UDP."""
    for moved in (truth["moved"], *(each["moved"] for each in truth["sockets"])):
        moved["tx_copy"] += moved["tx_splice"]
        moved["tx_splice"] = 0


def compare(folder: Path, drawn: Draw) -> list[Compared]:
    """Each program of one watch."""
    place, results = Watched(folder, drawn), []
    told, status, data = (text(place.file(kind)) for kind in ("told", "status", "json"))
    try:
        record = record_in(data)
    except ValueError:
        failed = Fault("no record", f"status {status}: {told[-300:]}")
        return [Compared(seed, [failed]) for seed in drawn.programs]
    alone, first = len(drawn.programs) == 1, shown_first(data)
    for seed in drawn.programs:
        try:
            truth = json.loads(text(place.truth(seed)))
        except ValueError:
            results.append(Compared(seed, [Fault("the program failed", told[-300:])]))
            continue
        # udp_sendpage() of Debian's 6.1.0-56 hands the page to udp_sendmsg(), and ip_generic_getfrag() copies it.
        if drawn.protocol == UDP and record["machine"]["kernel"].startswith("6.1."):
            pages_are_copied(truth)
        results.append(compare_one(truth, record if alone else part(record, set(truth["pids"])), drawn.way, first))
    if not alone and (laws := [law["law"] for law in broken({**record, "sockets": []})]):
        results[0].faults += [Fault(f"false BROKEN {law}", f"{law} of all programs") for law in laws]
    if status != "0" and not any(each.faults for each in results):
        results[0].faults.append(Fault("status", f"status {status}: {told[-300:]}"))
    return results
