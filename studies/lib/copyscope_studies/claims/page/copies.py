# SPDX-License-Identifier: GPL-2.0
"""Where the copies occur, for each way to send on each path: from the matrix of kernels."""
from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from copyscope.records.documents import BadRecord, read_bytes

from . import maps
from .blocks import Block, Code, Drawing, Fold, Group, Heading, Link, Table, line, said
from .front import FOLDERS, Place

# Column of the page: columns of the matrix that are added up.
COLUMNS = {"gathered": ("user_gather",), "by send": ("tx_copy",), "by reference": ("referenced",),
           "by splice": ("spliced",),
           "late": ("late",), "reshaped": ("reshaped",), "by recv": ("rx_copy",),
           "all copies": ("user_gather", "tx_copy", "late", "reshaped", "rx_copy"),
           "left uncopied": ("clean",)}
DRAWN = ("lo", "nic")
# Shown beside each other, in this order, where they are there.
BESIDE = ("lo", "veth", "veth, no SG", "veth, tap on sender", "nic", "nic, no SG",
          "nic, tap on sender")
WAYS = {"A1": "A1: gather, then send", "A2": "A2: sendmsg of pieces", "A3": "A3: by reference"}
# Sites at which a processor copies.
COPIES = ("user_gather", "tx_copy", "late_copy", "reshape", "rx_copy")
NEEDED = {"kernel", "path", "variant", "ran", "accepted_bytes"} | \
    {f"{each}_bytes" for columns in COLUMNS.values() for each in columns}


@dataclass(frozen=True)
class Row:
    """One run of the matrix."""

    kernel: str
    path: str
    variant: str
    ran: bool
    # Bytes for each byte that was sent; None: not measured.
    shares: dict[str, float | None]


def shares_of(cells: dict[str, str], source: Path) -> dict[str, float | None]:
    """Each column of the page, in bytes for each byte that was sent."""
    def known(name: str) -> int | None:
        found = cells[f"{name}_bytes"]
        if found and not re.fullmatch(r"[0-9]{1,20}", found, re.ASCII):
            raise BadRecord(source, f"{name}_bytes", f"{found[:40]!r} is no number of bytes",
                            "make the matrix again")
        return int(found) if found else None

    sent, made = known("accepted"), {}
    for column, names in COLUMNS.items():
        numbers = [known(each) for each in names]
        made[column] = None if None in numbers or not sent else \
            sum(each or 0 for each in numbers) / sent
    return made


def read(source: Path) -> list[Row]:
    """The rows of matrix.csv."""
    try:
        text = read_bytes(source).decode("utf-8")
    except UnicodeError:
        raise BadRecord(source, "file", "it is no UTF-8", "make the matrix again") from None
    reader = csv.DictReader(io.StringIO(text))
    lacks = sorted(NEEDED - set(reader.fieldnames or ()))
    if lacks:
        raise BadRecord(source, lacks[0], "the column is missing", "make the matrix again")
    found = []
    for cells in reader:
        if None in cells or None in cells.values():
            raise BadRecord(source, "file", f"line {reader.line_num} has another number of cells",
                            "make the matrix again")
        found.append(Row(cells["kernel"], cells["path"], cells["variant"], cells["ran"] == "yes",
                         shares_of(cells, source)))
    return found


def age(kernel: str) -> tuple[int, ...]:
    """Sorts kernels by their numbers."""
    return tuple(map(int, re.findall(r"[0-9]+", kernel)[:3]))


def spanned(shares: Iterable[float | None]) -> str:
    """A share on all kernels: one number where they agree to a tenth."""
    found = list(shares)
    if not found or None in found:
        return "not measured" if not any(each is not None for each in found) else \
            f"{spanned([each for each in found if each is not None])}, not on all"
    low, high = (maps.amount(do(each or 0.0 for each in found)) for do in (min, max))
    return low if low == high else f"{low} to {high}"


def map_of(row: Row) -> maps.Map:
    """The drawing of one run."""
    share = row.shares
    first = (maps.Way("gathered first", share["gathered"]),) if share["gathered"] else ()
    spliced = (maps.Way("by splice", share["by splice"], False),) if share["by splice"] else ()
    left = (maps.Way("left uncopied", share["left uncopied"], False),) \
        if share["left uncopied"] else ()
    return maps.Map(f"{row.variant} on {row.path}", (
        (*first, maps.Way("copied by send", share["by send"]),
         maps.Way("by reference", share["by reference"], False), *spliced),
        (maps.Way("copied late", share["late"]), *left),
        (maps.Way("copied by recv", share["by recv"]),)))


