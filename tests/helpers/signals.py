# SPDX-License-Identifier: GPL-2.0
"""Gives signals back as they were: a command that a test calls here answers some in its own way."""
from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

CHANGED = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(name="signals", autouse=True)
def fixture_signals() -> Iterator[None]:
    """Files of tests share a process."""
    before = {number: signal.getsignal(number) for number in CHANGED}
    yield
    for number, answer in before.items():
        if answer is not None:
            signal.signal(number, answer)
