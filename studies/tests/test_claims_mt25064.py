# SPDX-License-Identifier: GPL-2.0
"""Each claim of MT25064 that was looked at again: its old form is refused, or says something else."""
from __future__ import annotations

import copy
from dataclasses import replace
from typing import cast

from copyscope.records.run_record import Record
from copyscope_studies.claims import command, files, of_others, questions
from copyscope_studies.claims.readings import Item
from copyscope_studies.claims.world import World
from helpers import claims_before

BEFORE = claims_before.read("MT25064")
PUBLISHED, MODELLED = "mt25064-as-published", "modelled/mt25064-as-published"


def repeated() -> list[Item]:
    """The modelled runs as if repeats had come to the same, and the runs that were counted."""
    return [*claims_before.repeated(MODELLED), *claims_before.committed(PUBLISHED)]


def steady() -> list[Item]:
    """The same, but A3 misses as often for each byte at every size."""
    return [even(each) if each.words["label"] == "A3" and cast(Record, each.data).modelled else each
            for each in repeated()]


def even(item: Item) -> Item:
    """A modelled run with a miss for each byte in each context."""
    record = cast(Record, item.data)
    data = copy.deepcopy(record.data)
    for each in data["experiment"]["passes"]["timed"]["modelled"]["ends"]:
        each["llc_misses"] = record.times.received_bytes
    return replace(item, data=Record(data, record.source, record.point))


def test_each_form_before_is_refused_or_says_something_else(tmp_path):
    made = {"repeated": repeated(), "steady": steady(), "": None}
    for before in BEFORE:
        claims_before.check(before, tmp_path, made[before.made])


def test_the_page_tells_which_of_the_three_breaks_down_with_8_threads():
    claims, world = claims_before.ROOT / "studies/claims", World()
    known = {each.id for each in
             files.read_all(command.claim_files(None), world)}
    found, _ = questions.read(claims / "page" / "questions.toml", world, known)
    for each in claims_before.committed(PUBLISHED):
        world.add(each)
    said = questions.answer(next(each for each in found if each.id == "collapse"), world)
    assert said["truth"] is True and said["conclusion"].startswith("A3's does, and A2's does not")
    shown = {each["say"]: (each["shown"] or "").split(" [")[0] for each in said["rows"]}
    assert [shown[f"{label}: throughput over the nominal time, 8 threads"].split()[1] for label in ("A1", "A2", "A3")] \
        == ["Gbps", "Gbps", "Mbps"]


def test_second_is_faster_from_beyond_all_sizes_that_first_wins():
    sizes = [{"bytes": size, "winner": winner} for size, winner in (
        (64, "first"), (4096, "undecided"), (8192, "first"), (16384, "undecided"), (32768, "second"))]
    data = {"machine": {"emulated": False}, "first": "A1", "second": "A3", "sizes": sizes, "answer": {
        "kind": "crossover", "faster_above": "A3", "low_bytes": 64, "high_bytes": 32768}}
    found = of_others.of_crossover([Item("crossover", "made", {}, data)], {}, "from_size")
    assert (found.low, found.high) == (8192, 32768)
