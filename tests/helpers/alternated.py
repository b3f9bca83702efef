# SPDX-License-Identifier: GPL-2.0
"""Records of starts in which variants took turns, made up: each turn takes what it is told to."""
from __future__ import annotations

import copy

from helpers.pictures import REAL, two_passes

ROUNDS, BLOCK_BYTES = 5, 1 << 20


def record(words: tuple[str, ...], ns_of) -> dict:
    """The record of `trace_run --alternate`: a turn of a variant takes ns_of(variant, size)."""
    names, size = words[1].split(","), int(words[4])
    ways = range(len(names))
    data = two_passes(copy.deepcopy(REAL["A3-host"]), kinds=("timed",))
    data["backend"]["name"] = "none"
    took = [ns_of(each, size) for each in names] * ROUNDS
    data["experiment"]["workload"]["bytes"] = size
    data["experiment"]["alternation"] = {
        "variants": names, "asked_ms": int(words[3]), "block_bytes": BLOCK_BYTES, "way": [*ways] * ROUNDS,
        "wall_ns": took, "sender_ns": took, "receiver_ns": [0] * len(took), "machine_ns": None, "ksoftirqd_ns": None,
        "lost_bytes": [0] * len(took), "why": None}
    return data
