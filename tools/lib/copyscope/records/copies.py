# SPDX-License-Identifier: GPL-2.0
"""Sums up sites over runs: bytes per payload byte, and how each sum is known."""
from __future__ import annotations

from dataclasses import dataclass

from copyscope.common.tables import COPY_SITES, SITES

from .run_record import Record

# Smaller than this is rounding, not payload: no arrow and no bar.
NOTHING = 5e-5


@dataclass(frozen=True)
class Amount:
    """Bytes per payload byte; None if not measured, with the reason in `why`."""

    value: float | None
    how: str
    why: str = ""

    @property
    def seen(self) -> bool:
        """There is something to draw."""
        return self.value is not None and self.value > NOTHING

    def text(self) -> str:
        """The number and how it is known."""
        if self.value is None:
            return f"not measured: {self.why}"
        return f"{number(self.value)} B/B, {self.how}"


def number(value: float) -> str:
    """A number with two decimals, or more where two would print 0.00 for a value above 0."""
    if value and value < 0.005:
        return f"{value:.1g}" if value >= NOTHING else "under 0.0001"
    return f"{value:.2f}"


def amount(records: list[Record], site: str) -> Amount:
    """Sum of a site over the runs that know it, per payload byte of those runs."""
    known = [record for record in records if record.site_per_byte(site) is not None]
    if not known:
        whys = [record.site_why(site) if record.site_bytes(site) is None
                else "no payload arrived" for record in records]
        return Amount(None, "not measured", next((why for why in whys if why), "no reason given"))
    passed = sum(record.site_bytes(site) or 0 for record in known)
    payload = sum(record.payload_bytes or 0 for record in known)
    derived = any(record.site_how(site) == "derived" for record in known)
    some = "" if len(known) == len(records) else f" in {len(known)} of {len(records)} runs"
    why = next((record.site_why(site) or "" for record in known
                if record.site_how(site) == "derived"), "")
    return Amount(passed / payload, ("derived" if derived else "measured") + some, why)


def amounts(records: list[Record]) -> dict[str, Amount]:
    """All sites."""
    return {site: amount(records, site) for site in SITES}


def copied(sums: dict[str, Amount]) -> tuple[float | None, list[str]]:
    """Bytes copied by processors per payload byte, and the copy sites that are not measured."""
    missing = [site for site in COPY_SITES if sums[site].value is None]
    values = [value for site in COPY_SITES if (value := sums[site].value) is not None]
    return (sum(values) if values else None), missing


def missing_notes(sums: dict[str, Amount]) -> list[str]:
    """Sites that are not measured, by reason."""
    by_why: dict[str, list[str]] = {}
    for site, each in sums.items():
        if each.value is None:
            by_why.setdefault(each.why, []).append(site)
    return [f"not measured: {', '.join(sites)}: {why}" for why, sites in by_why.items()]
