# SPDX-License-Identifier: GPL-2.0
"""Two hosts make one run: their halves are joined, strangers are refused, a lost partner is told."""
from __future__ import annotations

import os
import random
import signal
import socket
import time
from contextlib import suppress

import pytest

from helpers import leftovers, peers, processes, records
from helpers.books import (PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD, TRACEPOINT_NOT_TESTABLE,
                           check_books)

pytestmark = records.needs_root

PRIME = (PRIME_BYTES, 2, "--messages", PRIME_MESSAGES)
PLAN = {"type": "plan", "variant": "A3", "pattern": "stream", "receiver": "recv", "bytes": 4093,
        "threads": 2, "messages": 23, "seconds": 2.0, "readers": 0, "port": 9000,
        "no_probes": False, "role": "receiver"}
# Written by whoever keeps the record; all else is the same on both hosts.
OWN = {"id", "started", "command"}
KILLS = 12


@pytest.fixture(scope="module", name="hosts")
def fixture_hosts():
    """Two namespaces of this machine."""
    with peers.two_hosts() as pair:
        yield pair


def check(done: records.Run) -> dict:
    """The record of a run that ended well, with its books in order."""
    assert done.code == 0, done.err + records.broken_text(done.out)
    record = done.record
    tracepoint = record["backend"]["name"] == "tracepoint"
    check_books(record, PRIME_MESSAGES, TRACEPOINT_NOT_TESTABLE if tracepoint else frozenset())
    return record


@pytest.mark.parametrize("pattern", ["stream", "rr"])
@pytest.mark.parametrize("variant", ["A1", "A2", "A3"])
def test_23_messages_of_4093_bytes_are_94139_over_both_ends(hosts, variant, pattern):
    left, right = peers.run_pair(hosts, variant, *PRIME, "--pattern", pattern)
    record = check(right)
    assert records.site(record, "rx_copy") == PRIME_PAYLOAD * (2 if pattern == "rr" else 1)
    assert records.law(record, "end to end")["status"] == "balanced"
    assert {each["host"] for each in record["sockets"]} == {"sender", "receiver"}
    assert all(each["host"] == each["end"] for each in record["sockets"])
    assert len(record["sockets"]) == 4
    other = check(left)
    assert {key: value for key, value in record.items() if key not in OWN} == \
        {key: value for key, value in other.items() if key not in OWN}


def test_the_record_names_both_hosts_and_their_devices(hosts):
    _, right = peers.run_pair(hosts, "A3", *PRIME)
    record = check(right)
    assert record["path"]["kind"] == "peer"
    assert (record["path"]["tx_dev"], record["path"]["rx_dev"]) == ("tx0", "rx0")
    assert record["path"]["mtu"] == record["peer"]["path"]["mtu"] == 1500
    assert record["peer"]["machine"]["kernel"] == os.uname().release
    assert record["peer"]["backend"]["probes"] and record["peer"]["overhead"]["events"]
    assert record["counters"]["receiver"]["context-switches"]["value"] is not None
    sender, = {each["local"] for each in record["sockets"] if each["end"] == "sender"}
    assert sender == f"{hosts[0].address}:9000"


def test_the_connecting_host_may_be_the_sender(hosts):
    left, right = peers.run_pair(hosts, "A3", *PRIME, "--role", "sender", "--port", 9123)
    record = check(right)
    sender, = {each["local"] for each in record["sockets"] if each["end"] == "sender"}
    assert sender == f"{hosts[1].address}:9123"
    assert record["path"]["tx_dev"] == "rx0"
    check(left)


def test_a_probe_left_off_on_one_host_is_missed_in_the_joined_laws(hosts):
    _, right = peers.run_pair(hosts, "A3", *PRIME, listening=("--break", "detach:accepted"))
    assert right.code in (0, 1)
    assert records.law(right.record, "end to end")["status"] == "not testable"
    _, right = peers.run_pair(hosts, "A3", *PRIME, connecting=("--break", "detach:rx_copy"))
    assert records.how(right.record, "rx_copy") == "not_measured"
    assert "receiver's host" in right.record["sites"]["rx_copy"]["why"]


def test_a_lost_update_on_either_host_breaks_the_run_on_both(hosts):
    left, right = peers.run_pair(hosts, "A1", *PRIME, connecting=("--break", "lose-update"))
    assert (left.code, right.code) == (1, 1)
    assert records.laws_with(left.record, "broken") == records.laws_with(right.record, "broken")
    assert "receive" in records.laws_with(left.record, "broken")


# Strangers

