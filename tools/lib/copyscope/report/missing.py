# SPDX-License-Identifier: GPL-2.0
"""What a record did not see, once for each reason."""
from __future__ import annotations

from dataclasses import dataclass, field

from copyscope.common.tables import SITES
from copyscope.records.run_record import ENDS, Record

# Reasons in other words that one thing would end are one.
COMMON = {
    "needs the trampoline backend":
        "this kernel's tracepoints do not show that: run with --kernel 6.12",
    "this law needs both ends to have finished":
        "the run did not end as it should, and these laws need both ends to have finished",
}


@dataclass
class Lack:
    """What is missing for one reason."""

    sites: list[str] = field(default_factory=list)
    laws: list[str] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Everything that is missing, by kind."""
        sites = ["all sites"] if set(self.sites) >= set(SITES) else self.sites
        parts = [", ".join(sites)]
        for word, names in (("law", self.laws), ("counter", self.counters)):
            parts.append(f"{word}{'s' * (len(names) > 1)} {', '.join(names)}" if names else "")
        return "; ".join(filter(None, parts))


def reason(why: str) -> str:
    """A reason as it is told."""
    return next((told for part, told in COMMON.items() if part in why), why)


def pins(record: Record) -> str:
    """What is not known of pins, if anything was pinned."""
    if record.watched or not record.at("counts.zerocopy_sends"):
        return ""
    if record.at("pins.released_pages") is not None:
        return ""
    return "pins" if record.pinned_pages is None else "pins held at once and released"


def law_why(record: Record, why: str | None) -> str | None:
    """Why a law is not testable: if that is for want of a site, why there is none."""
    lacking = (site for site in SITES if why == f"{site} is not measured")
    return next((record.site_why(site) for site in lacking if record.site_bytes(site) is None), why)


def unchecked(record: Record) -> bool:
    """Did perf count no packets beside the programs? The kernel may not run them for all."""
    probes = record.at("backend.probes") or []
    return any(probe.get("status") == "attached" and probe.get("site") == "tx_copy"
               and probe.get("unseen_firings", 0) is None for probe in probes)


def found(record: Record) -> dict[str, Lack]:
    """By reason, what is missing."""
    lacks: dict[str, Lack] = {}

    def lack(why: str | None) -> Lack:
        return lacks.setdefault(reason(why or "no reason is given"), Lack())

    for site in SITES:
        if record.site_bytes(site) is None:
            lack(record.site_why(site)).sites.append(site)
    if pins(record) and record.at("pins.why"):
        lack(record.at("pins.why")).sites.append(pins(record))
    for law in record.data["laws"]:
        # Without probes most laws lack for the same reason, in the words of each.
        if law["status"] == "not testable" and record.backend != "none":
            lack(law_why(record, law.get("why"))).laws.append(law["law"])
    for event in () if record.watched else record.times.counters[ENDS[0]]:
        if all(record.counter(end, event) is None for end in ENDS):
            lack(record.counter_why(ENDS[0], event)).counters.append(event)
    if unchecked(record):
        lack("perf counts no packets beside the programs, as it or tracefs refuses").sites.append(
            "whether a program ran for every packet")
    return lacks


def lines(record: Record) -> list[str]:
    """A line for each reason."""
    return [f"{lack.text()}: {why}" for why, lack in found(record).items()]
