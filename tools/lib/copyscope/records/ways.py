# SPDX-License-Identifier: GPL-2.0
"""Ways to send that were priced on a path: the table of them, and what was decided of each."""
from __future__ import annotations

from typing import Any

from copyscope.common.outcomes import ALIKE, COSTS, PAYS, UNDECIDED, spans
from copyscope.common.text import listed, size_text

PLAIN, FROM_FILE, IN_PIECES = "A1-plain", "A1-file", "A1"
# The plain sender, whose receiver splices or maps.
SPLICED, MAPPED = RECEIVERS = f"{PLAIN}:splice", f"{PLAIN}:map"
MEMORY, FILE, PIECES, DATAGRAMS, EACH = "memory", "file", "pieces", "datagrams", "each datagram"
# What a program does today, by where its bytes are; every other way is used in place of one.
BASES = {MEMORY: PLAIN, FILE: FROM_FILE, PIECES: IN_PIECES, DATAGRAMS: "udp",
         EACH: "udp-each"}
SOURCES = {"A2": PIECES, "A3-whole": MEMORY, "sendfile": FILE, "splice": FILE, "vmsplice": MEMORY,
           "uring": MEMORY, "uring-zc": MEMORY, "uring-zc-fixed": MEMORY, "udp-zc": DATAGRAMS,
           "udp": EACH, SPLICED: MEMORY, MAPPED: MEMORY}
OVER_TCP = tuple(each for each, source in SOURCES.items()
                 if source not in (DATAGRAMS, EACH) and each not in RECEIVERS)
CALLS = {PLAIN: "send()", IN_PIECES: "gather, send()", FROM_FILE: "read(), send()",
         "A2": "sendmsg()", "A3-whole": "MSG_ZEROCOPY", "sendfile": "sendfile()",
         "splice": "splice()", "vmsplice": "vmsplice()", "uring": "io_uring SEND",
         "uring-zc": "io_uring SEND_ZC", "uring-zc-fixed": "SEND_ZC, registered",
         "udp-each": "send() by UDP for each datagram", "udp": "send() by UDP",
         "udp-zc": "MSG_ZEROCOPY by UDP", SPLICED: "splice() to receive",
         MAPPED: "TCP_ZEROCOPY_RECEIVE"}


def outcomes(rows: list[dict[str, Any]], key: str = "processor_time") -> dict[int, str]:
    """What was decided at each size."""
    return {each["bytes"]: each[key]["outcome"] for each in rows}


def ends_of(judged: dict[int, str], outcome: str, alone: str = "") -> str:
    """Where an outcome holds: 4 KiB to 64 KiB and 1 MiB; `alone` stands before a size by itself."""
    return listed([alone + size_text(low) if low == high else
                   f"{size_text(low)} to {size_text(high)}"
                   for low, high in spans(judged, outcome)])


def told(judged: dict[int, str]) -> str:
    """The answer of one way in words: pays 16 KiB to 1 MiB, costs at 64 B."""
    found = set(judged.values())
    if found in ({PAYS}, {COSTS}):
        return "always" if PAYS in found else "never"
    parts = []
    for outcome in (PAYS, ALIKE, COSTS, UNDECIDED):
        where = ends_of(judged, outcome, "at ")
        parts += [f"{outcome} {where}"] if where else []
    return ("never: " if not found & {PAYS, UNDECIDED} else "") + ", ".join(parts)


def brief(judged: dict[int, str]) -> str:
    """Where it pays, for a cell of a table, and where nobody knows."""
    pays, unknown = (ends_of(judged, each) for each in (PAYS, UNDECIDED))
    found = "always" if set(judged.values()) == {PAYS} else pays or "never"
    return found + (f"; open: {unknown}" if unknown else "")


def best(ways: list[dict[str, Any]], source: str) -> dict[int, str]:
    """The way that takes least processor time at each size, of bytes from such a source: one that
    pays, or else what a program does today."""
    least: dict[int, tuple[float, str]] = {}
    for way in ways:
        for each in way["sizes"] if way["source"] == source else []:
            used = each["processor_time"]
            now = least.setdefault(each["bytes"], (1.0, BASES[source]))
            if used["outcome"] == PAYS:
                least[each["bytes"]] = min(now, (used["ratio"]["median"], way["variant"]))
    return {size: name for size, (_, name) in least.items()}


def decided(data: dict[str, Any]) -> tuple[int, int]:
    """How many cells are decided or alike, of how many."""
    cells = [outcome for way in data["ways"] for outcome in outcomes(way["sizes"]).values()]
    return sum(each != UNDECIDED for each in cells), len(cells)


def flips(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[str]:
    """Cells that one record says pay and the other says cost, a line each."""
    def cells(documents: list[dict[str, Any]]) -> dict[tuple[str, int, str, int], str]:
        return {(data["path"]["kind"], data["threads"], way["variant"], size): outcome
                for data in documents for way in data["ways"]
                for size, outcome in outcomes(way["sizes"]).items()}

    old, new = cells(before), cells(after)
    return [f"{CALLS[name]} on {path}, {threads} connections, {size_text(size)}: "
            f"{old[path, threads, name, size]}, then {outcome}"
            for (path, threads, name, size), outcome in new.items()
            if {old.get((path, threads, name, size)), outcome} == {PAYS, COSTS}]
