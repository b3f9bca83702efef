# SPDX-License-Identifier: GPL-2.0
"""Odd programs are held against what a record says, and not against what it says that nobody saw."""
from __future__ import annotations

from odd.judge import completions

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
