# SPDX-License-Identifier: GPL-2.0
"""How many bytes of a zero-copy packet lie in the kernel's own memory: its headers, or more."""
from __future__ import annotations

from .fact import Fact, unknown
from .tracepoints import Hit, Tracepoint, reach_tracefs
from .workload import OURS, run

WORDS, SECONDS = "A3 65536 1 --path veth", 0.3
LEAVES = "net/net_dev_start_xmit"
MEANS = {"least": "fewest bytes outside of user pages in a packet that has some",
         "most": "most bytes outside of user pages in a packet that has some"}
NAMES = [("linear", of, means) for of, means in MEANS.items()]
HOW = f"len - data_len of {LEAVES} with Ethernet's header, while trace_run {WORDS} ran, no probes"


def facts(_progress: object = None) -> list[Fact]:
    """The least and the most."""
    reach_tracefs()
    packets = Tracepoint(LEAVES, f"{OURS} && data_len > 0")
    hits: list[Hit] = []
    try:
        with packets:
            run(WORDS, SECONDS, lambda: hits.extend(packets.read()))
        hits.extend(packets.read())
    finally:
        packets.close()
    return told([each.fields["len"] - each.fields["data_len"] for each in hits])


def told(linear: list[int]) -> list[Fact]:
    """What the packets say; those that found no room in the ring were like them."""
    if not linear:
        return unknown(NAMES, HOW, "no packet of the workload was seen")
    how = f"{HOW}: {len(linear)} packets"
    numbers = {"least": min(linear), "most": max(linear)}
    return [Fact(name, of, numbers[of], means, how) for name, of, means in NAMES]
