# SPDX-License-Identifier: GPL-2.0
"""As many connections as there may be balance on the backend that guests have, too."""
from __future__ import annotations

import pytest

from guest.boots import TIMEOUT_S
from helpers import records

MOST = 1024


@pytest.mark.long
def test_1024_connections_balance_with_trampolines():
    done = records.run("A3", 4093, MOST, "--messages", MOST, "--kernel", "6.12", "--json", "-",
                       timeout_s=TIMEOUT_S)
    assert done.code == 0, done.err + records.broken_text(done.out)
    record = done.record
    assert record["backend"]["name"] == "trampoline"
    assert len(record["sockets"]) == 2 * MOST
    assert records.site(record, "tx_reference") == MOST * 4093
    assert not records.laws_with(record, "broken") | records.laws_with(record, "not testable")
