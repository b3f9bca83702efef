# SPDX-License-Identifier: GPL-2.0
"""The load generator moves exactly the bytes it says, and checks them."""
import re
import subprocess

import pytest

from helpers.books import SENDS_A_MESSAGE
from helpers.names import names
from helpers.workload import RECEIVERS, TIMEOUT_S, WORKLOAD, run_pair

STREAMS = names("variants", datagrams=False, tls=False)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("receiver", RECEIVERS)
@pytest.mark.parametrize("pattern", ["stream", "rr"])
@pytest.mark.parametrize("variant", STREAMS)
def test_23_messages_of_4093_bytes_are_94139(variant, pattern, receiver, threads):
    a, b = run_pair(variant, 4093, threads, pattern, receiver, 23)
    assert a["messages"] == b["messages"] == 23
    assert a["accepted_bytes"] == b["received_bytes"] == 94139
    assert b["accepted_bytes"] == a["received_bytes"] == (94139 if pattern == "rr" else 0)
    assert a["gather_bytes"] == (94139 if variant == "A1" else 0)
    assert a["content_errors"] == 0 and a["peer_vanished"] == b["peer_vanished"] == 0
    if variant != "A3-reuse":
        assert b["content_errors"] == (None if receiver == "trunc" else 0)


def test_messages_are_a_total_that_connections_share():
    a, b = run_pair("A2", 4093, 4, "stream", "recv", 23)
    assert [each["messages"] for each in a["connections"]] == [6, 6, 6, 5]
    assert [each["messages"] for each in b["connections"]] == [6, 6, 6, 5]
    a, b = run_pair("A2", 64, 4, "rr", "recv", 3)
    assert [each["messages"] for each in b["connections"]] == [1, 1, 1, 0]


@pytest.mark.parametrize("size", [8, 9, 63, 65536, 65543, "1M", "3M"])
@pytest.mark.parametrize("variant", ["A1", "A2", "A3", "A3-unreaped"])
def test_any_size_arrives_whole(variant, size):
    a, b = run_pair(variant, size, 1, "stream", "recvmsg", 7)
    assert a["accepted_bytes"] == b["received_bytes"] == 7 * a["bytes"]
    assert b["content_errors"] == 0


def test_calls_have_the_shape_of_the_variant():
    calls = {variant: run_pair(variant, 4093, 1, "rr", "perfield", 23) for variant in STREAMS}
    for variant, (a, b) in calls.items():
        assert a["send_calls"] == 23 * SENDS_A_MESSAGE.get(variant, 1), variant
        assert b["recv_calls"] >= 8 * 23


def test_ends_name_the_same_connections():
    a, b = run_pair("A2", 64, 3, "stream", "recv", 3)
    assert [each["remote"] for each in a["connections"]] == \
           [each["local"] for each in b["connections"]]
    cookies = [each["cookie"] for each in a["connections"] + b["connections"]]
    assert len(set(cookies)) == 6 and all(int(cookie) > 0 for cookie in cookies)


def test_a1_offers_a_probe_where_it_gathers():
    notes = subprocess.run(["readelf", "-n", WORKLOAD], capture_output=True, text=True,
                           timeout=TIMEOUT_S, check=True).stdout
    assert re.search(r"Provider: copyscope\s+Name: gather", notes)
