# SPDX-License-Identifier: GPL-2.0
"""Whoever is no partner is refused with a line, delays no one, and fills no log."""
from __future__ import annotations

import re
import socket
import subprocess
import time
from contextlib import ExitStack, suppress

import pytest

from helpers import hostile_peer, peers, records
from helpers.hostile_peer import Conversation, Gone, greeting

pytestmark = records.needs_root

GOOD = ("A1", 4093, 2, "--messages", 23)
BAD_PLANS = {
    "another variant": {"variant": "A9"}, "a path": {"variant": "/bin/sh"},
    "a command": {"receiver": "recv; reboot"}, "a long name": {"pattern": "x" * 1000},
    "negative bytes": {"bytes": -1}, "too many bytes": {"bytes": 1 << 40},
    "no thread": {"threads": 0}, "2^32 threads": {"threads": 1 << 32},
    "negative messages": {"messages": -5}, "no end": {"messages": 0, "seconds": 0.0},
    "a port that is none": {"port": 70000}, "a role that is none": {"role": "root"},
    "text for a number": {"bytes": "4093"}, "drain of replies": {"receiver": "drain"},
}
GREEDY_PLANS = {
    "--max-bytes": {"bytes": 2 << 20}, "--max-connections": {"threads": 65},
    "--max-seconds": {"messages": 0, "seconds": 61.0},
}


@pytest.fixture(scope="module", name="hosts")
def fixture_hosts():
    """Two namespaces of this machine."""
    with peers.two_hosts() as pair:
        yield pair


@pytest.fixture(name="listener")
def fixture_listener(hosts):
    """A host that waits; afterwards a true partner must still find it."""
    process = peers.listen(hosts[0], "--json", "-")
    try:
        yield process
        right = hosts[1].start(*GOOD, "--connect", hosts[0].address, "--json", "-")
        assert records.finish(right).code in records.WELL
        assert records.finish(process).code in records.WELL
    finally:
        process.kill()
        process.communicate()


def call(hosts) -> socket.socket:
    """A stranger's connection."""
    return peers.call(hosts[1], hosts[0].address)


def converse(hosts, key: bytes | None = None) -> Conversation:
    """A conversation with the listener, with the right key unless another is given."""
    return Conversation(call(hosts), hosts[0].key if key is None else key)


