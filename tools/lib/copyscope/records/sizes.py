# SPDX-License-Identifier: GPL-2.0
"""Reads how large the sends and receives of a watched process were: histograms by way."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .documents import BadRecord

SEND, RECV = "send", "recv"
PLAIN, ZEROCOPY, SPLICE = WAYS = ("plain", "zerocopy", "splice")
WITHOUT = "it has no sizes", "watch again with --sizes"


@dataclass(frozen=True)
class Bucket:
    """Calls of about one size."""

    from_bytes: int
    below_bytes: int
    calls: int
    bytes: int

    @property
    def mean_bytes(self) -> float:
        """Bytes of one of its calls, in the mean."""
        return self.bytes / self.calls


def buckets(process: dict[str, Any], direction: str, way: str) -> list[Bucket]:
    """The calls of a process that moved bytes in one direction by one way, smallest first."""
    found = [Bucket(each["from_bytes"], each["below_bytes"], each["calls"], each["bytes"])
             for table in process.get("sizes") or () for each in table["buckets"]
             if (table["direction"], table["way"]) == (direction, way)]
    return sorted((each for each in found if each.calls and each.bytes),
                  key=lambda each: each.from_bytes)


def refuse_without(processes: Iterable[dict[str, Any]], source: Path | str) -> None:
    """Raise BadRecord if a watch was made without --sizes."""
    if not any("sizes" in each for each in processes):
        raise BadRecord(source, "processes.sizes", *WITHOUT)


def chief_sizes(found: Iterable[Bucket], most: int, multiple: int = 8) -> list[int]:
    """The mean sizes of the calls that moved most bytes, at most so many, smallest first; each a
    whole number of fields of a message."""
    chief = sorted(found, key=lambda each: -each.bytes)[:most]
    return sorted({max(multiple, round(each.mean_bytes / multiple) * multiple) for each in chief})
