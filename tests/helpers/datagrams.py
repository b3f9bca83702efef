# SPDX-License-Identifier: GPL-2.0
"""What tests/guest/datagrams says of itself, against a watch's record of it."""
from __future__ import annotations

from pathlib import Path

from copyscope.common.tables import names

from .records import ROOT
from .watch_tool import broken

TLS_LAWS = set(names("laws", of_tls=True))
DATAGRAMS = ROOT / "build/tests/guest/datagrams"
# What it sends before it is told to go on: 3 datagrams, and half of another one.
BEFORE = {"unsent_bytes": 500, "unread_bytes": 3000}


def sums(record: dict) -> dict:
    """Bytes by site, and counts, of all."""
    return {site: each["bytes"] for site, each in record["total"]["sites"].items()} | record["total"]["counts"]


def agrees(record: dict, told: dict, before: int = 0) -> None:
    """What the program says of itself is what was counted, if it sent so much before it began to count."""
    found, accepted = sums(record), told["accepted"] + before
    # There sendfile to UDP sends by its plain call.
    spliced = 0 if record["machine"]["kernel"].startswith("6.1.") else told["tx_splice"]
    assert not broken(record) and not record["losses"]["unseen_events"]
    assert found["accepted_bytes"] == accepted and found["returned_bytes"] == told["returned"]
    assert found["tx_reference"] == found["late_copy"] == told["tx_reference"]
    assert found["tx_splice"] == spliced
    assert found["tx_copy"] == accepted - told["tx_reference"] - spliced
    assert found["rx_copy"] == told["returned"] + told["peeked"]
    assert found["peeked_bytes"] == told["peeked"] and found["dropped_bytes"] == 0
    assert found["zerocopy_sends"] == found["completed_sends"] == told["zerocopy_sends"]
    if record["backend"]["name"] == "trampoline":
        assert found["truncated_bytes"] == told["truncated"]
        balanced = {law["law"] for law in record["laws"] if law["status"] == "balanced" and not law["why"]} - TLS_LAWS
        assert balanced == {"send queue", "receive queue", "reference queue", "completion", "copied", "receives",
                            "probes"}
    assert record["total"]["closing"]["unread_bytes"] == told["unread"]


def program(told: Path | str, *words: str) -> list[str]:
    """A command that runs it at once, and leaves what it says in that file."""
    return ["bash", "-c", f"echo go | {DATAGRAMS} 23 {' '.join(words)} >{told}"]
