# SPDX-License-Identifier: GPL-2.0
"""Each claim of MT25023 that was looked at again: its old form is refused, or says something else."""
from __future__ import annotations

from copyscope_studies.claims import of_others
from copyscope_studies.claims.readings import Item
from helpers import baselines, claims_before

BEFORE = claims_before.read("MT25023")
RECORDS = 6
MODELLED = ("modelled/mt25023-as-published", "modelled/mt25023-as-published-64")


def clocked() -> list[Item]:
    """Baselines of a core of 3 GHz, which copies 4096 bytes in 16 ns, into the kernel in 80 ns, and takes a
    reference to a page in 40 ns; a send of 4096 bytes takes 500 ns more than one of 64."""
    rows = {"core_clock": baselines.row("core-clock", 3.0, "GHz"),
            "memory_copy": baselines.row("memory-copy", 256.0, "GB/s", {4096: 256.0}),
            "copy_4096": baselines.row("copy-4096", 80.0),
            "send_copy": baselines.row("send-copy", 900.0, points={64: 400.0, 4096: 900.0}),
            "pin": baselines.row("pin", 740.0, points={1: 140.0, 16: 740.0})}
    data = baselines.baseline(**rows)
    return [each for number in range(RECORDS)
            for each in of_others.baseline_items({**data, "id": f"made-{number}"})]


def test_each_form_before_is_refused_or_says_something_else(tmp_path):
    made = {"clocked": clocked(), "repeated": claims_before.repeated(*MODELLED), "": None}
    for before in BEFORE:
        claims_before.check(before, tmp_path, made[before.made])
