# SPDX-License-Identifier: GPL-2.0
"""Answers questions about what the emulator's plugin counted in a pass; it is never "measured"."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# A PMU's event, and the count of the model that stands for it. Cache-misses are those of the last
# level, when it loads and when it stores.
EVENTS = {"instructions": "instructions", "L1-dcache-load-misses": "l1d_load_misses",
          "LLC-load-misses": "llc_load_misses", "cache-misses": "llc_misses"}
SITES = ("user_gather", "tx_copy", "pin", "late_copy", "reshape", "checksum", "rx_copy")
LEVELS = ("l1d", "l2", "llc")


@dataclass(frozen=True)
class Modelled:
    """One pass; `data` is its "modelled" in the record, whose counts are known."""

    data: dict[str, Any]

    @property
    def caches(self) -> str:
        """Which caches, and by which emulator."""
        found = self.data["caches"]
        return f"caches of {found['name']}, by {found['emulator']}"

    def counter(self, end: str, event: str) -> int | None:
        """An event as a PMU counts it for the threads of an end; None if the model has none."""
        count = EVENTS.get(event)
        return None if count is None else \
            sum(each[count] for each in self.data["ends"] if each["end"] == end)

    def site(self, site: str, count: str) -> int:
        """A count of one site, whoever passed it."""
        return sum(each[count] or 0 for each in self.data["sites"] if each["site"] == site)


def of(found: dict[str, Any]) -> Modelled | None:
    """The model of a pass; None if nobody asked for it or nothing is known."""
    data = found.get("modelled")
    return Modelled(data) if data and data["ends"] is not None else None
