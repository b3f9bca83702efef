# SPDX-License-Identifier: GPL-2.0
"""What a record did not see, once for each reason."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from copyscope.common.tables import SITES, names

from .page import labelled, plural

Document = dict[str, Any]
# Reasons in other words that one thing would end are one.
COMMON = {
    "needs the trampoline backend":
        "this kernel's tracepoints do not show that: run with --kernel 6.12",
    "this law needs both ends to have finished":
        "the run did not end as it should, and these laws need both ends to have finished",
}
# What a watch lost, and the words behind the number.
LOSSES = {
    "lost_events": "events were lost: the sums are short of them",
    "unseen_events": "ends or changes of sockets of this machine, so sums may be short: the kernel "
                     "ran no program for them",
    "unseen_firings": "packets or notifications of this machine: the kernel ran no program for "
                      "them",
    "unbooked_sockets": "sockets were not counted: ",
    "unopened_sockets": "sockets lay in network namespaces that were not entered, or moved "
                        "datagrams before their hooks were attached: the sums lack that",
    "folded_processes": "processes that ended are in the sums, and not in the record one by one",
    "folded_sockets": "sockets that closed are in the sums, and not in the record one by one",
}
# This kernel refuses to walk over what programs keep of sockets.
CLOSED = ", or they closed and wait in a queue to be accepted or received, where only a walk " \
         "finds them that this kernel refuses (iter/bpf_sk_storage_map)"
# Probes of packets and notifications.
OF_PACKETS = names("packet_probes")


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
        for word, each in (("law", self.laws), ("counter", self.counters)):
            parts.append(f"{word}{'s' * (len(each) > 1)} {', '.join(each)}" if each else "")
        return "; ".join(filter(None, parts))


class Lacks:
    """What is missing, by reason."""

    def __init__(self) -> None:
        self.found: dict[str, Lack] = {}

    def of(self, why: str | None) -> Lack:
        """What is missing for a reason, as that is told."""
        why = why or "no reason is given"
        told = next((told for part, told in COMMON.items() if part in why), why)
        return self.found.setdefault(told, Lack())

    def sites(self, data: Document) -> None:
        """Those that are not known."""
        for site in SITES:
            if data["sites"][site]["bytes"] is None:
                self.of(data["sites"][site].get("why")).sites.append(site)

    def laws(self, data: Document) -> None:
        """Those that are not testable."""
        for law in data["laws"]:
            if law["status"] == "not testable":
                self.of(law_why(data, law.get("why"))).laws.append(law["law"])

    def lines(self) -> list[str]:
        """A text for each reason."""
        return [f"{lack.text()}: {why}" for why, lack in self.found.items()]


def law_why(data: Document, why: str | None) -> str | None:
    """Why a law is not testable: if that is for want of a site, why there is none."""
    site = (why or "").removesuffix(" is not measured")
    lacks = why != site and site in SITES and data["sites"][site]["bytes"] is None
    return data["sites"][site].get("why") if lacks else why


def unseen_packets(data: Document) -> int:
    """Packets and notifications of this machine for which the kernel ran no program."""
    return sum((each.get("missed_runs") or 0) + (each.get("unseen_firings") or 0)
               for each in data["backend"]["probes"] if each["site"] in OF_PACKETS)


def losses(data: Document) -> list[str]:
    """What the sums of a watch are short of."""
    found = {**data["losses"], "unseen_firings": unseen_packets(data)}
    why = {"unbooked_sockets": found.get("unbooked_why") or "",
           "unseen_events": CLOSED if found.get("unseen_may_be_closed") else ""}
    return [f"{found[name]:,} {what}{why.get(name, '')}" for name, what in LOSSES.items()
            if found.get(name)]


def gaps(data: Document) -> list[str]:
    """What no book covers: what was noticed here, then all else."""
    said, unnoticed = [], []
    for each in data["not_covered"]:
        if not each["seen"]:
            unnoticed.append(each["what"])
            continue
        beside = f", {plural(each['sockets'], 'socket')}" if each["sockets"] else ", seen here"
        said.append(f"{each['what']}{beside}: {each['why']}")
    more = [f"not covered, and not noticed here: {', '.join(unnoticed)}"] if unnoticed else []
    return said + more


def texts(data: Document) -> list[str]:
    """All that a watch did not see."""
    lacks = Lacks()
    lacks.sites(data)
    lacks.laws(data)
    return [*losses(data), *lacks.lines(), *gaps(data)]


def lines(found: list[str]) -> list[str]:
    """These texts as the last part of a report."""
    said = [line for number, text in enumerate(found)
            for line in labelled("" if number else "not seen", text)]
    return ["", *said] if said else []
