# SPDX-License-Identifier: GPL-2.0
"""The tables of a watch by service, process, socket, control group, remote peer or port."""
from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from copyscope.common.tables import most
from copyscope.common.text import bytes_text, columns
from copyscope.services.service import Names

from .figures import added, copied, is_silent, moved, needless, number, uncopied
from .page import View, folded, heads, process_name
from .verdicts import sums_short

Document = dict[str, Any]
TITLES = {"service": "services", "process": "processes", "socket": "sockets", "cgroup": "cgroups",
          "peer": "remote peers", "port": "local ports"}
ORDERS = ("copied", "sent", "received", "avoidable", "cpu", "name")
FURTHER = {by: f"all other {by}s: {most(f'{by}s'):,} are told apart" for by in ("peer", "port")}
PEERS_BESIDE = 5
CSV_HEAD = ("name", "processes", "sockets", "sent_bytes", "received_bytes", "copied_bytes",
            "copied_least_bytes", "avoidable_bytes", "uncopied_bytes", "cpu_seconds")
WIDTH, EXACT = 10, 19
# What stands beside copied and avoidable where names leave room, the first ones first.
BESIDE = ("cpu", "sockets", "no copy")
# Of an interval.
A_SECOND = {"sent": "sent/s", "received": "recv/s", "copied": "copied/s", "avoidable": "avoid./s",
            "cpu": "cpu", "sockets": "sockets", "no copy": "no copy/s"}
MEANING = "copied: by send, by recv or in between (>=: at least, as not all is known); " \
    "avoidable: sent by reference, or refused that by UDP, and copied all the same; no copy: " \
    "sent by reference or spliced, and seen to be handed over as pages; -: not measured"


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
    cpu_s: float | None = None  # CPU time by samples; None: not sampled
    processes: int = 1
    exact: bool = False  # it shows every digit
    # Movements that it is of, if it is of processes or sockets.
    sum: Document = field(default_factory=dict, compare=False, repr=False)

    @property
    def shown(self) -> str:
        """Its name; processes of a service fold under it."""
        return self.name if self.processes == 1 else f"{self.name}, {self.processes} processes"

    def cell(self, head: str) -> str:
        """What stands below a head."""
        if head == "sockets":
            return f"{self.sockets:,}"
        if head == "cpu":
            return "-" if self.cpu_s is None else f"{self.cpu_s:.2f} s"
        whole, least = self.copied
        bound = ">=" if head == "copied" and whole is None and least else ""
        value = least if bound else {
            "sent": self.sent, "received": self.received, "copied": whole,
            "avoidable": self.needless, "no copy": self.uncopied}[head]
        return bound + (f"{value:,}" if self.exact and value is not None else figure(value))

    def numbers(self, asked: list[str]) -> str:
        """What stands left of its name."""
        return "".join(f"{self.cell(each):>{width(each, self.exact)}}" for each in asked)

    def place(self, order: str) -> tuple[float, int, str]:
        """Where it stands among others: what is not known comes last, then who moved most."""
        by = {"copied": self.copied[1], "sent": self.sent, "received": self.received,
              "avoidable": self.needless, "cpu": self.cpu_s, "name": 0}[order]
        return -(by or 0), 0 if order == "name" else -self.bytes, self.name

    def a_second(self, over_ns: int) -> Row:
        """As much in a second, of what it was in so long a time."""
        def rate(value: int | None) -> int | None:
            return None if value is None else int(value * 1e9 / over_ns)

        whole, least = self.copied
        return replace(self, sent=rate(self.sent), received=rate(self.received),
                       copied=(rate(whole), rate(least) or 0), uncopied=rate(self.uncopied),
                       needless=rate(self.needless))


def width(head: str, exact: bool = False) -> int:
    """Columns of numbers."""
    return EXACT if exact else WIDTH - (head == "sent")


def figure(value: int | None) -> str:
    """12.3 GB, or - if it is not known."""
    return "-" if value is None else bytes_text(value)


