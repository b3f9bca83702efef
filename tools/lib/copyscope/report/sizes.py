# SPDX-License-Identifier: GPL-2.0
"""How large the calls of watched processes were, and how long zero copy held their pages."""
from __future__ import annotations

from typing import Any

from copyscope.common.tables import column
from copyscope.common.text import bytes_text, duration_text

from .laws import law_named
from .page import BAD, folded, labelled, tinted

Document = dict[str, Any]
WAY = column("call_ways", "meaning")
WHAT = "what each send was accepted for and each receive returned"
LACKS = "; receives by splice and TCP_ZEROCOPY_RECEIVE are not measured, as no tracepoint tells " \
    "them"
UNREAD = "when the program read that is not measured: no hook of this kernel tells it (before 6.3)"
BY_RING = "when the program reads these is not measured, as it reads them from memory, by no call"
UNASKED = " by either of the first two: the program did not ask (IORING_SEND_ZC_REPORT_USAGE)"
MISSED = "sends of io_uring that began before its hook was attached are not in these numbers"
OTHERS = "All others, which are not told one by one"
BAR, UNITS = 20, ("B", "KiB", "MiB", "GiB")


def power(size: int) -> str:
    """4 KiB for 4096."""
    unit = 0
    while size >> 10:
        size, unit = size >> 10, unit + 1
    return f"{size} {UNITS[unit]}"


def bucket(found: Document, most: int) -> str:
    """Calls of about one size. A single call has a mark as well."""
    size = f"{power(found['from_bytes'])} to below {power(found['below_bytes'])}" \
        if found["from_bytes"] else "nothing"
    return f"    {size:24} {found['calls']:>11,} call{' ' if found['calls'] == 1 else 's'} " \
        f"{bytes_text(found['bytes']):>9}  {'#' * int(1 + (BAR - 1) * found['calls'] / most)}"


def merged(ways: list[list[Document]]) -> list[Document]:
    """Histograms of several as one for each way."""
    by_way: dict[tuple[str, str], dict[int, Document]] = {}
    for each in (each for told in ways for each in told):
        into = by_way.setdefault((each["direction"], each["way"]), {})
        for bucket in each["buckets"]:
            sum_of = into.setdefault(bucket["from_bytes"], {**bucket, "calls": 0, "bytes": 0})
            sum_of["calls"] += bucket["calls"]
            sum_of["bytes"] += bucket["bytes"]
    return [{"direction": direction, "way": way,
             "buckets": [buckets[size] for size in sorted(buckets)]}
            for (direction, way), buckets in by_way.items()]


def total(ways: list[Document], key: str) -> int:
    """Calls or bytes of all buckets."""
    return sum(each[key] for way in ways for each in way["buckets"])


def histograms(ways: list[Document]) -> list[str]:
    """A line for each size, way by way."""
    said = []
    for way in ways:
        said.append(f"  {WAY[way['direction'] + ' ' + way['way']]}: {total([way], 'calls'):,}, "
                    f"{bytes_text(total([way], 'bytes'))}")
        most = max(each["calls"] for each in way["buckets"])
        said += [bucket(each, most) for each in way["buckets"]]
    return said


def times(found: Document, what: str) -> list[str]:
    """How long until something was so: exact at both ends, and between them by bucket."""
    text = f"{found['sends']:,} {what}"
    if found["sends"]:
        shortest, longest, half, most = (duration_text(each) for each in (
            found["shortest_ns"], found["longest_ns"], found["median"]["below_ns"],
            found["p99"]["below_ns"]))
        text += f": {shortest} to {longest}, half of them below {half} and 99 of 100 below {most}"
    return folded("    ", text, 6)


def ends(found: Document) -> str:
    """By what they ended."""
    untold = found.get("untold")
    return f"ended: {found['acknowledgment']:,} as all packets were acknowledged and let go, " \
        f"{found['copy']:,} by a copy (COPIED), {found['close']:,} with their socket" \
        + (f", {untold:,}{UNASKED}" if untold else "")


def holds(found: Document | None) -> list[str]:
    """Of a process; nothing if it made no such send."""
    if not found:
        return []
    said = [f"  zero-copy sends whose pages were held: {found['outstanding_most']:,} at most at a "
            f"time, {found['outstanding']:,} now", *times(found["notified"], "notified")]
    said += times(found["read"], "of them read by the program") if found["read"] else \
        folded("    ", UNREAD, 6)
    if found.get("by_ring"):
        said += folded("    ", f"{found['by_ring']:,} of them by io_uring: {BY_RING}", 6)
    said += folded("    ", ends(found["ended_by"]), 6)
    if found["untimed_sends"]:
        said.append(f"    {found['untimed_sends']:,} found no room and are not in these numbers")
    return said + (folded("    ", MISSED, 6) if found.get("rings_missed") else [])


def processes(data: Document, top: int) -> list[str]:
    """Those whose calls moved most, then all others together."""
    found = [(verdict["process"], each["sizes"], each["holds"])
             for each, verdict in zip(data["processes"], data["verdicts"])
             if each.get("sizes") or each.get("holds")]
    said = []
    for name, ways, held in sorted(found, key=lambda each: -total(each[1], "bytes"))[:top]:
        said += [*folded("", name, 2), *histograms(ways), *holds(held)]
    if len(found) > top:
        said.append(f"{len(found) - top} more: --top {len(found)}")
    further = data["sizes"]["further"]
    if total(further, "calls"):
        return [*said, *folded("", OTHERS, 2), *histograms(further)]
    return said or ["No call returned."]


def added_up(found: Document, law: Document) -> str:
    """Do they add up?"""
    status, told = law["status"], found.get("told_bytes")
    if told is None:
        return f"Whether these sizes add up: {status}."
    if status == "balanced":
        return f"These sizes add up to the {told:,} bytes that calls returned."
    both = f"add up to {told:,} bytes, and calls returned {found['returned_bytes']:,}"
    if status == "broken":
        return f"Do not trust these sizes: they {both}."
    return f"These sizes {both}: not testable, as {law['why']}."


def lines(data: Document, top: int) -> list[str]:
    """Nothing if nobody asked."""
    if "sizes" not in data:
        return []
    found = data["sizes"]
    if not found:
        return ["", *labelled("sizes of calls", "not measured: the hooks of calls are missing")]
    said = ["", *labelled("sizes of calls", WHAT + LACKS * (not found["receives_by_pages"])),
            *processes(data, top)]
    if found["unsized_calls"]:
        said += folded("", f"{found['unsized_calls']:,} calls are in none of these: it was not "
                       "known yet that their sockets are the subject's.")
    law = law_named(data, "sizes")
    return said + tinted(BAD if law["status"] == "broken" else "", "", added_up(found, law))
