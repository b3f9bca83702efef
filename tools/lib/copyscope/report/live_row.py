# SPDX-License-Identifier: GPL-2.0
"""What one row of a live view is made of: its sites, causes, processes, peers, sockets, sizes."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from copyscope.common.text import bytes_text, share_text
from copyscope.services.service import Names

from . import sizes, tables
from .figures import added
from .page import folded, process_name
from .rows import FURTHER, Row, laid_out, row_of_figures, together

Document = dict[str, Any]
# Parts of a row that are told, largest first; how many of each at least, and of a screen that is
# high the part of its lines.
PARTS, TOP, SHARE = ("process", "peer", "socket"), 5, 6


def host_of(address: str) -> str:
    """10.0.0.1 for 10.0.0.1:80; [fe80::1]:80 without brackets, as peers are called."""
    return address.rpartition(":")[0].strip("[]")


def names_of(socket: Document, names: Names) -> dict[str, str]:
    """What each kind of row calls the one that a socket is in."""
    process = process_name(socket["pid"], socket["comm"], socket.get("listener_pid"))
    handed = ", handed on to it" if socket.get("handed_on") else ""
    return {"service": names.service(socket), "process": process,
            "cgroup": socket["cgroup"] or "no known cgroup",
            "peer": host_of(socket["remote"]), "port": f"port {socket['local'].rpartition(':')[2]}",
            "socket": f"{socket['local']} - {socket['remote']}, {process}{handed}"}


def parts_of_row(found: Document, name: str) -> list[Document]:
    """The rows as they were told that are one by this name."""
    if found["by"] != "service":
        return [each for each in found["rows"]
                if (each["name"] or FURTHER.get(found["by"])) == name]
    names = Names(found.get("names"))
    return [each for each in found["rows"] if names.service(each) == name]


def a_second(found: Document, value: int | None) -> int | None:
    """A second's of what moved in the interval."""
    return None if value is None else int(value * 1e9 / found["over_ns"])


def causes_of(found: Document, parts: list[Document]) -> list[Document]:
    """Causes of several as one list, a second's bytes; calls are of the interval."""
    by_cause: dict[tuple[str, str], Document] = {}
    for each in (each for part in parts for each in part["causes"]):
        into = by_cause.setdefault((each["cause"], each["site"]), {**each, "bytes": 0, "calls": 0})
        for number in ("bytes", "calls"):
            into[number] = None if each[number] is None or into[number] is None \
                else into[number] + each[number]
    return [{**each, "bytes": a_second(found, each["bytes"])} for each in by_cause.values()]


def sites(found: Document, parts: list[Document]) -> list[str]:
    """Sites and causes, a second's bytes."""
    summed = added(parts)
    rates = {"sites": {site: {"bytes": a_second(found, each["bytes"]),
                              "how": parts[0]["sites"][site]["how"]}
                       for site, each in summed["sites"].items()},
             "causes": causes_of(found, parts),
             "counts": {name: a_second(found, value) for name, value in summed["counts"].items()}}

    def share(site: str, passed: int) -> str:
        whole = "returned_bytes" if site in tables.OF_RECEIVER else "accepted_bytes"
        return share_text(passed, rates["counts"][whole] or 0)

    return [*tables.sites(rates, "share", share), *tables.causes(rates)]


def grouped(found: Document, sockets: list[Document], by: str) -> list[Row]:
    """Rows of these sockets, who copied most first."""
    names, groups = Names(found.get("names")), {}
    for each in sockets:
        name = names_of(each, names)[by]
        groups.setdefault(name, []).append(
            row_of_figures(name, {**each, "sockets": 1}).a_second(found["over_ns"]))
    return sorted(map(together, groups.values()), key=lambda row: row.place("copied"))


def moved_by(rows: list[Document]) -> int:
    """Bytes that these sent and received, as far as known."""
    return sum(row_of_figures("", {**each, "sockets": 0}).bytes for each in rows)


def untold(found: Document, parts: list[Document], own: list[Document]) -> list[str]:
    """What the row has, and none of the sockets below it."""
    if found["sockets_further"]:
        return folded("", f"Of {found['sockets_further']:,} sockets more, which moved less, "
                      "only the sums above tell.")
    rest = a_second(found, moved_by(parts) - moved_by(own)) or 0
    return folded("", f"{bytes_text(rest)}{' more' if own else ''} in each second, sent and "
                  "received, was of sockets that closed or changed hands in the interval: only the "
                  "sums above tell of these.") if rest > 0 else []


def sizes_of(found: Document, fits: Callable[[Document], bool]) -> list[str]:
    """Sizes of calls since the watch began, of rows that are made of processes."""
    if "sizes" not in found or found["by"] in ("peer", "port", "socket"):
        return []
    ways = sizes.merged([each["sizes"] for each in found["sizes"] if fits(each)])
    return ["", "sizes of calls, since the watch began", *sizes.histograms(ways)] if ways else []


def lines(found: Document, name: str, height: int) -> list[str]:
    """What a row was made of in the last interval, on a screen of so many lines."""
    parts = parts_of_row(found, name)
    if not parts or "sites" not in parts[0]:
        return ["", "It is in no row of the last interval." if not parts else ""]
    names = Names(found.get("names"))

    def fits(each: Document) -> bool:
        ends = {"local": "", "remote": "", **each}
        return names_of(ends, names)[found["by"]] == name

    own, said = [each for each in found["sockets"] if fits(each)], sites(found, parts)
    top = max(TOP, height // SHARE)
    for by in PARTS:
        if by != found["by"] and (rows := grouped(found, own, by)):
            more = [f"  {len(rows) - top} more"] if len(rows) > top else []
            said += ["", *laid_out(rows[:top], by, True), *more]
    rest = untold(found, parts, own)
    return [*said, *([""] if rest else []), *rest, *sizes_of(found, fits)]
