# SPDX-License-Identifier: GPL-2.0
"""Answers for each way what it copies, pins, calls and needs, and when it pays: from records."""
from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copyscope.common.outcomes import won_up_to
from copyscope.common.tables import COPY_SITES, PATHS_OF_ONE_HOST, TLS_SITES
from copyscope.common.text import size_text
from copyscope.records import documents, ways
from copyscope.records.copies import number
from copyscope_studies.ways import CALLS, CALLS_OF, PLAIN, WAYS, Way

SHEET, FACTS, CROSSOVERS, TURNS = "ways.csv", "facts.json", "crossovers", "turns"
# A profile whose variants are all read by the plain receiver; its crossovers lie beside the folder.
PLAIN_PROFILE = "mt25029"
# Of README's table.
SHOWN_PATHS = ("lo", "veth", "nic")
UNMEASURED, ABSENT = "not measured", "absent"
ENDS = {"send": "to send", "receive": "to receive"}
# What a way needs: the first release that has it, by its manual page, and what else.
NEEDS: dict[str, dict[str, str]] = {
    "send": {
        "A1": "", "A1-plain": "", "A1-8send": "", "A2": "", "A2-more": "",
        "A3": "4.14, SO_ZEROCOPY, memory left alone until completion", "A3-aligned": "as A3",
        "A3-whole": "as A3", "A3-unset": "", "sendfile": "a file", "splice": "a file, a pipe",
        "vmsplice": "a pipe, memory left alone until it is read", "vmsplice-gift": "as vmsplice",
        "uring": "5.6, io_uring", "uring-zc": "6.0, io_uring, memory left alone until notified",
        "uring-zc-fixed": "as uring-zc, registered buffers", "uring-zc-sqpoll": "as uring-zc",
        "ktls": "5.1, CONFIG_TLS", "ktls-1.2": "4.13, CONFIG_TLS", "ktls-more": "as ktls",
        "ktls-sendfile": "as ktls, a file; 6.1 may hang",
        "ktls-sendfile-1.2": "as ktls-1.2, a file; 6.1 may hang",
        "udp": "4.18, datagrams", "udp-each": "datagrams", "udp-zc": "5.0, datagrams, SO_ZEROCOPY",
        "A1-file": "a file"},
    "receive": {
        "recv": "", "perfield": "", "recvmsg": "", "trunc": "no use of the bytes",
        "peek": "a second read", "splice": "a pipe",
        "map": "4.18, packets of whole pages", "uring": "5.6, io_uring",
        "uring-multishot": "6.0, io_uring, provided buffers",
        "ktls": "5.1, CONFIG_TLS", "ktls-1.2": "4.17, CONFIG_TLS"}}
HEAD = ("way", *PATHS_OF_ONE_HOST, "pages pinned", "system calls", "what it needs", "pays from")
Cell = dict[str, str]


@dataclass(frozen=True)
class Found:
    """What is known: the sheet of all runs, system calls by way, records of crossovers."""

    cells: Sequence[Cell]
    calls: dict[str, int | None]
    crossings: Sequence[dict[str, Any]]
    turned: Sequence[dict[str, Any]] = ()   # records of ways that took turns

    @property
    def kernels(self) -> list[str]:
        """The releases, in the order of the sheet."""
        return list(dict.fromkeys(each["kernel"] for each in self.cells))

    def cell(self, kernel: str, way: Way, path: str) -> Cell | None:
        """The run of a way on a path; None if the sheet has none."""
        return next((each for each in self.cells if each["kernel"] == kernel and
                     (each["variant"], each["receiver"], each["path"]) ==
                     (way.variant, way.receiver, path)), None)


def load(folder: Path | None, sheet: str = "") -> Found:
    """Everything that a folder knows; the sheet is read there unless it is given."""
    if not sheet and folder and (folder / SHEET).exists():
        sheet = (folder / SHEET).read_text(encoding="utf-8")
    facts: list[dict[str, Any]] = []
    if folder and (folder / FACTS).exists():
        facts = documents.load(folder / FACTS, "facts", "run tools/facts again")["facts"]
    return Found(list(csv.DictReader(io.StringIO(sheet))),
                 {each["of"]: each["number"] for each in facts if each["name"] == CALLS},
                 [*crossings(folder / CROSSOVERS),
                  *crossings(folder.parent / CROSSOVERS, PLAIN_PROFILE)] if folder else [],
                 [documents.load(each, "ways", "remove the file to measure it again")
                  for each in sorted((folder / TURNS).glob("*.json"))] if folder else [])


def chief(found: Found) -> str:
    """The kernel that has most of the runs: the one that is told where there is room for one."""
    ran = [each["kernel"] for each in found.cells if each["ran"] == "yes"]
    return max(found.kernels, key=ran.count)


def release(kernel: str) -> str:
    """A kernel without what its distribution adds: 6.12.95."""
    return re.split("[+-]", kernel)[0]


def crossings(folder: Path, profile: str = "") -> list[dict[str, Any]]:
    """The records of crossovers in a folder, by name: of a profile, or of ways."""
    found = [documents.load(each, "crossover", "remove the file to measure it again")
             for each in sorted(folder.glob(f"{profile}*.json"))]
    return [each for each in found if each.get("profile", "") == profile]


def bytes_at(cell: Cell, site: str) -> str:
    """Bytes at a site; older tables lack those of TLS, which no way of theirs passed."""
    return cell.get(f"{site}_bytes", "0" if site in TLS_SITES else "")


def copies(cell: Cell) -> dict[str, float | None]:
    """Copies by a processor of each payload byte, by site; None if not measured."""
    payload = int(cell["accepted_bytes"])
    return {site: int(found) / payload if (found := bytes_at(cell, site)) else None
            for site in COPY_SITES}


