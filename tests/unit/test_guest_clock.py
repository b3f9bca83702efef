# SPDX-License-Identifier: GPL-2.0
"""A guest's kernel is told how fast the clock ticks that it shares with this machine, where that is known."""
from __future__ import annotations

import pytest

from copyscope.guest import architectures


@pytest.mark.parametrize("flags, khz", [("tsc constant_tsc sse", 2596152), ("tsc constant_tsc aperfmperf", None), ("tsc", None)])
def test_a_guest_is_told_the_clock_that_it_shares(tmp_path, monkeypatch, flags, khz):
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\ncpu MHz\t\t: 2596.152\nflags\t\t: fpu {flags}\n")
    monkeypatch.setattr(architectures, "PROCESSORS", tmp_path / "cpuinfo")
    assert architectures.tsc_khz() == khz
    told = khz and architectures.get(None).name == "amd64"
    assert ("tsc_early_khz=2596152" in architectures.get(None).line_of("6.12")) == bool(told)
