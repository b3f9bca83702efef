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
from .blocks import Block, Code, Drawing, Group, Heading, Link, Table, line, said
from .front import FOLDERS, Place

# Column of the page: columns of the matrix that are added up.
COLUMNS = {"gathered": ("user_gather",), "by send": ("tx_copy",), "by reference": ("referenced",),
           "late": ("late",), "reshaped": ("reshaped",), "by recv": ("rx_copy",),
           "all copies": ("user_gather", "tx_copy", "late", "reshaped", "rx_copy"),
           "left uncopied": ("clean",)}
DRAWN = ("lo", "veth", "nic")
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
    """A share on all kernels: one number where they agree to the third digit."""
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
    left = () if share["left uncopied"] is None else \
        (maps.Way("left uncopied", share["left uncopied"], False),)
    return maps.Map(f"{row.variant} on {row.path}", (
        (*first, maps.Way("copied by send", share["by send"]),
         maps.Way("by reference", share["by reference"], False)),
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
    return Table("Bytes for each byte of payload, from the least to the most on any kernel",
                 ("path", "way", *COLUMNS, "kernels"), tuple(lines),
                 frozenset(range(2, 3 + len(COLUMNS))))


def of_way(way: dict[str, Any]) -> Row:
    """One way to send of a sweep, as a row."""
    sites = {site: way["sites"].get(site, {"share": None})["share"]
             for site in (*COPIES, "tx_reference")}
    known = [sites[each] for each in COPIES if sites[each] is not None]
    shares = {"gathered": sites["user_gather"], "by send": sites["tx_copy"],
              "by reference": sites["tx_reference"], "late": sites["late_copy"],
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
    replies: list[Block] = [said("Drawn of a reply alone, which the request does not dilute:"),
                            Group("maps", drawn)] if drawn else []
    return [Heading(3, "In each experiment", "copies-of-experiments"),
            said("All runs of a sweep with probes together. Where the kernel offers no hook, a "
                 "site is not measured, and the sum is a lower bound."), *replies,
            Table("Bytes for each byte of a message, or of a reply",
                  ("experiment", "way", *columns, "all copies", "runs"), lines,
                  frozenset(range(2, 4 + len(columns))))]


def section(place: Place, ways: list[dict[str, Any]]) -> list[Block]:
    """The whole section."""
    return [*of_matrix(place), *experiments(ways)]


def of_matrix(place: Place) -> list[Block]:
    """What the matrix says of each path."""
    found: list[Block] = [Heading(2, "Where do the copies occur?", "copies")]
    source = place.results / "matrix" / "matrix.csv"
    if not source.is_file():
        return [*found, said("Not measured: results/matrix is absent; ",
                             Code(FOLDERS["matrix"][1]), " makes it.")]
    rows = read(source)
    kernels = sorted({each.kernel for each in rows}, key=age)
    drawn = [each for each in rows if each.ran and each.kernel == kernels[-1] and
             each.path in DRAWN] if kernels else []
    found.append(said(
        f"Measured by probes on {len(kernels)} kernels in guests ({', '.join(kernels)}); every "
        "number is an exact count, a stream in one direction. ",
        Link("The matrix", place.link(source)), " has the bytes. The drawings are of the newest "
        "kernel: a solid arrow is a copy by a processor, a broken one hands bytes on without one."))
    if drawn:
        found.append(Group("maps", tuple(Drawing(maps.svg(map_of(each))) for each in drawn)))
    return [*found, table(rows)]