def hello(connection) -> dict:
    """Learns the version of a listener, as any partner could."""
    connection.sendall(peers.frame({"type": "hello", "protocol": 0}))
    return peers.receive(connection)


GARBAGE = {
    "nothing": b"",
    "an HTTP request": b"GET / HTTP/1.1\r\nHost: here\r\n\r\n",
    "a length of 4 GiB": b"\xff\xff\xff\xff" + b"x" * 100,
    "a length of 0": b"\0\0\0\0",
    "a length above the limit": peers.frame(b"[" * 5000),
    "no JSON": peers.frame(b"hello, world"),
    "JSON of another kind": peers.frame([1, 2, 3]),
    "deep JSON": peers.frame(b"[" * 4000),
    "half a frame": b"\0\0\1\0{",
    "text for a terminal": peers.frame({"type": "hello", "protocol": 1, "commit": "\x1b[2J"}),
    "a plan without hello": peers.frame(PLAN),
}
BAD_PLANS = {
    "another variant": {"variant": "A9"}, "a path": {"variant": "/bin/sh"},
    "a command": {"receiver": "recv; reboot"}, "a long name": {"pattern": "x" * 1000},
    "negative bytes": {"bytes": -1}, "too many bytes": {"bytes": 1 << 40},
    "no thread": {"threads": 0}, "2^32 threads": {"threads": 1 << 32},
    "negative messages": {"messages": -5}, "no end": {"messages": 0, "seconds": 0.0},
    "a port that is none": {"port": 70000}, "a role that is none": {"role": "root"},
    "text for a number": {"bytes": "4093"}, "drain of replies": {"receiver": "drain"},
}


@pytest.fixture(name="listener")
def fixture_listener(hosts):
    """A host that waits; afterwards a true partner must still find it."""
    process = peers.listen(hosts[0], "--json", "-")
    try:
        yield process
        right = hosts[1].start("A1", *PRIME, "--connect", hosts[0].address, "--json", "-")
        check(records.finish(right))
        check(records.finish(process))
    finally:
        process.kill()
        process.communicate()


def refused(listener) -> str:
    """The one line about a stranger."""
    line = listener.stderr.readline()
    assert line.startswith("trace_run: refused ") and line.endswith("still waiting\n"), line
    assert len(line) < 400 and line[:-1].isprintable()
    return line


def test_garbage_is_refused_and_the_listener_goes_on_waiting(hosts, listener):
    for name, said in GARBAGE.items():
        with peers.call(hosts[1], hosts[0].address) as connection:
            connection.sendall(said)
            with suppress(OSError):
                # It may have hung up already.
                connection.shutdown(socket.SHUT_WR)
            assert peers.receive(connection) is None, f"{name} was answered"
        assert hosts[1].address in refused(listener), name


def test_a_stranger_that_says_nothing_is_dropped(hosts, listener):
    with peers.call(hosts[1], hosts[0].address):
        assert "in time" in refused(listener)


def test_a_partner_of_another_version_is_told_so(hosts, listener):
    for change in {"protocol": 2}, {"version": "9"}, {"commit": "f00"}:
        with peers.call(hosts[1], hosts[0].address) as connection:
            ours = hello(connection)
        assert "another build" in refused(listener)
        with peers.call(hosts[1], hosts[0].address) as connection:
            connection.sendall(peers.frame({**ours, **change}))
            assert peers.receive(connection)["commit"] == ours["commit"]
            assert peers.receive(connection) is None
        assert "install the same on both hosts" in refused(listener)


def test_plans_that_make_no_sense_are_refused(hosts, listener):
    with peers.call(hosts[1], hosts[0].address) as connection:
        ours = hello(connection)
    refused(listener)
    for name, change in BAD_PLANS.items():
        with peers.call(hosts[1], hosts[0].address) as connection:
            connection.sendall(peers.frame(ours))
            assert peers.receive(connection) == ours
            connection.sendall(peers.frame({**PLAN, **change}))
            assert peers.receive(connection) is None, f"{name} was accepted"
        refused(listener)


def connect_to(hosts, answer: list[bytes]) -> records.Run:
    """What a connecting trace_run makes of a listener that says these words."""
    with hosts[0].socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind((hosts[0].address, peers.CONTROL_PORT))
        door.listen()
        process = hosts[1].start("A3", *PRIME, "--connect", hosts[0].address)
        connection, _ = door.accept()
        with connection:
            ours = peers.receive(connection)
            for word in answer:
                connection.sendall(word(ours))
            connection.shutdown(socket.SHUT_WR)
            return records.finish(process)