def copied(cell: Cell | None) -> str:
    """How often each byte was copied in all."""
    if cell is None:
        return UNMEASURED
    if cell["ran"] != "yes":
        return ABSENT
    parts = copies(cell)
    total = sum(each for each in parts.values() if each is not None)
    return f"≥ {number(total)}" if None in parts.values() else number(total)


def a_message(total: float, messages: int) -> str:
    """A count for one message."""
    return f"{total / messages:.1f}" if total else "0"


def pins(cells: Iterable[Cell | None]) -> str:
    """Pages pinned for a message, on the first path that knows."""
    known = next((each for each in cells if each and each["pinned_pages"]), None)
    return a_message(int(known["pinned_pages"]), int(known["messages"])) if known else UNMEASURED


def calls(found: Found, way: Way) -> str:
    """System calls of its end for a message."""
    total = found.calls.get(f"{way.end} {way.name}")
    return UNMEASURED if total is None else a_message(total, CALLS_OF)


def needs(way: Way) -> str:
    """What it needs, and who sends to it if that is not the plain one."""
    own = NEEDS[way.end].get(way.name, "not told")
    other = way.end == "receive" and way.variant != PLAIN
    return ", ".join([*[own] * bool(own), *[f"sent by {way.variant}"] * other]) or "-"


def pays(found: Found, way: Way) -> str:
    """Where it pays by turns, by path, with one connection; of what took none, from which sizes on
    it is faster than the plain one."""
    if way.word == PLAIN:
        return "-"
    by_turns = turned(found, way)
    if by_turns:
        return "; ".join(f"{path}: {ways.told(ways.outcomes(each['sizes']))}"
                         for path, each in by_turns.items())
    mine: dict[str, str] = {}
    for each in found.crossings:
        if (each["first"], each["second"], each["threads"]) == (PLAIN, way.word, 1):
            # Searches of ways come first, and are of one day.
            mine.setdefault(each["path"]["kind"], when(each, way.word))
    return "; ".join(f"{path}: {answer}" for path, answer in mine.items()) or UNMEASURED


def turned(found: Found, way: Way) -> dict[str, dict[str, Any]]:
    """What turns say of a way to send, by path, with one connection."""
    return {data["path"]["kind"]: each for data in found.turned if data["threads"] == 1
            for each in data["ways"] if way.end == "send" and each["variant"] == way.name}


def chosen(found: Found) -> list[str]:
    """The rows of README: the ways that people choose between."""
    rows = []
    for name in ways.OVER_TCP:
        source = ways.SOURCES[name]
        way = next(each for each in WAYS if (each.end, each.name) == ("send", name))
        copies_ = ", ".join(copied(found.cell(chief(found), way, path)) for path in SHOWN_PATHS)
        told = turned(found, way)
        rows.append(f"| {ways.CALLS[name]} | {ways.CALLS[ways.BASES[source]]} | {copies_} | " +
                    " | ".join(ways.brief(ways.outcomes(told[path]["sizes"])) if path in told else
                               UNMEASURED for path in ("lo", "veth")) + " |\n")
    return rows


def when(record: dict[str, Any], variant: str) -> str:
    """The sizes at which the second of two is faster, as far as it is at each that was measured."""
    answer, top = record["answer"], max(each["bytes"] for each in record["sizes"])
    if answer["kind"] == "undecided":
        return "undecided"
    if answer["kind"] == "none":
        return "always" if answer["faster_above"] == variant else "never"
    if answer["faster_above"] != variant:
        return f"up to {size_text(answer['low_bytes'])}"
    judged = {each["bytes"]: each["winner"] for each in record["sizes"]}
    won = won_up_to(judged, answer["high_bytes"], "second")
    begin = f"from {size_text(answer['high_bytes'])}"
    return begin if won == top else f"{begin} to {size_text(won)}"


def line(found: Found, kernel: str, way: Way) -> list[str]:
    """One way."""
    mine = [found.cell(kernel, way, path) for path in PATHS_OF_ONE_HOST]
    return [way.name, *map(copied, mine), pins(mine), calls(found, way), needs(way),
            pays(found, way)]


def table(found: Found, kernel: str) -> str:
    """The answer on one kernel, in Markdown."""
    rows = [f"| {' | '.join(HEAD)} |",
            f"|---|{'---:|' * (len(PATHS_OF_ONE_HOST) + 2)}---|---|"]
    for end, words in ENDS.items():
        rows.append(f"| **{words}** |{' |' * (len(HEAD) - 1)}")
        rows += [f"| {' | '.join(line(found, kernel, way))} |" for way in WAYS if way.end == end]
    return "\n".join(rows) + "\n"


def differences(found: Found, kernel: str) -> list[str]:
    """Which copies and pins of a kernel are not those of the chief one."""
    told = HEAD[1:HEAD.index("pages pinned") + 1]
    lines = []
    for way in WAYS:
        here, there = (line(found, each, way)[1:1 + len(told)] for each in (kernel, chief(found)))
        parts = [f"{what} {mine} ({other})" for what, mine, other in zip(told, here, there)
                 if mine not in (other, ABSENT)]
        lines += [f"- {way.end} {way.name}: {', '.join(parts)}"] * bool(parts)
    return lines


def absent(found: Found, kernel: str) -> list[str]:
    """Which runs there are none of on a kernel, by reason."""
    by_why: dict[str, list[str]] = {}
    for way in WAYS:
        for path in PATHS_OF_ONE_HOST:
            cell = found.cell(kernel, way, path)
            if cell and cell["ran"] != "yes":
                by_why.setdefault(cell["laws"], []).append(f"{way.end} {way.name} on {path}")
    return [f"- {', '.join(dict.fromkeys(who))}: {why}" for why, who in by_why.items()]
