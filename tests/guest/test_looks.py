# SPDX-License-Identifier: GPL-2.0
"""What a watch adds to messages and connections, its own and others', in instructions: no more than is kept."""
from __future__ import annotations

import pytest

from cost import looks

LOOKS = ("sequence", "others")


@pytest.mark.long
@pytest.mark.parametrize("release", ["6.12", "7.2"])
def test_no_row_got_dearer_than_it_was(release, tmp_path):
    rows = looks.measure(release, tmp_path, looks.WORKS, LOOKS, 2)
    assert not looks.dearer(looks.read(looks.RESULTS)[release]["rows"], rows)
