# SPDX-License-Identifier: GPL-2.0
"""The tables of a watch by socket, process, control group, remote peer or port."""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from copyscope.common.tables import most
from copyscope.common.text import bytes_text, columns

from .figures import added, copied, moved, needless, number, uncopied
from .page import folded, heads, process_name
from .verdicts import sums_short

Document = dict[str, Any]
TITLES = {"socket": "sockets", "process": "processes", "cgroup": "cgroups", "peer": "remote peers",
          "port": "local ports"}
FURTHER = {by: f"all other {by}s: {most(f'{by}s'):,} are told apart" for by in ("peer", "port")}
NUMBERS, COPIED, SOCKETS = 39, 10, 9
PEERS_BESIDE = 5
# Of bytes, and of bytes a second.
HEADS = (("     sent  received", "    copied", "   no copy  needless"),
         ("   sent/s    recv/s", "  copied/s", " no copy/s needless/s"))
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

    def copies(self) -> str:
        """Bytes that were copied: 12.3 GB, or >=12.3 GB."""
        whole, least = self.copied
        return f">={bytes_text(least)}" if whole is None and least else figure(whole)

    def numbers(self, with_copied: bool, with_sockets: bool, rates: bool) -> str:
        """What stands left of its name."""
        return f"{figure(self.sent):>9}{figure(self.received):>10}" \
            + (f"{self.copies():>{COPIED}}" if with_copied else "") \
            + f"{figure(self.uncopied):>10}{figure(self.needless):>{10 + rates}}" \
            + (f" {self.sockets:>8,}" if with_sockets else "")

    def a_second(self, over_ns: int) -> Row:
        """As much in a second, of what it was in so long a time."""
        def rate(value: int | None) -> int | None:
            return None if value is None else int(value * 1e9 / over_ns)

        whole, least = self.copied
        return replace(self, sent=rate(self.sent), received=rate(self.received),
                       copied=(rate(whole), rate(least) or 0), uncopied=rate(self.uncopied),
                       needless=rate(self.needless))


def figure(value: int | None) -> str:
    """12.3 GB, or - if it is not known."""
    return "-" if value is None else bytes_text(value)


def row_of(name: str, sockets: int, part: Document) -> Row:
    """A row of movements."""
    sent, received = number(part, "accepted_bytes"), number(part, "returned_bytes")
    return Row(name, sockets, moved(part), sent, received, copied(part), uncopied(part),
               needless(part))


def row_of_figures(name: str, each: Document) -> Row:
    """A row of sums as the record has them of peers and ports; early records of 0.2 lack some."""
    sent, received = each["sent_bytes"], each["received_bytes"]
    return Row(name, each["sockets"], (sent or 0) + (received or 0), sent, received,
               (each.get("copied_bytes"), each.get("copied_least_bytes", 0)),
               each["uncopied_bytes"], each["needless_bytes"])


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
    """Remote peers or local ports."""
    return [row_of_figures(FURTHER[by] if each[by] is None else
                           each[by] if by == "peer" else f"port {each[by]}", each)
            for each in data.get(f"{by}s") or []]


def rows_of(data: Document, by: str) -> list[Row]:
    """Most needless bytes first, then most bytes, then by name; who has no socket says nothing."""
    found = of_sockets(data) if by == "socket" else of_groups(data, by) if by in FURTHER else \
        of_processes(data, by)
    return sorted((row for row in found if row.sockets or row.bytes),
                  key=lambda row: (-(row.needless or 0), -row.bytes, row.name))


def room_for(by: str, rates: bool) -> int:
    """Columns for a name beside its numbers."""
    return columns() - NUMBERS - SOCKETS * (by != "socket") - rates - 2


def widest_of(shown: list[Row]) -> int:
    """Columns of the longest name."""
    return max((len(row.name) for row in shown), default=0)


def lines_of_a_row(shown: list[Row], by: str) -> int:
    """How many each row of an interval takes at most."""
    widest = widest_of(shown)
    return 2 + widest // columns() if widest > room_for(by, True) else 1


def laid_out(shown: list[Row], by: str, rates: bool) -> list[str]:
    """A name that identifies a row is never cut: where one does not fit beside its numbers, all
    stand above theirs. What was copied, which each site has, makes room for a name."""
    counted, room, widest = by != "socket", room_for(by, rates), widest_of(shown)
    above = widest > room
    with_copied = above or widest <= room - COPIED
    sent, copies, others = HEADS[rates]
    head = sent + copies * with_copied + others + "  sockets" * counted
    said = [*folded("", TITLES[by]), *heads(head)] if above else heads(f"{head}  {TITLES[by]}")
    for row in shown:
        numbers = row.numbers(with_copied, counted, rates)
        said += [*folded("", row.name, 2), numbers] if above else [f"{numbers}  {row.name}"]
    return said


def table(data: Document, by: str, top: int) -> list[str]:
    """The first rows of all of a watch."""
    found = rows_of(data, by)
    # A watch that prints leaves out the sockets that come after these.
    count = len(found) + (data.get("sockets_left_out", 0) if by == "socket" else 0)
    more = [f"{'':48}  {count - top} more: --by {by} --top {count}"] if count > top else []
    return ["", *laid_out(found[:top], by, False), *more] if found else []


def figures_of(found: Document, each: Document) -> Row:
    """A row of an interval, or all of it: a second's numbers."""
    name = each.get("name") or FURTHER.get(found["by"], "")
    return row_of_figures(name, each).a_second(found["over_ns"])


def interval(found: Document) -> list[str]:
    """The first rows of an interval, a second's numbers, in the order that the watch gave them."""
    shown = [figures_of(found, each) for each in found["rows"]]
    more = [f"{'':48}  {found['further']} more"] if found["further"] else []
    return [f"{found['seconds']:.1f} s", *sums_short(found["sums_short"]),
            *laid_out(shown, found["by"], True), *more, ""]


def lines(data: Document, by: str, top: int) -> list[str]:
    """The table that was asked for, and that of remote peers: who received."""
    said = table(data, by, top)
    said += folded("  ", MEANING, 2) if said else []
    return said + (table(data, "peer", min(top, PEERS_BESIDE)) if by != "peer" else [])
