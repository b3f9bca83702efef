# SPDX-License-Identifier: GPL-2.0
"""Threads that share one socket receive every byte, and say that they checked none."""
from __future__ import annotations

import pytest

from helpers.records import needs_root, run

MESSAGES, BYTES = 23, 4093

pytestmark = needs_root


@pytest.mark.parametrize("readers", [1, 3])
def test_readers_empty_one_socket(readers):
    record = run("A2", BYTES, 1, "--messages", MESSAGES, "--readers", readers, "--json", "-").record
    work = record["experiment"]["workload"]
    assert (work["receiver"], work["readers"], work["connections"]) == ("drain", readers, 1)
    assert work["messages"] == MESSAGES
    assert record["sites"]["rx_copy"]["bytes"] == MESSAGES * BYTES
    assert work["content_errors"] is None and "content_errors" in work["why"]
    laws = {each["law"]: each["status"] for each in record["laws"]}
    assert laws["content"] == "not testable" and laws["end to end"] == "balanced"
    assert record["experiment"]["timing"]["latency_us"] is None


def test_each_connection_has_its_readers():
    record = run("A2", BYTES, 2, "--messages", MESSAGES, "--readers", 2, "--json", "-").record
    assert record["experiment"]["workload"]["connections"] == 2
    assert record["experiment"]["workload"]["received_bytes"] == MESSAGES * BYTES


def test_sockets_are_told_apart_by_the_order_they_connected():
    record = run("A2", BYTES, 3, "--messages", MESSAGES, "--json", "-").record
    mine = [each for each in record["sockets"] if each["end"] == "receiver"]
    assert {each["connection"]: each["messages"] for each in mine} == {1: 8, 2: 8, 3: 7}
    assert all(each["latency_mean_us"] > 0 for each in mine)


@pytest.mark.parametrize("words", [("--receiver", "recv"), ("--pattern", "rr")])
def test_what_readers_cannot_do_is_refused(words):
    done = run("A2", BYTES, 1, "--readers", 2, *words)
    assert done.code == 2 and "--readers" in done.err and done.err.count("\n") == 1
