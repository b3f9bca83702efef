# SPDX-License-Identifier: GPL-2.0
"""How a watch starts: its programs are verified on all processors, and are those that one processor loads."""
from __future__ import annotations

import os
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import pytest

from helpers.records import ROOT, needs_root

pytestmark = needs_root
ALL = os.sched_getaffinity(0)


def loaded(processors: set[int]) -> list[tuple[str, int, int]]:
    """Programs in the order in which their loads began: name, instructions, how many the verifier followed."""
    loader = SourceFileLoader("start_cost", str(ROOT / "tests/start_cost"))
    measure = module_from_spec(spec_from_loader("start_cost", loader))
    loader.exec_module(measure)
    os.sched_setaffinity(0, processors)
    try:
        return [each[1:] for each in measure.start([str(ROOT / "build/watch"), "-p", str(os.getpid())])[-1]]
    finally:
        os.sched_setaffinity(0, ALL)


def first(programs: list[tuple[str, int, int]]) -> str:
    """Which of the two was begun first."""
    return next(name for name, *_ in programs if name in ("receive_call", "walk_sockets"))


@pytest.mark.skipif(len(ALL) < 2, reason="this machine has one processor")
def test_the_longest_programs_are_loaded_first_and_are_those_of_one_processor():
    beside, alone = loaded(ALL), loaded({min(ALL)})
    assert sorted(beside) == sorted(alone)
    # The file begins with walks; the longest program is a receiver's.
    assert first(beside) == "receive_call" and first(alone) == "walk_sockets"
