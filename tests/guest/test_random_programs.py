# SPDX-License-Identifier: GPL-2.0
"""Random programs in a guest, where trampolines count: each number of a watch is what their own calls said."""
from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.compare import compare
from fuzz.draw import LIFE, WHOLE, Draw, draw, write
from guest.boots import boot
from helpers.guest_python import OWN, adding

# Of urgent bytes, trampolines that count calls break the law of the receive queue by one: not mended yet.
MENDED = ("urgent=0",)
SLICE = [draw(range(1, 7), MENDED, LIFE), draw(range(7, 13), MENDED, WHOLE)]
LONG_KERNELS = ("6.1", "6.12", "7.2")


def faults(release: str, folder: Path, drawn: list[Draw]) -> list[str]:
    """What is wrong with the records that a guest leaves."""
    listing = folder / "draws"
    write(listing, drawn)
    guest = boot(release, folder / "out", ["tests/guest/random_programs.sh", OWN, listing], adding(listing))
    return [f"{each}: seed {one.seed}: {fault.said}" for each in drawn for one in compare(guest.folder, each)
            for fault in one.faults]


def test_trampolines_count_random_programs_exactly_or_not_at_all(tmp_path):
    assert not faults("6.12", tmp_path, SLICE)


@pytest.mark.long
@pytest.mark.parametrize("release", LONG_KERNELS)
def test_on_each_kernel_hundreds_are(release, tmp_path):
    assert not faults(release, tmp_path, [draw(range(at, at + 10), MENDED) for at in range(100, 300, 10)])
