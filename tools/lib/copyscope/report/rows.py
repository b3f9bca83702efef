# SPDX-License-Identifier: GPL-2.0
"""The tables of a watch by socket, process, control group, remote peer or port."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from copyscope.common.text import bytes_text, columns

from .figures import added, copied, moved, needless, number, uncopied
from .page import folded, process_name

Document = dict[str, Any]
TITLES = {"socket": "sockets", "process": "processes", "cgroup": "cgroups", "peer": "remote peers",
          "port": "local ports"}
# How many are told apart, as in userspace/record/watch_record.h.
FURTHER = {"peer": "all other peers: 10,000 are told apart",
           "port": "all other ports: 1,000 are told apart"}
NUMBERS, COPIED, SOCKETS = 39, 10, 9
PEERS_BESIDE = 5
MEANING = "Most needless first, then most sent and received. copied: by send, by recv or in " \
    "between (>=: at least, as not all is known); no copy: sent by reference or spliced, and " \
    "seen to be handed over as pages; needless: sent by reference, or refused that by UDP, and " \
    "copied; -: not measured"


@dataclass(frozen=True)
class Row:
    """Who moved how many bytes; None is not measured."""

    name: str
    sockets: int
    bytes: int      # sent and received, as far as known
    sent: int | None
    received: int | None
    copied: tuple[int | None, int]  # and so many at least
    uncopied: int | None
    needless: int | None

    def numbers(self, with_copied: bool, with_sockets: bool) -> str:
        """What stands left of its name."""
        whole, least = self.copied
        copies = f">={bytes_text(least)}" if whole is None and least else figure(whole)
        return f"{figure(self.sent):>9}{figure(self.received):>10}" \
            + (f"{copies:>{COPIED}}" if with_copied else "") \
            + f"{figure(self.uncopied):>10}{figure(self.needless):>10}" \
            + (f" {self.sockets:>8,}" if with_sockets else "")


def figure(value: int | None) -> str:
    """12.3 GB, or - if it is not known."""
    return "-" if value is None else bytes_text(value)


def row_of(name: str, sockets: int, part: Document) -> Row:
    """A row of movements."""
    sent, received = number(part, "accepted_bytes"), number(part, "returned_bytes")
    return Row(name, sockets, moved(part), sent, received, copied(part), uncopied(part),
               needless(part))


def of_sockets(data: Document) -> list[Row]:
    """Two sockets may have the same name: in two namespaces or one after the other."""
    return [row_of(f"{each['local']} - {each['remote']}, {process_name(each['pid'], each['comm'])}"
                   + (", handed on to it" if each["handed_on"] else ""), 1, each)
            for each in data["sockets"]]


def of_processes(data: Document, by: str) -> list[Row]:
    """Processes of one name or control group are one row."""
    found: dict[str, list[Document]] = {}
    for process, verdict in zip(data["processes"], data["verdicts"]):
        name = verdict["process"] if by == "process" else process["cgroup"] or "no known cgroup"
        found.setdefault(name, []).append(process["sum"])
    return [row_of(name, sum(each["sockets"] for each in parts), added(parts))
            for name, parts in found.items()]


def of_groups(data: Document, by: str) -> list[Row]:
    """Remote peers or local ports; early records of 0.2 lack their sums."""
    found = []
    for each in data.get(f"{by}s") or []:
        name = FURTHER[by] if each[by] is None else each[by] if by == "peer" else f"port {each[by]}"
        sent, received = each["sent_bytes"], each["received_bytes"]
        found.append(Row(name, each["sockets"], (sent or 0) + (received or 0), sent, received,
                         (each.get("copied_bytes"), each.get("copied_least_bytes", 0)),
                         each["uncopied_bytes"], each["needless_bytes"]))
    return found


def rows_of(data: Document, by: str) -> list[Row]:
    """Most needless bytes first, then most bytes, then by name; who has no socket says nothing."""
    found = of_sockets(data) if by == "socket" else of_groups(data, by) if by in FURTHER else \
        of_processes(data, by)
    return sorted((row for row in found if row.sockets or row.bytes),
                  key=lambda row: (-(row.needless or 0), -row.bytes, row.name))


def table(data: Document, by: str, top: int) -> list[str]:
    """A name that identifies a row is never cut: where one does not fit beside its numbers, all
    stand above theirs. What was copied, which each site has, makes room for a name."""
    found, counted = rows_of(data, by), by != "socket"
    shown, room = found[:top], columns() - NUMBERS - SOCKETS * counted - 2
    widest = max((len(row.name) for row in shown), default=0)
    above = widest > room
    with_copied = above or widest <= room - COPIED
    head = "     sent  received" + "    copied" * with_copied + "   no copy  needless" \
        + "  sockets" * counted
    said = [*folded("", TITLES[by]), head] if above else [f"{head}  {TITLES[by]}"]
    for row in shown:
        numbers = row.numbers(with_copied, counted)
        said += [*folded("", row.name, 2), numbers] if above else [f"{numbers}  {row.name}"]
    more = [f"{'':48}  {len(found) - top} more: --by {by} --top {len(found)}"] \
        if len(found) > top else []
    return ["", *said, *more] if found else []


def lines(data: Document, by: str, top: int) -> list[str]:
    """The table that was asked for, and that of remote peers: who received."""
    said = table(data, by, top)
    said += folded("  ", MEANING, 2) if said else []
    return said + (table(data, "peer", min(top, PEERS_BESIDE)) if by != "peer" else [])
