# SPDX-License-Identifier: GPL-2.0
"""What one process, or all, moved in an interval, as amounts that counters grow by. Pure."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from copyscope.common.metric_names import DIRECTIONS

# The name of a metric, without copyscope_ and _total, and the values of its labels.
Key = tuple[str, ...]
Amounts = dict[Key, int]
# What a bucket of a histogram holds at most. Those of a watch begin at powers of two.
CALL_MOST = [4**power - 1 for power in range(3, 11)]
HOLD_MOST = [2**power - 1 for power in range(14, 33, 2)]
NS = 10**9
BYTES = "bytes"
WAYS = {
    "sent": {"copy": "tx_copy", "zerocopy": "tx_reference", "splice": "tx_splice"},
    "received": {
        "map": "rx_map",
        "splice": "rx_splice",
        "discard": "rx_discard",
        "direct": "rx_direct",
    },
}


# What an interval adds to these is known from the window so far.
WHOLE_WINDOW = ("needless_bytes", "copied_bytes", "copied_least_bytes")


def add(amounts: Amounts, key: Key, amount: int) -> None:
    """Add to one of them."""
    amounts[key] = amounts.get(key, 0) + amount


def ways(metric: str, whole: int | None, parts: dict[str, int | None]) -> Amounts:
    """Bytes by way, and what no way has."""
    if whole is None:
        return {}
    known = {way: part for way, part in parts.items() if part is not None}
    amounts = {(metric, way): part for way, part in known.items()}
    rest = whole - sum(known.values())
    return amounts | ({(metric, "unknown"): rest} if rest or len(known) < len(parts) else {})


def completions(counts: dict[str, int | None]) -> Amounts:
    """Completed sends."""
    done, copied = counts["completed_sends"], counts["copied_sends"]
    name = "zerocopy_completions"
    if done is None:
        return {}
    if copied is None:
        return {(name, "unknown"): done}
    return {(name, "true"): copied, (name, "false"): done - copied}


def site_key(site: str) -> Key:
    """Of the bytes at a site."""
    return "site_bytes", DIRECTIONS[site], site


def moved(part: dict[str, Any]) -> tuple[Amounts, list[str]]:
    """What moved, and the sites that were not measured."""
    sites = {site: each[BYTES] for site, each in part["sites"].items()}
    counts = part["counts"]
    amounts: Amounts = {
        site_key(site): amount
        for site, amount in sites.items()
        if amount is not None
    }
    for cause in part["causes"]:
        # Copied late, or by the send that was asked not to.
        if cause["site"] in ("late_copy", "tx_copy") and cause[BYTES] is not None:
            add(amounts, ("cause_bytes", cause["cause"]), cause[BYTES])
    read = {way: sites[site] for way, site in WAYS["received"].items()}
    copied, peeked = sites["rx_copy"], counts["peeked_bytes"]
    read["copy"] = None if copied is None or peeked is None else copied - peeked
    amounts |= ways(
        "sent_bytes",
        counts["accepted_bytes"],
        {way: sites[site] for way, site in WAYS["sent"].items()},
    )
    amounts |= ways("received_bytes", counts["returned_bytes"], read)
    amounts |= completions(counts)
    for name, amount in (
        *((name, part.get(name)) for name in WHOLE_WINDOW),
        ("enobufs", counts["enobufs"]),
        ("zerocopy_sends", counts["zerocopy_sends"]),
    ):
        if amount is not None:
            amounts[name,] = amount
    return amounts, [site for site, amount in sites.items() if amount is None]


def place(most: list[int], below: int) -> str:
    """The number of the bucket that has what is less than this; "inf" for the last."""
    at = bisect_left(most, below - 1)
    return str(at) if at < len(most) else "inf"


def calls(sizes: list[dict[str, Any]]) -> Amounts:
    """Histograms of calls."""
    amounts: Amounts = {}
    for way in sizes:
        labels = way["direction"], way["way"]
        for bucket in way["buckets"]:
            add(
                amounts,
                ("call_bytes", *labels, place(CALL_MOST, bucket["below_bytes"])),
                bucket["calls"],
            )
            add(amounts, ("call_bytes", *labels, "sum"), bucket[BYTES])
    return amounts


def holds(part: dict[str, Any] | None) -> Amounts:
    """Histograms of how long pages were held."""
    amounts: Amounts = {}
    for until in ("notified", "read"):
        for bucket in part[until] or () if part else ():
            add(
                amounts,
                ("zerocopy_hold_seconds", until, place(HOLD_MOST, bucket["below_ns"])),
                bucket["sends"],
            )
    return amounts


def sampled(classes: dict[str, int] | None, hz: int) -> Amounts:
    """CPU time in nanoseconds: a sample stands for one period of the clock."""
    return {("cpu_seconds", name): samples * NS // hz for name, samples in (classes or {}).items()}


def of_process(part: dict[str, Any], hz: int) -> tuple[Amounts, list[str]]:
    """All of one process."""
    amounts, missing = moved(part)
    amounts["service_laws_broken",] = len(part["laws_broken"])
    return amounts | calls(part.get("sizes", [])) | holds(part.get("holds")) | sampled(
        part.get("cpu"), hz
    ), missing


def difference(whole: int | None, parts: list[int | None]) -> int | None:
    """What is of none of the parts; None if one of all is not known."""
    known = [part for part in parts if part is not None]
    return None if whole is None or len(known) < len(parts) else whole - sum(known)


def rest_of(total: dict[str, Any], processes: list[dict[str, Any]]) -> Amounts:
    """What moved in all and is of no process that the line has. Where a number of one is not
    measured, that of all is not."""
    part: dict[str, Any] = {"causes": [], "sites": {}, "counts": {}}
    for name in WHOLE_WINDOW:
        part[name] = difference(total.get(name), [each.get(name) for each in processes])
    # What is copied late of what others sent is nobody's needless copy.
    part["needless_bytes"] = None
    for site, each in total["sites"].items():
        of_each = [process["sites"][site][BYTES] for process in processes]
        part["sites"][site] = {BYTES: difference(each[BYTES], of_each)}
    for name, number in total["counts"].items():
        part["counts"][name] = difference(
            number, [process["counts"][name] for process in processes]
        )
    amounts, _ = moved(part)
    return {key: amount for key, amount in amounts.items() if amount}
