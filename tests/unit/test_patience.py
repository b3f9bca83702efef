# SPDX-License-Identifier: GPL-2.0
"""Waits leave out the time in which the machine had no processor for somebody."""
import time

import pytest

from copyscope.common import patience


@pytest.fixture(name="clock")
def book_and_clock(tmp_path, monkeypatch):
    """Moves the clock, and the kernel's book of waits for a processor."""
    book, now = tmp_path / "cpu", [1000.0]
    monkeypatch.setattr(patience, "PRESSURE", book)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def go(seconds, stalled_s):
        now[0] += seconds
        book.write_text(f"some avg10=0.00 avg60=0.00 avg300=0.00 total={stalled_s * 1_000_000}\nfull total=0\n")
    go(0, 100)
    return go


def test_time_in_which_a_task_waited_for_a_processor_does_not_count(clock):
    left = patience.within(90)
    clock(60, 100)
    assert left() == 30
    clock(60, 155)
    assert left() == 90 - (120 - 55)


def test_what_hangs_on_a_busy_machine_is_told_all_the_same(clock):
    left = patience.within(90)
    clock(899, 999)
    assert left() > 0
    clock(2, 1001)
    assert left() < 0


def test_without_the_book_the_clock_alone_counts(clock, monkeypatch, tmp_path):
    monkeypatch.setattr(patience, "PRESSURE", tmp_path / "none")
    left = patience.within(90)
    clock(91, 190)
    assert left() == -1
