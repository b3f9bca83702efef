# SPDX-License-Identifier: GPL-2.0
"""Odd programs are held against what a record says, and not against what it says that nobody saw."""
from __future__ import annotations

from helpers import watches
from odd.judge import completions, part

TRUTH = {"asked": 3, "sends": 3, "completed": 3, "copied": 3, "dropped": 0}


def faults(completed: int, **socket: int) -> list[str]:
    """What is wrong with a record of 3 sends that all said COPIED."""
    sites = {"late_copy": {"bytes": 300}, "tx_reference": {"bytes": 300}}
    counts = {"zerocopy_sends": 3, "completed_sends": completed, "copied_sends": completed, "reshaped_referenced_bytes": 0}
    record = {"total": {"sites": sites, "counts": counts, "fate": {}}, "verdicts": [], "processes": [], "sockets": [socket]}
    return list(completions(record, TRUTH))


def test_completions_are_exact():
    assert not faults(3)
    assert len(faults(2)) == len(faults(4)) == 2


def test_completions_are_the_least_where_the_record_says_so():
    assert not faults(2, unseen_completions=1)
    assert len(faults(4, unseen_completions=1)) == 2


def test_what_a_listener_accepted_is_its_programs():
    """random programs, 6.12, seed 62183: 3,976 bytes were in the line of the listener, and not told."""
    books = watches.moved(0, 700)
    rows = [watches.process(pid, "one", books) for pid in (7, 8, None, None)]
    rows[2]["listener_pid"], rows[3]["listener_pid"] = 7, 8
    record = watches.watch_record(*rows)
    for socket, row in zip(record["sockets"], rows):
        socket |= {key: row[key] for key in ("listener_pid",) if key in row}
    found = part(record, {7, 9})
    assert found["total"]["counts"]["returned_bytes"] == 1400
    assert [each["pid"] for each in found["processes"]] == [7, None] and len(found["verdicts"]) == len(found["sockets"]) == 2
