# SPDX-License-Identifier: GPL-2.0
"""Which calls of programs moved bytes, in the words and order of userspace/watch/report."""
from __future__ import annotations

from copyscope.common.text import bytes_text, wrapped
from copyscope.records import stacks
from copyscope.records.run_record import Record

from .tables import labelled, plural

MOST = 10


HEAD = "bytes of calls by the program's stack, the function that called last comes first, and " \
    "their share of the site"


def rows(record: Record) -> list[list[str]]:
    """Bytes, share of the site, site, frames, calls and process of each stack, most first."""
    sums: dict[tuple[str, str, tuple[str, ...]], list[int]] = {}
    of_site: dict[str, int] = {}
    for each in stacks.stacks_of(record):
        row = sums.setdefault((each.process, each.site, each.frames), [0, 0])
        row[0] += each.bytes
        row[1] += each.calls
        of_site[each.site] = of_site.get(each.site, 0) + each.bytes
    what = "sample" if every(record) else "call"
    return [[bytes_text(moved), f"{100 * moved / (of_site[site] or 1):.1f} %", site,
             " < ".join(reversed(frames)), plural(calls, what), process]
            for (process, site, frames), (moved, calls)
            in sorted(sums.items(), key=lambda each: -each[1][0])]


def every(record: Record) -> int:
    """One byte of so many was sampled; 0: each counts."""
    return record.data["stacks"].get("sampled_every_bytes") or 0


def head(record: Record) -> list[str]:
    """How they were told."""
    if not every(record):
        return [HEAD]
    return [HEAD, f"sampled: one byte of {every(record):,}, so each number of bytes is an estimate"]


def foot(record: Record) -> list[str]:
    """What is in no stack, what is odd of those that are there, and their law."""
    found = record.data["stacks"]
    said = []
    if found["unstacked_bytes"]:
        said.append(f"{bytes_text(found['unstacked_bytes'])} are in no stack")
    if found["why"]:
        said.append(f"no frame has a name: {found['why']}")
    said += [f"{each['path']} was replaced or removed while it ran: names are those of what ran"
             for each in found["modules"] if each["replaced"]]
    why = f": {found['law']['why']}" if found["law"]["why"] else ""
    return [*said, f"law stacks: {found['law']['status']}{why}"]


def lines(record: Record) -> list[str]:
    """The part of a report: the stacks that moved most."""
    if not stacks.has(record):
        return []
    told, *more = head(record)
    said = ["", *labelled("where", told)]
    for each in more:
        said += wrapped(" " * 15 + each, " " * 15)
    found = rows(record)
    for moved, share, site, frames, calls, process in found[:MOST]:
        said += wrapped(f"  {moved:>8} {share:>8}  {site:12} {frames}; {calls} of {process}",
                        " " * 34)
    if len(found) > MOST:
        said.append(f"  {len(found) - MOST} more stacks")
    for each in foot(record):
        said += wrapped(f"  {each}", "  ")
    return said
