# SPDX-License-Identifier: GPL-2.0
"""Odd sockets in guests, where trampolines count: exact, or not measured and said why, as on the host."""
from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

from guest.boots import Outcome as Guest, boot
from odd.frame import LIFE, WHOLE
from odd.judge import Outcome, broken, record_in
from odd.suite import RUNS, TOGETHER

KERNELS = ("6.1", "7.2")


@pytest.fixture(scope="module", name="guest", params=KERNELS)
def one_kernel(tmp_path_factory, request) -> Guest:
    """What all programs left in one boot of a kernel."""
    python = Path(sys.executable).resolve()
    added = [word for each in (python, sysconfig.get_path("stdlib")) for word in ("--add", each)]
    return boot(request.param, tmp_path_factory.mktemp("odd"), ["tests/guest/odd.sh", python],
                added)


@pytest.mark.parametrize("name, way", RUNS)
def test_an_odd_program_is_counted_exactly_or_not_at_all(guest, name, way):
    outcome = Outcome(guest.folder, name, way, together=True)
    if outcome.skip():
        pytest.skip(outcome.skip())
    assert not outcome.faults()


@pytest.mark.parametrize("way", [LIFE, WHOLE])
def test_no_law_breaks_over_all_odd_programs(guest, way):
    assert not broken(record_in(guest.text(f"{TOGETHER}.{way}.json")))
    assert guest.text(f"{TOGETHER}.{way}.status") == "0"