def row_of(name: str, sockets: int, part: Document, cpu_s: float | None = None,
           processes: int = 1) -> Row:
    """A row of movements."""
    sent, received = number(part, "accepted_bytes"), number(part, "returned_bytes")
    return Row(name, sockets, moved(part), sent, received, copied(part), uncopied(part),
               needless(part), cpu_s, processes, sum=part)


def row_of_figures(name: str, each: Document) -> Row:
    """A row of sums as the record has them of peers and ports; early records of 0.2 lack some."""
    sent, received = each["sent_bytes"], each["received_bytes"]
    return Row(name, each["sockets"], (sent or 0) + (received or 0), sent, received,
               (each.get("copied_bytes"), each.get("copied_least_bytes", 0)),
               each["uncopied_bytes"], each["needless_bytes"])


def of_sockets(data: Document) -> list[Row]:
    """Two sockets may have the same name: in two namespaces or one after the other."""
    return [row_of(f"{each['local']} - {each['remote']}, "
                   f"{process_name(each['pid'], each['comm'], each.get('listener_pid'))}"
                   + (", handed on to it" if each["handed_on"] else ""), 1, each)
            for each in data["sockets"]]


def grouped(data: Document, by: str) -> dict[str, list[Document]]:
    """Processes by the name of the row that they are in."""
    found: dict[str, list[Document]] = {}
    names = Names(data.get("names"))
    for process, verdict in zip(data["processes"], data["verdicts"]):
        name = names.service(process) if by == "service" else verdict["process"] \
            if by == "process" else process["cgroup"] or "no known cgroup"
        found.setdefault(name, []).append(process)
    return found


def cpu_of(data: Document, parts: list[Document]) -> float | None:
    """Seconds that samples of these processes stand for."""
    if not (data.get("cpu") or {}).get("clock"):
        return None
    return sum((each.get("cpu") or {}).get("samples", 0) for each in parts) / data["cpu"]["hz"]


def told_of(parts: list[Document]) -> list[Document]:
    """Those that moved payload, or may have, and are processes: a listener is none."""
    return [each for each in parts
            if not is_silent(each["sum"]) and not each.get("listener_pid")]


def of_processes(data: Document, by: str) -> list[Row]:
    """Processes of one service, name or control group are one row. Only those of a service are
    counted: who moved nothing says nothing."""
    rows = []
    for name, parts in grouped(data, by).items():
        sums = [each["sum"] for each in parts]
        active = len(told_of(parts)) if by == "service" else 1
        rows.append(row_of(name, sum(each["sockets"] for each in sums), added(sums),
                           cpu_of(data, parts), max(active, 1)))
    return rows


def of_groups(data: Document, by: str) -> list[Row]:
    """Remote peers or local ports."""
    return [row_of_figures(FURTHER[by] if each[by] is None else
                           each[by] if by == "peer" else f"port {each[by]}", each)
            for each in data.get(f"{by}s") or []]


def rows_of(data: Document, by: str, order: str = "copied") -> list[Row]:
    """In their order; who has no socket says nothing."""
    found = of_sockets(data) if by == "socket" else of_groups(data, by) if by in FURTHER else \
        of_processes(data, by)
    return sorted((row for row in found if row.sockets or row.bytes),
                  key=lambda row: row.place(order))


def heads_of(shown: list[Row], by: str, room: int) -> list[str]:
    """The columns: always what was sent, received, copied, and what of that was avoidable; others
    as far as there is room."""
    asked = ["sent", "received", "copied", "avoidable"]
    for each in BESIDE:
        known = by != "socket" if each == "sockets" else \
            any(row.cpu_s is not None for row in shown) if each == "cpu" else True
        if known and sum(width(one, is_exact(shown)) for one in [*asked, each]) <= room:
            asked.append(each)
    return asked


def is_exact(shown: list[Row]) -> bool:
    """Whether they show every digit."""
    return any(row.exact for row in shown)


def widest_of(shown: list[Row]) -> int:
    """Columns of the longest name."""
    return max((len(row.shown) for row in shown), default=0)


def stand_above(shown: list[Row], by: str) -> bool:
    """Whether a name does not fit beside the numbers that each row has."""
    return widest_of(shown) > columns() - 2 - sum(
        width(each, is_exact(shown)) for each in heads_of(shown, by, 0))


