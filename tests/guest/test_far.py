# SPDX-License-Identifier: GPL-2.0
"""`copyscope watch --host` from one guest to another has the record of that one itself, and leaves nothing there."""
from __future__ import annotations

import pytest

from copyscope import peers
from helpers import two_guests
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD
from helpers.guest_python import PYTHON, python_with
from helpers.watch_tool import record_of

pytestmark = pytest.mark.long
NEAR, FAR = "6.12", "6.1"
WORKLOAD = f"build/trace_run A3 {PRIME_BYTES} 2 --messages {PRIME_MESSAGES} --no-probes --quiet --json /dev/null"
KILLS = 50


def moved(record: dict) -> dict[str, int]:
    """What the workload's sockets did, whose whole life each watch saw, but for what a packet that is sent again adds."""
    sums = [each["sum"] for each in record["processes"] if each["comm"] == "workload"]
    return {name: sum(each["sites"][name]["bytes"] for each in sums) for name in ("tx_copy", "tx_reference", "tx_splice", "rx_copy")} | \
        {name: sum(each["counts"][name] for each in sums) for name in ("accepted_bytes", "returned_bytes")} | \
        {"sockets": sum(each["sockets"] for each in sums)}


def test_a_watch_from_here_has_the_record_of_the_host_itself_and_leaves_nothing(tmp_path):
    out = tmp_path / "out"
    command = [PYTHON, "tests/guest/far.py", two_guests.HOST, peers.SSH, KILLS, WORKLOAD]
    assert two_guests.run(f"{NEAR},{FAR}", command, out, python_with()) == 0
    there, own = (record_of(out / f"{each}.json") for each in ("far", "own"))
    assert there["machine"] == own["machine"] and there["machine"]["kernel"].startswith(f"{FAR}.")
    assert there["backend"]["name"] == own["backend"]["name"]
    assert moved(there) == moved(own)
    assert moved(there)["tx_reference"] == moved(there)["rx_copy"] == PRIME_PAYLOAD
    assert not [law["law"] for law in there["laws"] if law["status"] == "broken"]
    assert not (out / "left").read_text()
