# SPDX-License-Identifier: GPL-2.0
"""Runs whose packets are refused, lost or held up, and what their records must say all the same."""
from __future__ import annotations

from helpers import records

# Far less than TCP wants to send: full most of the time, it refuses what comes. The largest packet of
# lo passes, which a smaller burst would refuse for ever.
REFUSING = "tbf rate 400mbit burst 128k limit 70k"
LAWS = {"send", "reference", "receive", "end to end", "completion", "pin"}


def sent_again(record: dict) -> int:
    """Payload that left a socket for a further time, of both kinds."""
    return (record["counts"]["retrans_copied_bytes"] +
            record["counts"]["retrans_referenced_bytes"])


def check(record: dict, payload: int | None = None) -> None:
    """No law is broken, and what left is what was accepted and what was sent again."""
    assert not records.laws_with(record, "broken")
    # TCP's own numbers need no probe: whatever queues do, they are exact.
    assert {"sequence accepted", "sequence returned"} <= records.laws_with(record, "balanced")
    if records.unseen(record):
        return
    counts = record["counts"]
    assert "send" not in records.laws_with(record, "not testable")
    assert counts["accepted_bytes"] == counts["returned_bytes"]
    assert (counts["wire_copied_bytes"] + counts["wire_referenced_bytes"] ==
            counts["accepted_bytes"] + sent_again(record))
    if payload is not None:
        assert counts["accepted_bytes"] == payload
