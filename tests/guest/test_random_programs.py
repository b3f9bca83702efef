# SPDX-License-Identifier: GPL-2.0
"""Random programs in a guest, where trampolines count: each number of a watch is what their own calls said."""
from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from fuzz.compare import Compared, compare
from fuzz.draw import LIFE, UDP, WHOLE, Draw, draw, draws, write
from guest.boots import boot
from helpers.guest_python import OWN, adding, compiled

URGENT = range(400, 404)
PLAIN = ("urgent=0",)
SLICE = [draw(range(7, 13), PLAIN, WHOLE), draw(range(1, 7), way=LIFE, protocol=UDP)]
LONG_KERNELS = ("6.1", "6.12", "7.2")
LONG = [draw(range(1, 7), PLAIN, LIFE), draw(URGENT, way=LIFE), *(draw(range(at, at + 10), PLAIN) for at in range(100, 200, 10)), *draws(404, 504, 10),
        *draws(100, 300, 10, protocol=UDP)]
# Of the bytes that calls moved.
UNMEASURED_MOST = .02


def results(release: str, folder: Path, drawn: list[Draw]) -> list[Compared]:
    """What came of each program in a guest."""
    listing = folder / "draws"
    write(listing, drawn)
    code = compiled(folder / "code", "fuzz.suite")
    guest = boot(release, folder / "out", ["env", f"PYTHONPYCACHEPREFIX={code}", "tests/guest/random_programs.sh", OWN,
                                           listing], adding(listing, code))
    return [one for each in drawn for one in compare(guest.folder, each)]


def judge(compared: list[Compared]) -> None:
    """All is right, and next to all of it is measured."""
    assert not [f"seed {one.seed}: {fault.said}" for one in compared for fault in one.faults]
    unmeasured = sum((one.unmeasured_bytes for one in compared), Counter())
    assert unmeasured.total() <= UNMEASURED_MOST * sum(one.moved_bytes for one in compared), unmeasured


def test_trampolines_count_random_programs_exactly(tmp_path):
    judge(results("6.12", tmp_path, SLICE))


@pytest.mark.long
@pytest.mark.parametrize("release", LONG_KERNELS)
def test_on_each_kernel_hundreds_are(release, tmp_path):
    judge(results(release, tmp_path, LONG))
