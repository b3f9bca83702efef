# SPDX-License-Identifier: GPL-2.0
"""Switches on lo and veth of this kernel: applied, told in the record, and never taken for zero
copy where tracepoints cannot see."""
import subprocess

import pytest

from helpers import leftovers, records
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD

pytestmark = records.needs_root

REFUSED, USAGE = 3, 2
PATHS = ["lo", "veth"]


def made(path, *switches, variant="A3"):
    """The record of 23 messages of 4,093 bytes."""
    record = records.run_record(variant, PRIME_BYTES, 1, "--messages", PRIME_MESSAGES,
                                "--path", path, *switches)
    assert not records.laws_with(record, "broken")
    assert records.site(record, "rx_copy") == PRIME_PAYLOAD == 94139
    return record


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("switches, key, value", [
    (["--no-tso"], "tso", False), (["--mtu", 1280], "mtu", 1280), (["--ipv6"], "ipv6", True),
    (["--tap", "tx"], "taps", ["tx"]), (["--tap", "other,rx"], "taps", ["rx", "other"]),
])
def test_a_switch_is_told_and_the_books_balance(path, switches, key, value):
    record = made(path, *switches)
    assert record["experiment"]["path"][key] == value
    assert records.site(record, "tx_reference") == PRIME_PAYLOAD
    if not records.unseen(record):
        assert records.law(record, "send")["status"] == "balanced"
        assert records.law(record, "reference")["status"] in ("balanced", "not testable")


def test_no_switch_is_told_where_none_was_given():
    path = made("veth")["experiment"]["path"]
    assert path["taps"] == [] and not path["ipv6"] and path["netem"] is None
    assert path["scatter_gather"] and path["tso"]


def test_copies_of_a_capture_are_not_denied_where_they_cannot_be_seen():
    record = made("veth", "--tap", "tx")
    if record["backend"]["name"] == "tracepoint":
        assert "What the packet capture copied was not measured" in records.sentence_of(record)
        assert "packet capture" in record["sites"]["late_copy"]["why"]


def test_without_scatter_gather_nothing_is_claimed_that_no_tracepoint_sees():
    record = made("veth", "--no-sg")
    assert not record["experiment"]["path"]["scatter_gather"] and not record["experiment"]["path"]["tso"]
    assert records.site(record, "tx_copy") == 0, "user pages moved later were not copied in send"
    assert records.site(record, "tx_reference") == PRIME_PAYLOAD
    if record["backend"]["name"] == "tracepoint":
        assert "was not measured" in records.sentence_of(record)
        law = records.law(record, "reference")
        assert law["status"] == "not testable" and law["why"]


def test_lo_that_cannot_do_without_scatter_gather_is_told_before_the_run():
    before = leftovers.interfaces()
    done = records.run("A3", 64, 1, "--path", "lo", "--no-sg")
    assert done.code == USAGE and done.out == ""
    line, = done.err.splitlines()
    assert "--no-sg" in line and "--path veth" in line
    assert leftovers.interfaces() == before


def test_lost_packets_are_sent_again_or_netem_is_missing_by_name():
    done = records.run("A3", 65536, 1, "--messages", 200, "--netem", "loss 3%", "--json", "-")
    if done.code == REFUSED:
        line, = done.err.splitlines()
        assert "sch_netem" in line and "--kernel" in line
        pytest.skip("this kernel has no sch_netem")
    assert done.code in records.WELL, done.err
    assert records.unseen(done.record) or done.record["counts"]["retrans_referenced_bytes"] > 0


def test_the_nic_that_carries_this_machine_is_not_borrowed():
    route = subprocess.run(["ip", "route", "show", "default"], capture_output=True, text=True,
                           check=True).stdout.split()
    if "dev" not in route:
        pytest.skip("this machine has no default route")
    name = route[route.index("dev") + 1]
    done = records.run("A3", 64, 1, "--path", "nic", "--devices", f"{name},nosuch0")
    assert done.code == USAGE and len(done.err.splitlines()) == 1
    assert name in leftovers.interfaces()