def table(rows: list[Row]) -> Table:
    """A row for each path and way to send, over all kernels."""
    kinds = list(dict.fromkeys((each.path, each.variant) for each in rows))
    lines = []
    for path, variant in kinds:
        mine = [each for each in rows if (each.path, each.variant) == (path, variant)]
        ran = [each for each in mine if each.ran]
        cells = [line(spanned(each.shares[column] for each in ran)) for column in COLUMNS] \
            if ran else [line("did not run")] * len(COLUMNS)
        lines.append((line(path), line(variant), *cells,
                      line(f"{len(ran)} of {len(mine)}")))
    return Table("All paths: bytes for each byte of payload, from the least to the most on any "
                 "kernel; left uncopied above 1.0 is what TCP sent again",
                 ("path", "way", *COLUMNS, "kernels"), tuple(lines),
                 frozenset(range(2, 3 + len(COLUMNS))))


def beside(rows: list[Row]) -> Table:
    """How often a byte is copied in all: a row for each path, a column for each way to send."""
    paths = [each for each in BESIDE if any(row.path == each for row in rows)]
    ways = list(dict.fromkeys(each.variant for each in rows))

    def cell(way: str, path: str) -> str:
        mine = [each.shares["all copies"] for each in rows
                if each.ran and (each.variant, each.path) == (way, path)]
        return spanned(mine) if mine else "did not run"

    return Table("Copies by a processor of each byte, from the program to the reader, on all "
                 "kernels", ("path", *(WAYS.get(way, way) for way in ways)), tuple(
                     (line(path), *(line(cell(way, path)) for way in ways)) for path in paths),
                 frozenset(range(1, 1 + len(ways))))


def short(kernel: str) -> str:
    """A kernel by the two numbers of its release."""
    return ".".join(map(str, age(kernel)[:2]))


def slug(path: str) -> str:
    """A path as the files of the matrix are called."""
    return "-".join(re.findall(r"[A-Za-z0-9]+", path))


def why(path: str, causes: list[dict[str, Any]], kernels: list[str]) -> tuple[str, ...]:
    """The causes of one path, with the kernels if it is not so on all."""
    found = []
    for each in causes:
        if each["row"] == slug(path):
            ages = sorted(set(each["kernels"]), key=age)
            where = "" if len(ages) == len(kernels) else \
                f" on {', '.join(short(kernel) for kernel in ages)}"
            found.append(f"{each['cause']}{where}")
    return tuple(found)


def remedies(causes: list[dict[str, Any]]) -> list[Block]:
    """What to do about each cause."""
    rows = dict.fromkeys((each["cause"], each["remedy"] or "none is known") for each in causes)
    return [Table("What to do about each cause", ("cause", "remedy"), tuple(
        (line(cause), line(remedy)) for cause, remedy in rows))] if rows else []


def after_all(rows: list[Row], causes: list[dict[str, Any]]) -> list[Block]:
    """How often what was sent by reference is copied before the reader's recv, by path and kernel;
    kernels that never differ share a column, paths that never differ a row."""
    mine = [each for each in rows if each.ran and each.shares["by reference"]]
    kernels = sorted({each.kernel for each in mine}, key=age)
    paths = list(dict.fromkeys(each.path for each in mine))
    counts = {(each.path, each.kernel): str(round(sum(
        each.shares[column] or 0 for column in ("late", "reshaped")))) for each in mine
        if None not in (each.shares["late"], each.shares["reshaped"])}
    columns: dict[tuple[str, ...], list[str]] = {}
    for kernel in kernels:
        alike = tuple(counts.get((path, kernel), "not measured") for path in paths)
        columns.setdefault(alike, []).append(kernel)
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for number, path in enumerate(paths):
        key = (tuple(each[number] for each in columns), why(path, causes, kernels))
        groups.setdefault(key, []).append(path)
    lines = tuple((line("; ".join(named)), *(line(each) for each in numbers),
                   line("; ".join(reasons) or "the device takes the pages uncopied"))
                  for (numbers, reasons), named in groups.items())
    return [Heading(2, "When does the kernel copy after all?", "paths"),
            said("A3 sends by reference. This is how often the kernel copied each of these bytes "
                 "before the reader's own recv, and why. No SG: the device takes no "
                 "scatter-gather; no TSO: it cuts no segments; tap: a packet capture runs; "
                 "forward: a host between the two routes. To the nearest copy: what is less than "
                 "half of one are packets that were merged or sent again, and the table of all "
                 "paths has it."),
            Table("Copies of each byte that was sent by reference, by path and kernel",
                  ("path", *(f"kernel {', '.join(map(short, each))}" for each in columns.values()),
                   "cause"), lines, frozenset(range(1, 1 + len(columns)))), *remedies(causes)] \
        if lines else []