def hung_up(connection: socket.socket) -> bool:
    """True once the other side has closed without a further word."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def refused(listener, count: int = 1) -> list[str]:
    """The lines about so many strangers; of some no more is told than how many they were."""
    told, lines = 0, []
    while told < count:
        line = listener.stderr.readline()
        assert line.startswith("trace_run: refused ") and line.endswith("still waiting\n"), line
        assert len(line) < 400 and line[:-1].isprintable()
        more = re.match(r"trace_run: refused (\d+) more;", line)
        told += int(more[1]) if more else 1
        lines.append(line)
    assert told == count
    return lines


GARBAGE = {
    "nothing": b"", "an HTTP request": b"GET / HTTP/1.1\r\nHost: here\r\n\r\n" * 3,
    "zeros": bytes(5000), "an earlier protocol": b"\0\0\0\x20" + b'{"type": "hello"}' * 9,
    "half a greeting": greeting(True)[:20], "a terminal's escape": b"\x1b[2J" * 20,
}


def test_garbage_is_refused_and_the_listener_goes_on_waiting(hosts, listener):
    for name, said in GARBAGE.items():
        with call(hosts) as connection:
            connection.sendall(said)
            with suppress(OSError):
                # It may have hung up already.
                connection.shutdown(socket.SHUT_WR)
            assert hung_up(connection), f"{name} was answered"
    assert hosts[1].address in refused(listener, len(GARBAGE))[0]


def test_frames_that_are_none_are_refused_from_one_who_has_the_key(hosts, listener):
    hello = hostile_peer.learn_hello(call(hosts), hosts[0].key)
    kinds = ["cut frame", "long frame", "wrong mark", "unknown word", "word out of order",
             "JSON that is none", "deep JSON"]
    for seed, name in enumerate(kinds * 3):
        attack = hostile_peer.Attack(name, seed)
        assert hostile_peer.commit_attack(attack, call(hosts), hosts[0].key, hello) == "", attack
    refused(listener, 1 + 3 * len(kinds))


def test_generated_attacks_are_all_refused(hosts, listener):
    hello = hostile_peer.learn_hello(call(hosts), hosts[0].key)
    for attack in hostile_peer.attacks(seed=1, count=60):
        said = hostile_peer.commit_attack(attack, call(hosts), hosts[0].key, hello)
        assert said in ("", "refuse"), attack
    refused(listener, 61)


def test_a_partner_of_another_version_is_told_so(hosts, listener):
    ours = hostile_peer.learn_hello(call(hosts), hosts[0].key)
    refused(listener)
    for change in {"version": "9"}, {"commit": "f00"}:
        with converse(hosts) as peer:
            assert peer.open()
            peer.say("hello", {**ours, **change})
            assert peer.hear()[0] == "hello" and hung_up(peer.connection)
        assert "install the same on both hosts" in refused(listener)[0]
    with call(hosts) as connection:
        connection.sendall(greeting(True, protocol=9))
        # It is told what is spoken here.
        assert connection.recv(100)[:15] == hostile_peer.MAGIC + b"\2" and hung_up(connection)
    assert "another build" in refused(listener)[0]


def test_plans_that_make_no_sense_or_ask_for_too_much_are_refused_with_the_reason(hosts, listener):
    hello = hostile_peer.learn_hello(call(hosts), hosts[0].key)
    for name, change in {**BAD_PLANS, **GREEDY_PLANS}.items():
        with converse(hosts) as peer:
            assert peer.open()
            word, why = peer.ask_for_plan(hello, change)
        assert word == "refuse" and why.decode().isprintable(), f"{name} was accepted"
        assert not name.startswith("--") or name.encode() in why
    refused(listener, 1 + len(BAD_PLANS) + len(GREEDY_PLANS))


def test_limits_are_what_the_listeners_user_sets_and_both_are_told(hosts):
    listener = peers.listen(hosts[0], "--max-bytes", 64, "--max-connections", 1, "--max-seconds", 1)
    try:
        for words, limit in (("A1", 65, 1), "--max-bytes"), (("A1", 64, 2), "--max-connections"), \
                (("A1", 64, 1, "--seconds", "1.5"), "--max-seconds"):
            done = records.finish(hosts[1].start(*words, "--connect", hosts[0].address))
            line, = done.err.splitlines()
            assert done.code == 3 and "it refuses" in line and limit in line
            assert limit in refused(listener)[0]
    finally:
        listener.kill()
        listener.communicate()


def test_a_run_of_many_messages_ends_when_the_listeners_seconds_are_over(hosts):
    listener = peers.listen(hosts[0], "--max-seconds", 1)
    connector = hosts[1].start("A1", 4096, 1, "--messages", "1000000M", "--connect",
                               hosts[0].address)
    began = time.monotonic()
    for process in listener, connector:
        done = records.finish(process, 20)
        assert done.code == 1 and "--max-seconds" in done.err, done
    assert time.monotonic() - began < 10


def test_memory_that_is_not_there_is_not_promised(hosts):
    listener = peers.listen(hosts[0], "--max-bytes", "64M", "--max-connections", 1024)
    try:
        done = records.finish(hosts[1].start("A3", "64M", 1024, "--connect", hosts[0].address))
        assert done.code == 3 and "MiB" in done.err and len(done.err.splitlines()) == 1
    finally:
        listener.kill()
        listener.communicate()


def test_fifty_silent_strangers_and_one_who_trickles_delay_no_honest_partner(hosts):
    listener = peers.listen(hosts[0], "--json", "-")
    with ExitStack() as held:
        strangers = [held.enter_context(call(hosts)) for _ in range(50)]
        drips = iter(greeting(True))
        right = hosts[1].start(*GOOD, "--connect", hosts[0].address, "--json", "-")
        began = time.monotonic()
        line = listener.stderr.readline()
        while "asks for" not in line:
            with suppress(OSError):
                strangers[-1].sendall(bytes([next(drips)]))
            line = listener.stderr.readline()
        assert time.monotonic() - began < 3
        assert records.finish(right).code in records.WELL
        assert records.finish(listener).code in records.WELL


def come_first(host, address: str, to: tuple[str, int]) -> socket.socket:
    """A connection from that address of a host, made as soon as someone listens."""
    give_up = time.monotonic() + 30
    while time.monotonic() < give_up:
        stranger = host.socket()
        stranger.bind((address, 0))
        stranger.settimeout(10)
        try:
            stranger.connect(to)
            return stranger
        except ConnectionRefusedError:
            stranger.close()
            time.sleep(0.001)
    raise AssertionError("no one listened")


@pytest.mark.parametrize("pattern", ["stream", "rr"])
def test_a_stranger_who_comes_first_to_the_workloads_port_takes_no_place(hosts, pattern):
    subprocess.run(hosts[1].inside("ip", "address", "replace", "10.77.0.3/24", "dev", "rx0"),
                   check=True)
    listener = peers.listen(hosts[0], "--json", "-")
    right = hosts[1].start(*GOOD, "--pattern", pattern, "--port", 9700, "--connect",
                           hosts[0].address, "--json", "-")
    try:
        with come_first(hosts[1], "10.77.0.3", (hosts[0].address, 9700)) as stranger:
            with suppress(OSError):
                stranger.sendall(bytes(1 << 20))
            ends = records.finish(right), records.finish(listener)
            with suppress(OSError):  # reset: what it had sent was never read
                assert stranger.recv(1) == b""
    finally:
        for process in right, listener:
            process.kill()
            process.communicate()
    for done in ends:
        assert done.code in records.WELL, done.err
        assert done.record["outcome"]["status"] == "complete"
        assert records.site(done.record, "rx_copy") == 23 * 4093 * (2 if pattern == "rr" else 1)


def test_a_silent_stranger_is_dropped_in_time(hosts, listener):
    with call(hosts) as connection:
        began = time.monotonic()
        assert hung_up(connection) and 3 < time.monotonic() - began < 8
    assert "in time" in refused(listener)[0]


def test_refusals_are_told_four_at_once_and_then_one_a_second(hosts, listener):
    began = time.monotonic()
    for _ in range(200):
        with call(hosts) as connection:
            connection.sendall(bytes(100))
            assert hung_up(connection)
    lines = refused(listener, 200)
    assert len(lines) <= 4 + 1 + (time.monotonic() - began)


# Listeners that are none

def connect_to(hosts, answer) -> records.Run:
    """What a connecting trace_run makes of a listener that answers so."""
    with hosts[0].socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((hosts[0].address, peers.CONTROL_PORT))
        listening.listen()
        process = hosts[1].start("A3", 4093, 2, "--connect", hosts[0].address)
        connection, _ = listening.accept()
        connection.settimeout(10)
        # One that has heard enough hangs up, maybe before we do.
        with Conversation(connection, hosts[0].key, "listener") as peer, suppress(Gone, OSError):
            answer(peer)
            connection.shutdown(socket.SHUT_WR)
        return records.finish(process)


def open_and(*steps):
    """Prove the key, then do each step."""
    def answer(peer):
        assert peer.open()
        for step in steps:
            step(peer)
    return answer


def echo_hello(peer):
    """Say hello as a host of the same build would."""
    peer.say("hello", peer.hear()[1])


@pytest.mark.parametrize("answer, said", [
    (lambda peer: None, "it left again"),
    (lambda peer: peer.send(b"SSH-2.0-OpenSSH_9.2\r\n" * 9), "it sent what trace_run never sends"),
    (lambda peer: peer.send(greeting(True, protocol=7) + bytes(99)), "another build"),
    (lambda peer: (peer.take(len(peer.mine)), peer.send(peer.said or peer.heard)), "sends back"),
    (open_and(lambda peer: (peer.hear(), peer.say("hello", {"version": "9"}))), "another build"),
    (open_and(echo_hello, lambda peer: (peer.hear(), peer.say("done"))),
     "it sent what trace_run never sends"),
    (open_and(echo_hello, lambda peer: (peer.hear(), peer.say("refuse", b"\x1b[2J"))),
     "it sent what trace_run never sends"),
    (open_and(echo_hello, lambda peer: (peer.hear(), peer.say("refuse", b"not today"))), "refuses: not today"),
    (open_and(echo_hello, lambda peer: (peer.hear(), peer.say("accept"))), "before the run"),
])
def test_a_listener_that_is_none_is_told_in_one_line(hosts, answer, said):
    done = connect_to(hosts, answer)
    assert done.code == 3 and not done.out
    line, = done.err.splitlines()
    assert said in line, line
