# SPDX-License-Identifier: GPL-2.0
"""Two hosts make one run: their halves are joined, and a lost partner is told."""
from __future__ import annotations

import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from copyscope.records.check import check as check_as_readers
from helpers import leftovers, peers, processes, records
from helpers.books import (
    PRIME_BYTES,
    PRIME_MESSAGES,
    PRIME_PAYLOAD,
    TRACEPOINT_NOT_TESTABLE,
    check_books,
)

pytestmark = records.needs_root

PRIME = (PRIME_BYTES, 2, "--messages", PRIME_MESSAGES)
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
    assert done.code in records.WELL, done.err + records.broken_text(done.out)
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
    check_as_readers(record, "record.json")
    assert record["path"]["kind"] == "peer"
    assert (record["path"]["tx_dev"], record["path"]["rx_dev"]) == ("tx0", "rx0")
    assert record["path"]["mtu"] == record["peer"]["path"]["mtu"] == 1500
    assert record["peer"]["machine"]["kernel"] == os.uname().release
    assert record["peer"]["backend"]["probes"] and record["peer"]["overhead"]["events"] is None
    assert "--cost" in record["peer"]["overhead"]["why"]
    assert record["counters"]["receiver"]["context-switches"]["value"] is not None
    assert record["passes"]["timed"] is None and "two hosts" in record["passes"]["why"]
    assert record["timing"]["pass"] == "counted" and not record["timing"]["comparable"]
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
    assert right.code in (*records.WELL, 1)
    assert records.law(right.record, "end to end")["status"] == "not testable"
    _, right = peers.run_pair(hosts, "A3", *PRIME, connecting=("--break", "detach:rx_copy"))
    assert records.how(right.record, "rx_copy") == "not_measured"
    assert "receiver's host" in right.record["sites"]["rx_copy"]["why"]


def test_a_lost_update_on_either_host_breaks_the_run_on_both(hosts):
    left, right = peers.run_pair(hosts, "A1", *PRIME, connecting=("--break", "lose-update"))
    assert (left.code, right.code) == (1, 1)
    assert records.laws_with(left.record, "broken") == records.laws_with(right.record, "broken")
    assert "receive" in records.laws_with(left.record, "broken")


# Who may come

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


def test_whoever_reads_the_port_has_no_power(hosts):
    process = peers.listen(hosts[0])
    try:
        acceptor, = processes.named(process.pid, "unpriv_accept")
        status = Path(f"/proc/{acceptor}/status").read_text(encoding="ascii")
        assert "CapPrm:\t0000000000000000" in status and "CapBnd:\t0000000000000000" in status
        assert "\t".join(["Uid:", *[str(processes.confined_user())] * 4]) in status
        assert "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status
        # Messages, the way to its parent, the port: no record, no probe.
        held = [os.readlink(file) for file in Path(f"/proc/{acceptor}/fd").iterdir()]
        assert len(held) == 3 and sum(each.startswith("socket:") for each in held) == 2, held
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
        assert done.code in (1, 3) and bool(done.out) == (done.code == 1), f"{hint}: {done}"
        assert "the partner at" in done.err, f"{hint}: {done.err}"
        if done.out:
            outcome = done.record["outcome"]
            assert outcome["status"] == "failed", f"{hint}: {outcome}"
            assert "the partner was lost" in outcome["reason"], f"{hint}: {outcome}"
            assert "no verdict" in done.record["verdict"]["sentence"]
            assert not records.laws_with(done.record, "balanced")
            assert done.record["peer"]["lost"] == "the partner was lost", hint
            assert {each["host"] for each in done.record["sockets"]} <= {
                "receiver" if victim is listener else "sender"}
        before.check(hint)


@pytest.mark.parametrize("pattern", ["stream", "rr"])
@pytest.mark.parametrize("who", ["listener", "connector"])
def test_an_interrupt_on_either_host_ends_the_run_in_order_on_both(hosts, who, pattern):
    before = Before()
    pair = {"listener": peers.listen(hosts[0], "--json", "-")}
    pair["connector"] = hosts[1].start("A3", 65536, 2, "--seconds", 30, "--pattern", pattern,
                                       "--connect", hosts[0].address, "--json", "-")
    processes.wait_until(lambda: any(
        len(processes.threads(pid)) > 1
        for pid in processes.started_by_tries(pair["listener"].pid)))
    time.sleep(0.5)
    pair[who].send_signal(signal.SIGINT)
    for name, process in pair.items():
        done = records.finish(process, 20)
        assert done.code == 128 + signal.SIGINT, f"{name}: {done.err}"
        assert records.site(done.record, "rx_copy") > 0
        assert not records.laws_with(done.record, "broken")
    before.check()