@pytest.mark.parametrize("answer, said", [
    ([], "it left again"),
    ([lambda ours: b"SSH-2.0-OpenSSH_9.2\r\n"], "no word of trace_run"),
    ([lambda ours: peers.frame({**ours, "commit": "f00"})], "another build"),
    ([peers.frame, lambda ours: peers.frame({"type": "go"})], "no word of trace_run"),
    ([peers.frame, lambda ours: peers.frame({"type": "accept"})], "before the run"),
])
def test_a_listener_that_is_none_is_told_in_one_line(hosts, answer, said):
    done = connect_to(hosts, answer)
    assert done.code == 3 and not done.out
    line, = done.err.splitlines()
    assert said in line


def test_nobody_there_is_told_in_one_line(hosts):
    done = records.finish(hosts[1].start("A3", *PRIME, "--connect", f"{hosts[0].address}:9"))
    assert done.code == 3
    line, = done.err.splitlines()
    assert "Connection refused" in line and "--listen" in line


def test_a_listener_stays_on_the_address_that_was_given(hosts):
    process = hosts[0].start("--listen")
    try:
        assert process.stderr.readline().endswith("127.0.0.1:9009\n")
        with pytest.raises(ConnectionRefusedError):
            peers.call(hosts[1], hosts[0].address)
    finally:
        process.kill()
        process.communicate()


def test_whoever_reads_the_port_is_nobody(hosts):
    process = peers.listen(hosts[0])
    try:
        doorman, = processes.started_by_tries(process.pid)
        status = open(f"/proc/{doorman}/status", encoding="ascii").read()
        assert "CapPrm:\t0000000000000000" in status
        assert "Uid:\t65534\t65534\t65534\t65534" in status
    finally:
        process.kill()
        process.communicate()


# However it ends

class Before:
    """BPF objects and processes, to compare with."""

    def __init__(self):
        self.bpf = leftovers.bpf_objects()
        processes.become_subreaper(True)
        self.children = set(processes.children(os.getpid()))

    def check(self, hint=""):
        """Nothing may be left after a moment."""
        def gone():
            alive = processes.reap_orphans(self.children)
            return not alive and not leftovers.bpf_objects() - self.bpf - \
                leftovers.bpf_objects_held()
        try:
            processes.wait_until(gone, 5)
        except AssertionError as error:
            raise AssertionError(f"{hint}: something is left") from error
        finally:
            processes.become_subreaper(False)


def test_a_partner_killed_at_any_moment_ends_the_other_with_one_line(hosts):
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    for number in range(KILLS):
        before = Before()
        listener = peers.listen(hosts[0], "--json", "-")
        connector = hosts[1].start("A3", 65536, 2, "--seconds", 5, "--connect", hosts[0].address,
                                   "--json", "-")
        # The plan has been heard: from now on the listener waits for no one else.
        assert "asks for A3" in listener.stderr.readline()
        moment_s = dice.uniform(0, 1)
        hint = f"random.Random({seed}), {number}, after {moment_s:.2f} s"
        time.sleep(moment_s)
        victim, other = (listener, connector) if number % 2 else (connector, listener)
        victim.kill()
        victim.communicate()
        done = records.finish(other, 30)
        assert done.code in (1, 3) and not done.out, f"{hint}: {done}"
        assert "the partner at" in done.err.splitlines()[-1], f"{hint}: {done.err}"
        before.check(hint)


@pytest.mark.parametrize("pattern", ["stream", "rr"])
@pytest.mark.parametrize("who", ["listener", "connector"])
def test_an_interrupt_on_either_host_ends_the_run_in_order_on_both(hosts, who, pattern):
    before = Before()
    pair = {"listener": peers.listen(hosts[0], "--json", "-")}
    pair["connector"] = hosts[1].start("A3", 65536, 2, "--seconds", 30, "--pattern", pattern,
                                       "--connect", hosts[0].address, "--json", "-")
    processes.wait_until(lambda: any(
        len(os.listdir(f"/proc/{pid}/task")) > 1
        for pid in processes.started_by_tries(pair["listener"].pid)))
    time.sleep(0.5)
    pair[who].send_signal(signal.SIGINT)
    for name, process in pair.items():
        done = records.finish(process, 20)
        assert done.code == 0, f"{name}: {done.err}"
        assert records.site(done.record, "rx_copy") > 0
        assert not records.laws_with(done.record, "broken")
    before.check()


def test_an_interrupt_ends_a_listener_that_waits(hosts):
    before = Before()
    process = peers.listen(hosts[0])
    process.send_signal(signal.SIGTERM)
    assert records.finish(process, 5).code == -signal.SIGTERM
    before.check()
