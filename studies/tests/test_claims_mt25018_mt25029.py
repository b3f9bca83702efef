# SPDX-License-Identifier: GPL-2.0
"""Each claim of MT25018 and MT25029 that was looked at again: its old form is refused, or says something else."""
from __future__ import annotations

import copy
from dataclasses import replace
from typing import cast

from copyscope.records.run_record import Record
from copyscope_studies.claims.readings import Item
from helpers import claims_before

BEFORE = [*claims_before.read("MT25018"), *claims_before.read("MT25029")]


def eight(item: Item) -> Item:
    """A run as it would be if the machine had 8 processors, and 8 threads were four times as slow."""
    record = cast(Record, item.data)
    data = copy.deepcopy(record.data)
    data["machine"]["cpus"] = 8
    if item.words["threads"] == "8":
        data["experiment"]["passes"]["timed"]["throughput_gbps"] /= 4
    return replace(item, data=Record(data, record.source, record.point))


def test_each_form_before_is_refused_or_says_something_else(tmp_path):
    for before in BEFORE:
        made = [eight(each) for each in claims_before.committed("mt25018-as-published")] \
            if before.made == "eight" else None
        claims_before.check(before, tmp_path, made)