@pytest.mark.parametrize("who", ["listener", "connector"])
def test_a_signal_ends_a_run_in_2_s_whatever_the_partner_does(hosts, who):
    before = Before()
    pair = {"listener": peers.listen(hosts[0], "--json", "-")}
    pair["connector"] = hosts[1].start("A3", 65536, 2, "--seconds", 30, "--connect",
                                       hosts[0].address, "--json", "-")
    partner, = (name for name in pair if name != who)
    stopped = set()
    try:
        processes.wait_until(lambda: all(
            any(len(processes.threads(pid)) > 1 for pid in processes.started_by_tries(each.pid))
            for each in pair.values()))
        stopped = processes.stop_below(pair[partner].pid)
        began = time.monotonic()
        pair[who].send_signal(signal.SIGINT)
        done = records.finish(pair[who], 20)
        took_s = time.monotonic() - began
    finally:
        for process in pair.values():
            process.kill()
        # Who puts things back outlives the run.
        for pid in stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        pair[partner].communicate()
    # Programs take their time to start and end besides.
    assert took_s < 4 and done.code == 128 + signal.SIGINT, done.err
    record = done.record
    assert record["outcome"]["status"] == "interrupted"
    assert "nothing came from the host of the" in record["outcome"]["reason"]
    here, there = (("tx_copy", "rx_copy") if who == "listener" else ("rx_copy", "tx_copy"))
    assert records.how(record, here) != "not_measured"
    assert records.how(record, there) == records.how(record, "late_copy") == "not_measured"
    assert not records.laws_with(record, "balanced") and not records.laws_with(record, "broken")
    assert record["peer"] == {"end": "receiver" if who == "listener" else "sender",
                              "partner_authenticated": True,
                              "lost": "the partner's half did not come in time"}
    assert record["path"]["rx_dev" if who == "listener" else "tx_dev"] is None
    check_as_readers(record, "record.json")
    # A record without its peer, or with unknown devices beside a whole one, is none.
    assert not records.accepted({**record, "peer": {"end": "sender"}})
    assert not records.accepted({key: each for key, each in record.items() if key != "peer"})
    assert not records.accepted({**record, "outcome": {**record["outcome"], "status": "blind"}})
    before.check()


def test_a_signal_ends_the_wait_for_a_partner_that_is_never_ready(hosts):
    before = Before()
    listener = peers.listen(hosts[0], "--json", "-")
    connector = hosts[1].start("A3", 65536, 2, "--seconds", 30, "--connect", hosts[0].address)
    stopped = set()
    try:
        assert "asks for A3" in listener.stderr.readline()
        stopped = processes.stop_below(connector.pid)
        processes.wait_until(lambda: processes.workload_pids(listener.pid))
        began = time.monotonic()
        listener.send_signal(signal.SIGTERM)
        done = records.finish(listener, 20)
        took_s = time.monotonic() - began
    finally:
        for process in (listener, connector):
            process.kill()
        for pid in stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        connector.communicate()
    assert took_s < 4 and done.code == 128 + signal.SIGTERM, done.err
    assert done.record["outcome"]["reason"] == "signal 15 (SIGTERM) ended it before it began"
    assert done.record["peer"]["lost"] == "the run was interrupted before it began"
    before.check()


@pytest.mark.parametrize("end", ["server", "client"])
def test_both_hosts_say_which_end_was_killed(hosts, end):
    before = Before()
    pair = {"server": peers.listen(hosts[0], "--json", "-")}
    pair["client"] = hosts[1].start("A2", 65536, 2, "--seconds", 30, "--connect", hosts[0].address,
                                    "--json", "-")
    pid = processes.wait_until(lambda: processes.workload_pids(pair[end].pid).get(end))
    processes.wait_until(lambda: len(processes.threads(pid)) > 1)
    os.kill(pid, signal.SIGKILL)
    for name, process in pair.items():
        done = records.finish(process, 30)
        outcome = done.record["outcome"]
        assert done.code == 1 and outcome["status"] == "failed", f"{name}: {done.err}"
        assert f"the {end} was killed by signal 9 (SIGKILL)" in outcome["reason"]
        assert done.record["verdict"]["sentence"].startswith("The run failed: ")
        assert not records.laws_with(done.record, "broken")
    before.check()


def test_an_interrupt_ends_a_listener_that_waits(hosts):
    before = Before()
    process = peers.listen(hosts[0])
    process.send_signal(signal.SIGTERM)
    assert records.finish(process, 5).code == -signal.SIGTERM
    before.check()
