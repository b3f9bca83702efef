# SPDX-License-Identifier: GPL-2.0
"""What tests of a file with one boot for each kernel share; the file's fixture `outcomes` makes the boots."""
from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Names the mark by which a test says what it asks of its guest; see Asked in boots.py."""
    config.addinivalue_line("markers", "made_by(run): the run of its guest that this test is about")


@pytest.fixture(name="outcome")
def one_kernel(outcomes, request):
    """What one kernel's guest left."""
    return outcomes[request.param]
