# SPDX-License-Identifier: GPL-2.0
"""On this kernel, each byte that was sent by UDP arrives or is found among those that were dropped."""
from __future__ import annotations

import time

import pytest

from helpers import records
from helpers.workload import client, server

pytestmark = records.needs_root

BYTES, MESSAGES = 65536, 40
PAYLOAD = BYTES * MESSAGES
SEVERAL = 67 * 1423
# It has room for the pieces of some packets that are cut, and for no packet that is not.
REFUSING = "tbf rate 20mbit burst 3000 limit 30000"


def refused(variant, *words):
    """The record of a run whose queue refuses most of what is sent."""
    done = records.run(variant, BYTES, 2, "--messages", MESSAGES, "--qdisc", REFUSING, "--json", "-", *words)
    if "has no sch_tbf" in done.err:
        pytest.skip("this kernel has no sch_tbf")
    assert done.code in records.WELL, done.err
    return done.record


@pytest.mark.parametrize("variant", ["udp", "udp-zc"])
def test_what_a_queue_refuses_is_lost_and_counted(variant):
    record = refused(variant, "--pass", "counted")
    counts, work = record["counts"], record["experiment"]["workload"]
    assert not records.laws_with(record, "broken")
    assert counts["accepted_bytes"] == PAYLOAD and counts["dropped_bytes"] > 0
    assert counts["returned_bytes"] + counts["dropped_bytes"] == PAYLOAD
    assert counts["returned_bytes"] == work["received_bytes"] and work["content_errors"] == 0
    if not records.unseen(record):
        assert {"send", "reference", "end to end"} <= records.laws_with(record, "balanced")
        used = "tx_reference" if variant == "udp-zc" else "tx_copy"
        assert records.site(record, used) == PAYLOAD
        assert records.site(record, "late_copy") == (counts["returned_bytes"] if variant == "udp-zc" else 0)


def test_two_passes_that_lose_other_datagrams_accept_the_same():
    record = refused("udp")
    assert records.law(record, "passes")["status"] == "balanced"


def test_without_the_hook_of_drops_the_law_end_to_end_is_not_tested():
    record = refused("udp", "--pass", "counted", "--break", "detach:drops")
    assert records.law(record, "end to end")["status"] == "not testable"
    assert "dropped" in records.law(record, "end to end")["why"]


@pytest.mark.parametrize("size", [8, 4093, 65507, 65508, "1M"])
@pytest.mark.parametrize("variant", ["udp", "udp-each", "udp-zc"])
def test_any_size_arrives_whole(variant, size):
    with server(variant, size, "--clients", 2, "--messages", 7, "--json") as sender:
        with client(sender, size, 2, "--datagrams", "--json") as receiver:
            a, b = sender.totals(), receiver.totals()
    assert a["accepted_bytes"] == b["received_bytes"] == 7 * a["bytes"]
    assert b["content_errors"] == 0 and a["zerocopy_sends"] == a["completions"]


@pytest.mark.parametrize("variant, sends", [("udp", 2), ("udp-each", 67)])
def test_a_message_goes_in_datagrams_of_the_size_that_was_asked_for(variant, sends):
    """67 of 1,423 bytes, of which one send carries 46 with UDP_SEGMENT; the receiver takes each by itself."""
    with server(variant, SEVERAL, "--clients", 1, "--messages", 23, "--piece", 1423, "--json") as sender:
        with client(sender, SEVERAL, 1, "--datagrams", "--behaviours", "no-gro", "--json") as receiver:
            a, b = sender.totals(), receiver.totals()
    assert a["accepted_bytes"] == b["received_bytes"] == 23 * SEVERAL and not b["content_errors"]
    assert (a["send_calls"], b["recv_calls"]) == (23 * sends, 23 * 67)


def test_a_run_says_of_what_size_its_datagrams_were():
    record = records.run_record("udp", SEVERAL, 1, "--messages", 23, "--piece", 1423, "--behaviours", "no-gro", "--path", "lo")
    work = record["experiment"]["workload"]
    assert record["counts"]["accepted_bytes"] == 23 * SEVERAL == work["received_bytes"]
    assert work["piece_bytes"] == 1423 and not records.laws_with(record, "broken")


def test_a_device_that_cannot_gather_copies_in_the_call_what_asked_for_zero_copy():
    record = records.run_record("udp-zc", BYTES, 2, "--messages", MESSAGES, "--no-sg", "--path", "veth")
    assert not records.laws_with(record, "broken")
    if not records.unseen(record):
        assert records.site(record, "tx_copy") == PAYLOAD and not records.site(record, "tx_reference")
        assert record["counts"]["nosg_bytes"] == PAYLOAD


def test_a_receiver_that_is_killed_ends_the_sender():
    with server("udp", BYTES, "--clients", 1, "--seconds", 20, "--json") as a:
        with client(a, BYTES, 1, "--datagrams", "--json") as b:
            time.sleep(0.3)
            b.process.kill()
            assert a.totals(1)["peer_vanished"] == 1
