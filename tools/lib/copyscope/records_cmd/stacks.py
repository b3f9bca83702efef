# SPDX-License-Identifier: GPL-2.0
"""Which calls of programs moved bytes, in the words and order of userspace/watch/report."""
from __future__ import annotations

from copyscope.common.text import bytes_text, wrapped
from copyscope.records import stacks
from copyscope.records.run_record import Record

from .tables import labelled, plural

MOST = 10


def lines(record: Record) -> list[str]:
    """The part of a report: the stacks that moved most."""
    if not stacks.has(record):
        return []
    found = record.data["stacks"]
    sums: dict[tuple[str, str, tuple[str, ...]], list[int]] = {}
    of_site: dict[str, int] = {}
    for each in stacks.stacks_of(record):
        row = sums.setdefault((each.process, each.site, each.frames), [0, 0])
        row[0] += each.bytes
        row[1] += each.calls
        of_site[each.site] = of_site.get(each.site, 0) + each.bytes
    said = ["", *labelled("where", "bytes of calls by the program's stack, the function that "
                          "called last comes first, and their share of the site")]
    every = found.get("sampled_every_bytes")
    if every:
        said += wrapped(f"               sampled: one byte of {every:,}, so each number of bytes "
                        "is an estimate", " " * 15)
    ordered = sorted(sums.items(), key=lambda each: -each[1][0])
    for (process, site, frames), (moved, calls) in ordered[:MOST]:
        share = f"{100 * moved / (of_site[site] or 1):.1f} %"
        said += wrapped(f"  {bytes_text(moved):>8} {share:>8}  {site:12} "
                        f"{' < '.join(reversed(frames))}; "
                        f"{plural(calls, 'sample' if every else 'call')} of {process}", " " * 34)
    if len(ordered) > MOST:
        said.append(f"  {len(ordered) - MOST} more stacks")
    if found["unstacked_bytes"]:
        said.append(f"  {bytes_text(found['unstacked_bytes'])} are in no stack")
    if found["why"]:
        said += wrapped(f"  no frame has a name: {found['why']}", "  ")
    said += [f"  {each['path']} was replaced or removed while it ran: names are those of what ran"
             for each in found["modules"] if each["replaced"]]
    why = f": {found['law']['why']}" if found["law"]["why"] else ""
    return [*said, *wrapped(f"  law stacks: {found['law']['status']}{why}", "  ")]