def lines_of_a_row(shown: list[Row], by: str) -> int:
    """How many each row of an interval takes at most."""
    return 2 + widest_of(shown) // columns() if stand_above(shown, by) else 1


def laid_out(shown: list[Row], by: str, rates: bool) -> list[str]:
    """A name that identifies a row is never cut: where one does not fit beside its numbers, all
    stand above theirs."""
    above = stand_above(shown, by)
    asked = heads_of(shown, by, columns() if above else columns() - 2 - widest_of(shown))
    head = "".join(f"{A_SECOND[each] if rates else each:>{width(each, is_exact(shown))}}"
                   for each in asked)
    said = [*folded("", TITLES[by]), *heads(head)] if above else heads(f"{head}  {TITLES[by]}")
    for row in shown:
        numbers = row.numbers(asked)
        said += [*folded("", row.shown, 2), numbers] if above else [f"{numbers}  {row.shown}"]
    return said


def table(data: Document, view: View, by: str, top: int) -> list[str]:
    """The first rows of all of a watch."""
    found = [replace(row, exact=view.exact) for row in rows_of(data, by, view.sort)]
    # A watch that prints leaves out the sockets that come after these.
    count = len(found) + (data.get("sockets_left_out", 0) if by == "socket" else 0)
    more = [f"{'':40} {count - top} more: --by {by} --top {count}"] if count > top else []
    return ["", *laid_out(found[:top], by, False), *more] if found else []


def figures_of(found: Document, each: Document) -> Row:
    """A row of an interval, or all of it: a second's numbers."""
    name = each.get("name") or FURTHER.get(found["by"], "")
    return row_of_figures(name, each).a_second(found["over_ns"])


def together(rows: list[Row]) -> Row:
    """Rows of one name as one."""
    def whole(values: list[int | None]) -> int | None:
        return None if None in values else sum(each or 0 for each in values)

    return Row(rows[0].name, sum(each.sockets for each in rows), sum(each.bytes for each in rows),
               whole([each.sent for each in rows]), whole([each.received for each in rows]),
               (whole([each.copied[0] for each in rows]), sum(each.copied[1] for each in rows)),
               whole([each.uncopied for each in rows]), whole([each.needless for each in rows]))


def rows_of_interval(found: Document) -> tuple[list[Row], int]:
    """The rows of an interval, a second's numbers, and how many are left out. Of services a watch
    tells cgroup, user and name, of which several may be one."""
    if found["by"] != "service":
        return [figures_of(found, each) for each in found["rows"]], found["further"]
    names, by_name = Names(found.get("names")), {}
    for each in found["rows"]:
        by_name.setdefault(names.service(each), []).append(each)
    rows = [together([figures_of(found, {**each, "name": name}) for each in parts])
            for name, parts in by_name.items()]
    rows.sort(key=lambda row: row.place(found["order"]))
    return rows[:found["top"]], max(0, len(rows) - found["top"]) + found["further"]


def interval(found: Document) -> list[str]:
    """The first rows of an interval, a second's numbers, in the order that was asked for."""
    shown, left = rows_of_interval(found)
    more = [f"{'':40} {left} more"] if left else []
    return [f"{found['seconds']:.1f} s", *sums_short(found["sums_short"]),
            *laid_out(shown, found["by"], True), *more, ""]


def lines(data: Document, view: View) -> list[str]:
    """The table that was asked for, and that of remote peers: who received."""
    said = table(data, view, view.by, view.top)
    said += folded("  ", MEANING, 2) if said else []
    return said + (table(data, view, "peer", min(view.top, PEERS_BESIDE))
                   if view.by != "peer" else [])


def csv_rows(data: Document, by: str, order: str) -> list[list[Any]]:
    """Every row, with every digit; an empty cell is not measured."""
    return [[row.name, row.processes, row.sockets, row.sent, row.received, *row.copied,
             row.needless, row.uncopied, row.cpu_s] for row in rows_of(data, by, order)]
