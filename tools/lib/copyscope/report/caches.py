# SPDX-License-Identifier: GPL-2.0
"""What an emulator's plugin counted in a run: instructions, and misses of caches that it models."""
from __future__ import annotations

from typing import Any

from copyscope.records import modelled
from copyscope.records.run_record import Record

from .page import folded

LABEL = "modelled       "
MISSES = tuple(f"{level}_misses" for level in modelled.LEVELS)


def row(name: str, where: str, found: list[dict[str, Any]], messages: int) -> list[str]:
    """A message at one end or site; none where nothing ran."""
    numbers = {key: sum(each[key] for each in found) for key in ("instructions", *MISSES)}
    if not numbers["instructions"]:
        return []
    misses = "".join(f" {numbers[key] / messages:>11.2f}" for key in MISSES)
    return [f"{name:11} {where:9} {numbers['instructions'] / messages:>13.1f}{misses}"]


def lines(record: Record) -> list[str]:
    """The part of a report, of the pass that times are from."""
    found, messages = record.times.modelled_data, record.times.messages
    if not found:
        return []
    if found["ends"] is None:
        return ["", *folded(f"{LABEL}not known: ", found.get("why") or "", len(LABEL))]
    if not messages:
        return []
    said = ["", *folded(LABEL, f"caches of {found['caches']['name']} by an emulator, not measured; "
                        "instructions are exact", len(LABEL)),
            f"{'a message':11} {'':9} {'instructions':>13} {'L1d misses':>11} {'L2 misses':>11} "
            f"{'LLC misses':>11}"]
    for each in found["ends"]:
        # What other tasks did besides has no message.
        if each["end"] != "other" or each["context"] == "softirq":
            said += row(each["end"], each["context"], [each], messages)
    for site in modelled.SITES:
        said += row(site, "site", [each for each in found["sites"] if each["site"] == site],
                    messages)
    return said