def of_way(way: dict[str, Any]) -> Row:
    """One way to send of a sweep, as a row."""
    sites = {site: way["sites"].get(site, {"share": None})["share"]
             for site in (*COPIES, "tx_reference", "tx_splice")}
    known = [sites[each] for each in COPIES if sites[each] is not None]
    shares = {"gathered": sites["user_gather"], "by send": sites["tx_copy"],
              "by reference": sites["tx_reference"], "by splice": sites["tx_splice"],
              "late": sites["late_copy"],
              "reshaped": sites["reshape"], "by recv": sites["rx_copy"],
              "all copies": sum(known) if known else None, "left uncopied": None}
    unit = "reply" if way["pattern"] == "rr" else "message"
    return Row(f"{way['profile']}, {way['mode']}: {unit} over {way['path']}", way["path"],
               way["label"], True, shares)


def at_least(row: Row) -> str:
    """The sum of all copies, which is a lower bound where one of them was not measured."""
    lost = any(row.shares[each] is None for each in ("gathered", "by send", "late", "reshaped",
                                                     "by recv"))
    return f"at least {maps.amount(row.shares['all copies'])}" if lost else \
        maps.amount(row.shares["all copies"])


def experiments(ways: list[dict[str, Any]]) -> list[Block]:
    """The ways to send of all sweeps, with drawings of the replies."""
    if not ways:
        return [said("No sweep with probes is there: what it would say is not measured.")]
    found = [(way, of_way(way)) for way in ways]
    columns = [each for each in COLUMNS if each not in ("all copies", "left uncopied")]
    lines = tuple((line(row.kernel), line(way["label"], "" if way["label"] == way["variant"] else
                                          f" ({way['variant']})"),
                   *(line(maps.amount(row.shares[each])) for each in columns),
                   line(at_least(row)), line(str(way["n"]))) for way, row in found)
    drawn = tuple(Drawing(maps.svg(replace(map_of(row), title=f"{row.variant}, {way['profile']}")))
                  for way, row in found if way["pattern"] == "rr" and way["mode"] == "corrected")
    replies: list[Block] = [Fold("Drawn of a reply alone", (Group("maps", drawn),))] \
        if drawn else []
    return [Heading(3, "In each report's experiment", "copies-of-experiments"),
            said("All runs of a sweep with probes together, and late copies above 1.0 are "
                 "packets that were sent again. Where the kernel offers no hook a site is not "
                 "measured, and the sum is a lower bound."), *replies,
            Table("Bytes for each byte of a message, or of a reply",
                  ("experiment", "way", *columns, "all copies", "runs"), lines,
                  frozenset(range(2, 4 + len(columns))))]


def section(place: Place, document: dict[str, Any]) -> list[Block]:
    """The whole section."""
    source = place.results / "matrix" / "matrix.csv"
    if not source.is_file():
        return [Heading(2, "Where do the copies occur?", "copies"),
                said("Not measured: results/matrix is absent; ", Code(FOLDERS["matrix"][1]),
                     " makes it."), Heading(3, "Is it only two?", "only-two"),
                said("Not measured, as above."), *experiments(document["ways"])]
    rows = read(source)
    return [*drawn(place, source, rows), *experiments(document["ways"]),
            *after_all(rows, document["causes"])]


def drawn(place: Place, source: Path, rows: list[Row]) -> list[Block]:
    """The maps, and how many copies there are in all."""
    kernels = sorted({each.kernel for each in rows}, key=age)
    newest = {(each.path, each.variant): each for each in rows
              if each.ran and kernels and each.kernel == kernels[-1]}
    found = [each for path in DRAWN for (at, _), each in newest.items() if at == path]
    return [
        Heading(2, "Where do the copies occur?", "copies"),
        said("A red arrow is a copy by a processor, a broken green one hands bytes on without a "
             "copy; beside it stands how often, for each byte of payload. Gathered: the program "
             "copies its fields into one buffer. By reference: the kernel notes where the bytes "
             "lie. Copied late: it copies them after all, when they reach a receiver on this "
             "machine or a capture. Left uncopied: a device took the program's own pages. lo is "
             "loopback, veth a pair of virtual devices between two namespaces, nic two emulated "
             "cards that are joined."),
        Group("maps", tuple(Drawing(maps.svg(map_of(each))) for each in found)),
        said(f"Exact counts by probes on kernel {kernels[-1] if kernels else 'none'}, emulated; ",
             f"{len(kernels)} kernels have been counted, and ",
             Link("the matrix", place.link(source.with_suffix(".md")) if
                  source.with_suffix(".md").is_file() else place.link(source)),
             " has their bytes."),
        Heading(3, "Is it only two?", "only-two"),
        beside(rows),
        said("Two is what a plain send has. The program's own gathering makes A1's third. A device "
             "that takes no scatter-gather (no SG) makes the kernel copy each packet into one "
             "piece: bytes are reshaped. A packet capture (tap) copies what was sent by reference. "
             "DMA by a NIC is no copy by a processor and is not in these numbers."),
        table(rows)]
