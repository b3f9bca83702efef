# SPDX-License-Identifier: GPL-2.0
"""The facts that need a running workload are found out on this kernel."""
from __future__ import annotations

import json
import subprocess
import sys

import pytest

from copyscope_studies.facts import of_ports
from helpers import records
from helpers.records import ROOT

pytestmark = records.needs_root


def asked(*subjects):
    """The facts of some subjects."""
    words = [word for each in subjects for word in ("--only", each)]
    done = subprocess.run([ROOT / "tools/facts", *words, "--json", "-"], capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return {(each["name"], each["of"]): each for each in json.loads(done.stdout)["facts"]}


@pytest.fixture(name="facts", scope="module")
def fixture_facts():
    """All facts but the million connections and the waits."""
    return asked("layout", "fields", "packets", "locks")


def test_fields_lie_apart(facts):
    assert [facts["fields-apart", size]["number"] for size in ("64", "512", "4096", "65536")] == [7] * 4


def test_of_a_zero_copy_packet_headers_alone_are_linear(facts):
    # Ethernet, IP, TCP with or without time stamps.
    assert {facts["linear", of]["number"] for of in ("least", "most")} <= {54, 66}


def test_waits_for_locks_are_counted(facts):
    kinds = {of: each["number"] for (name, of), each in facts.items() if name == "send-lock-waits"}
    assert set(kinds) == {"socket", "write-queue", "global", "other"} and None not in kinds.values()
    # No function of TCP takes that lock.
    assert kinds["write-queue"] == 0


def test_senders_that_share_a_socket_wait_for_its_lock_and_one_alone_never():
    """On a processor that others keep busy, eight senders may take turns for two seconds: asked again then."""
    for _ in range(3):
        told = asked("shared")
        waits = {key: each["number"] for key, each in told.items()}
        assert len(waits) == 6 and None not in waits.values(), told
        assert waits["shared-send-waits", "1"] == waits["shared-receive-waits", "1"] == 0, told
        if waits["shared-send-waits", "8"]:
            return
    raise AssertionError(told)


def test_a_way_that_sends_eight_times_calls_eight_times():
    """All ways take half a minute: two of them, and a prime number of messages."""
    code = ("import sys; sys.path[:0] = ['tools/lib', 'studies/lib']; from copyscope_studies.facts import of_calls; "
            "of_calls.reach_tracefs(); of_calls.CALLS_OF = 4093; "
            "print(*(of_calls.calls_of(way) for way in of_calls.WAYS if (way.end, way.name) in "
            "(('send', 'A1-plain'), ('send', 'A1-8send'))))")
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 0, done.stderr
    plain, eight = map(int, done.stdout.split())
    # Fewer calls than messages start and end the process.
    assert (plain // 4093, eight // 4093) == (1, 8)


def test_connections_in_a_row_are_made_in_a_network_of_their_own():
    code = ("import sys; sys.path[:0] = ['tools/lib', 'studies/lib']; from copyscope_studies.facts import of_ports; "
            "print(of_ports.count(300, lambda text: None))")
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.stdout == "(300, '')\n", done.stderr


def test_each_close_is_acknowledged():
    code = ("import sys; sys.path[:0] = ['tools/lib', 'studies/lib']; from copyscope_studies.facts import of_ports; "
            "of_ports.private_network(); print(of_ports.closes())")
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.stdout == f"{of_ports.CLOSED}\n", done.stderr


def test_connections_fail_once_each_local_port_was_taken():
    """The server has one of ten. A port is not taken again within a second, not even over loopback."""
    code = ("import sys; sys.path[:0] = ['tools/lib', 'studies/lib']; from copyscope_studies.facts import of_ports; "
            "whole = of_ports.private_network; "
            "of_ports.private_network = lambda: (whole(), of_ports.RANGE.write_text('40000 40009')); "
            "print(of_ports.count(15, lambda text: None), of_ports.local_ports(of_ports.RANGE.read_text()))")
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.stdout == "(9, 'Cannot assign requested address') 10\n", done.stderr
