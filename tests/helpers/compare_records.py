# SPDX-License-Identifier: GPL-2.0
"""Compares two records of the same run by what is determined, and the rest by its shape."""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# What names one run, one process or one moment.
OF_ONE_RUN = {"id", "started", "command", "tool", "cookie", "pid", "local", "remote", "attempt",
              "first_byte_monotonic_ns", "window_ns", "elapsed_ns", "throughput_gbps", "throughput_ratio"}
# Times, and how often what runs at any time ran.
OF_TIME = {"runs", "run_time_ns", "missed_runs", "unseen_firings", "latency_us", "latency_mean_us",
           "counters", "overhead", "comparable", "running_share", "scaled", "seconds"}
# What a tree looks with, and which processors others used.
OF_LOOKING = {"scheduling", "probes", "cpu_shares"}
# What depends on how TCP cuts and repeats packets, on when the reader calls and on how long a
# completion takes. Each is a count of bytes or calls on the way, never of the payload itself.
OF_PACKETS = {
    "copies_per_byte", "late_copy", "reshape",  # what is sent again is copied again; what merges depends on queues
    "wire_copied_bytes", "wire_referenced_bytes", "wire_referenced_pages",
    "retrans_copied_bytes", "retrans_referenced_bytes", "retrans_referenced_pages",
    "reshaped_referenced_bytes", "dropped_referenced_bytes", "clean_bytes", "tapped_bytes",
    "user_referenced_bytes",  # whether a reader meets user pages: a race with late_copy
    "mixed_bytes", "retransmitted_bytes",
    "send_calls",  # a full socket takes a message in parts
    "map_calls", "recv_calls",  # how many calls a message takes to arrive
    "peak_pages", "pages", "released_pages", "pinned_pages",  # a page cut between skbs counts twice
    "completions_copied", "copied_sends",  # told for ranges, which merge
    "enobufs", "refused_optmem", "refused_memlock", "zerocopy_asked_sends",  # a refusal is tried again
    "content_errors",  # of A3-reuse: whether a buffer was overwritten in time
}
# Laws whose two sides are made of those; their residuals are compared.
LAWS_OF_PACKETS = {"reference", "pin", "refusal", "causes of late_copy", "causes of reshape", "content"}
CALLS = {"tx_copy", "tx_reference", "rx_copy"}  # calls of the kernel to itself: by packet
PROSE = {"sentence", "why", "remedy", "left_is", "right_is", "reason", "stack", "hook"}
NUMBER = re.compile(r"\d[\d,.]*")


def shape(value: Any) -> Any:
    """What a value is, without how much."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else \
        type(value).__name__


def without_whys(socket: dict[str, Any]) -> dict[str, Any]:
    """A socket whose sites do not say why they are not measured: the sums do."""
    sites = {name: {k: v for k, v in site.items() if k != "why"} for name, site in socket["sites"].items()}
    return {**socket, "sites": sites}


def law(entry: dict[str, Any]) -> dict[str, Any]:
    """A law without the sides that packets decide."""
    loose = {"left", "right"} if entry["law"] in LAWS_OF_PACKETS else set()
    return {key: shape(each) if key in loose else each for key, each in entry.items()}


def normal(value: Any, key: str, prose: bool) -> Any:
    """The same with what may differ reduced to its shape."""
    if key in OF_ONE_RUN | OF_TIME | OF_PACKETS:
        return shape(value)
    if key in PROSE and isinstance(value, str):
        return NUMBER.sub("N", value) if prose else "prose"
    if key == "laws":
        return [{k: normal(v, k, prose) for k, v in law(entry).items()} for entry in value]
    if key == "causes":
        # Which packets merge is chance: whether there is such a cause is, too.
        kept = [(each["cause"], each["site"], normal(each["remedy"], "remedy", prose))
                for each in value if each["site"] != "reshape" and each["bytes"] is not None]
        return sorted(kept)
    if key == "sockets":
        return sorted((normal(without_whys(each), "socket", prose) for each in value),
                      key=lambda each: (each["end"] or "", each["connection"] or 0))
    if isinstance(value, dict):
        return {k: shape(v) if key in CALLS and k == "calls" else normal(v, k, prose)
                for k, v in value.items() if k not in OF_LOOKING}
    if isinstance(value, list):
        return [normal(each, key, prose) for each in value]
    return value


def differences(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """One line for each place where two normalised values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        if set(old) != set(new):
            yield f"{at}: keys {sorted(set(old) ^ set(new))}"
        for key in old:
            if key in new:
                yield from differences(old[key], new[key], f"{at}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new)):
            yield from differences(*pair, f"{at}[{number}]")
    elif old != new:
        yield f"{at}: {old!r} against {new!r}"


def of_watch(record: dict[str, Any], prose: bool) -> dict[str, Any]:
    """What is determined of a watch: not which processes were seen to have which socket, and when."""
    told = ("sites", "counts", "count_whys", "causes", "laws", "losses", "exit")
    of_each = ("protocol", "layer", "whole", "opening", "closing", "sites", "counts", "fate")
    sockets = [normal({**{key: each[key] for key in of_each}, "each law": each["laws"]}, "", prose)
               for each in record["sockets"]]
    total = {key: record["total"][key] for key in ("born", "died", "opening", "closing", "fate")}
    return {**normal({key: record[key] for key in told} | {"total": total}, "", prose),
            "each socket": sorted(sockets, key=repr)}


def compare(old: dict[str, Any], new: dict[str, Any], prose: bool) -> list[str]:
    """What differs between two records of one run."""
    as_is = [of_watch(each, prose) if "processes" in each else normal(each, "", prose) for each in (old, new)]
    return list(differences(*as_is))
