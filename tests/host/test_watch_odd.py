# SPDX-License-Identifier: GPL-2.0
"""Odd sockets: each number of a watch is the program's own, or it is not measured and says why."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from helpers.records import needs_root
from odd.judge import Outcome
from odd.suite import RUNS

pytestmark = needs_root
TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module", name="folder")
def all_watched(tmp_path_factory) -> Path:
    """Where every program and its watch left what they say."""
    folder = tmp_path_factory.mktemp("odd")
    subprocess.run([sys.executable, "-m", "odd.suite", folder], cwd=TESTS, check=True)
    return folder


@pytest.mark.parametrize("name, way", RUNS)
def test_an_odd_program_is_counted_exactly_or_not_at_all(folder, name, way):
    outcome = Outcome(folder, name, way)
    if outcome.skip():
        pytest.skip(outcome.skip())
    assert not outcome.faults()
