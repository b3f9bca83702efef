# SPDX-License-Identifier: GPL-2.0
"""What a run did not see: sites, pins, laws, counters, and whether programs ran for all packets."""
from __future__ import annotations

from copyscope.records.run_record import ENDS, Record

from . import missing


def pins(record: Record) -> str:
    """What is not known of pins, if anything was pinned."""
    if not record.at("counts.zerocopy_sends") or record.at("pins.released_pages") is not None:
        return ""
    return "pins" if record.pinned_pages is None else "pins held at once and released"


def unchecked(record: Record) -> bool:
    """Did perf count no packets beside the programs? The kernel may not run them for all."""
    probes = record.at("backend.probes") or []
    return any(probe.get("status") == "attached" and probe.get("site") == "tx_copy"
               and probe.get("unseen_firings", 0) is None for probe in probes)


def texts(record: Record) -> list[str]:
    """All of it, once for each reason."""
    lacks = missing.Lacks()
    lacks.sites(record.data)
    if pins(record) and record.at("pins.why"):
        lacks.of(record.at("pins.why")).sites.append(pins(record))
    # Without probes most laws lack for the same reason, in the words of each.
    if record.backend != "none":
        lacks.laws(record.data)
    for event in record.times.counters[ENDS[0]]:
        if all(record.counter(end, event) is None for end in ENDS):
            lacks.of(record.counter_why(ENDS[0], event)).counters.append(event)
    if unchecked(record):
        why = "perf counts no packets beside the programs, as it or tracefs refuses"
        lacks.of(why).sites.append("whether a program ran for every packet")
    return lacks.lines()


def lines(record: Record) -> list[str]:
    """The last part of a report."""
    return missing.lines(texts(record))
