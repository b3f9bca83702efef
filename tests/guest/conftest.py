# SPDX-License-Identifier: GPL-2.0
"""What tests of a file with one boot for each kernel share; the file's fixture `outcomes` makes the boots."""
from __future__ import annotations

import pytest


@pytest.fixture(scope="module", name="outcome")
def one_kernel(outcomes, request):
    """What one kernel's guest left."""
    return outcomes[request.param]
