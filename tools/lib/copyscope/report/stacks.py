# SPDX-License-Identifier: GPL-2.0
"""Which calls of programs moved bytes, by stack."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from copyscope.common.tables import SITES
from copyscope.common.text import bytes_text, share_text
from copyscope.records.stacks import frame_name

from .cpu import interval
from .page import folded, labelled, plural, process_name

Document = dict[str, Any]
# Of a stack, and of the name of each frame, so many bytes are shown.
TEXT_BYTES, NAME_BYTES = 1472, 64
ORDER = {site: place for place, site in enumerate((*SITES, "accepted", "returned"))}
HEAD = "bytes of calls by the program's stack, the function that called last comes first, and " \
    "their share of the site"
ENDS = {"whole": "", "deeper": "(deeper than 127 calls)",
        "no frame pointer": "(no frame pointer from here on)",
        "unread": "(not named: the program had ended, or was not read)",
        "kernel": "(the kernel, for no call of a program)",
        "io_uring": "(a thread of io_uring's, after the call that submitted it)"}
UNREAD = "the programs had ended and the file was gone, or it may not be read"


@dataclass
class Row:
    """Stacks that look the same, of addresses that differ within functions."""

    pid: int
    site: str
    text: str       # send < work < main
    bytes: int = 0
    calls: int = 0  # of samples, if these were taken


def cut(name: str) -> str:
    """The beginning of a name."""
    return name.encode()[:NAME_BYTES].decode(errors="ignore")


def joined(names: list[str], stack: Document) -> str:
    """The frames of a stack, innermost first."""
    parts, used = [], 0
    for place in stack["frames"]:
        if used >= TEXT_BYTES:
            break
        parts.append(cut(names[place]))
        used += len(parts[-1].encode()) + 3 * (len(parts) > 1)
    end = ENDS[stack["end"]]
    return " < ".join([*parts, end] if end else parts)


def alike(data: Document) -> list[Row]:
    """The stacks, most bytes first."""
    found = data["stacks"]
    names = [frame_name(found, each) for each in found["frames"]]
    rows: dict[tuple[int, str, str], Row] = {}
    for each in found["stacks"]:
        key = each["pid"], each["site"], joined(names, each)
        row = rows.setdefault(key, Row(*key))
        row.bytes += each["bytes"]
        row.calls += each["calls"]
    return sorted(rows.values(), key=lambda row: (-row.bytes, row.pid, ORDER[row.site], row.text))


def every(data: Document) -> int:
    """One byte of so many was sampled; 0: each counts."""
    return data["stacks"].get("sampled_every_bytes") or 0


def share(row: Row, whole: int, sampled: int) -> str:
    """62.5 %; of samples 62.5 % (58.1 to 66.7)."""
    if not sampled:
        return share_text(row.bytes, whole)
    found = interval(row.calls, whole // sampled)
    middle, low, high = (f"{100 * found[key]:.1f}" for key in ("share", "share_low", "share_high"))
    return f"{middle} % ({low} to {high})"


def rows(data: Document) -> list[list[str]]:
    """Bytes, share of the site, site, frames, calls and process of each."""
    found, of_site, sampled = alike(data), dict.fromkeys(ORDER, 0), every(data)
    comms = {each["pid"]: each["comm"] for each in data["processes"]}
    for row in found:
        of_site[row.site] += row.bytes
    return [[bytes_text(row.bytes), share(row, of_site[row.site], sampled), row.site, row.text,
             plural(row.calls, "sample" if sampled else "call"),
             process_name(row.pid, comms.get(row.pid))] for row in found]


def head(data: Document) -> list[str]:
    """How they were told."""
    if not every(data):
        return [HEAD]
    return [HEAD, f"sampled: one byte of {every(data):,}, so each number of bytes is an estimate, "
            "and shares have 95 % intervals"]


def unread(modules: list[Document]) -> list[str]:
    """Files without names."""
    found = [each["path"] for each in modules if not each.get("read", True)]
    if not found:
        return []
    were, more = ("was", "") if len(found) == 1 else ("were", ", ...")
    return [f"{plural(len(found), 'file')} {were} not read, so that calls there have an offset and "
            f"no name ({found[0]}{more}): {UNREAD}"]


def foot(data: Document) -> list[str]:
    """What is in no stack, and what is odd of those that are there."""
    found = data["stacks"]
    said = []
    if found["unstacked_bytes"]:
        said.append(f"{bytes_text(found['unstacked_bytes'])} are in no stack: calls of processes "
                    "that are not watched, or before stacks were kept, or found no room "
                    f"({found['lost_calls']} calls)")
    if found["why"]:
        said.append(f"no frame has a name: {found['why']}")
    said += [f"{each['path']} was replaced or removed while it ran: names are those of what ran"
             for each in found["modules"] if each["replaced"]]
    return [*said, *unread(found["modules"])]


def lines(data: Document, top: int) -> list[str]:
    """The part of a report: the stacks that moved most."""
    if not data.get("stacks"):
        return []
    told, *more = head(data)
    said = ["", *labelled("where", told)]
    for each in more:
        said += labelled("", each)
    found = rows(data)
    for moved, part, site, frames, calls, process in found[:top]:
        said += folded(f"  {moved:>8} {part:>8}  {site:12} ", f"{frames}; {calls} of {process}", 34)
    if len(found) > top:
        said.append(f"  {len(found) - top} more stacks: --top {len(found)}")
    for each in foot(data):
        said += folded("  ", each, 2)
    return said
