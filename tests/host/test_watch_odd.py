# SPDX-License-Identifier: GPL-2.0
"""Odd sockets: each number of a watch is the program's own, or it is not measured and says why."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.records import needs_root
from odd.frame import LIFE, WHOLE
from odd.judge import Outcome, broken, record_in
from odd.programs import PROGRAMS
from odd.suite import RUNS, TOGETHER

pytestmark = needs_root
TESTS = Path(__file__).resolve().parents[1]


def watched(folder: Path, *words: str, small: bool = False) -> Path:
    """Where programs and their watches left what they say."""
    # All together there are fewer of what there are many of, as in guests.
    subprocess.run([sys.executable, "-m", "odd.suite", folder, *words], cwd=TESTS, check=True,
                   env=os.environ | ({"ODD_SMALL": "1"} if small else {}))
    return folder


def chosen(request: pytest.FixtureRequest) -> list[str]:
    """The programs of the tests that were chosen and ask for the fixture; all if one asks for the whole."""
    items = [item for item in request.session.items
             if item.module is request.module and request.fixturename in item.fixturenames]
    return list(dict.fromkeys(name for item in items
                              for name in ([item.callspec.params["name"]] if "name" in item.callspec.params else PROGRAMS)))


@pytest.fixture(scope="module", name="folder")
def each_watched(request, tmp_path_factory) -> Path:
    """Each program has a watch of its own, in each way."""
    return watched(tmp_path_factory.mktemp("odd"), *chosen(request))


@pytest.fixture(scope="module", name="together")
def all_watched(request, tmp_path_factory) -> Path:
    """One watch has all programs, in each way."""
    return watched(tmp_path_factory.mktemp("odd"), *chosen(request), "--together", small=True)


def judge(outcome: Outcome) -> None:
    """Exact, or not measured and said why."""
    if outcome.skip():
        pytest.skip(outcome.skip())
    assert not outcome.faults()


@pytest.mark.parametrize("name, way", RUNS)
def test_an_odd_program_among_all_is_counted_exactly_or_not_at_all(together, name, way):
    judge(Outcome(together, name, way, together=True))


@pytest.mark.parametrize("way", [LIFE, WHOLE])
def test_no_law_breaks_over_all_odd_programs(together, way):
    assert not broken(record_in((together / f"{TOGETHER}.{way}.json").read_text()))


@pytest.mark.long
@pytest.mark.parametrize("name, way", RUNS)
def test_an_odd_program_is_counted_exactly_or_not_at_all(folder, name, way):
    judge(Outcome(folder, name, way))
