# SPDX-License-Identifier: GPL-2.0
"""Two hosts share a key: who has it not gets no run, and no one can learn or replace it."""
from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from helpers import hostile_peer, peers, processes, records
from helpers.hostile_peer import PROOFS, Conversation, Gone

pytestmark = records.needs_root

GOOD = ("A1", 4093, 2, "--messages", 23)


@pytest.fixture(scope="module", name="hosts")
def fixture_hosts():
    """Two namespaces of this machine."""
    with peers.two_hosts() as pair:
        yield pair


@pytest.fixture(name="listener")
def fixture_listener(hosts):
    """A host that waits."""
    process = peers.listen(hosts[0], "--json", "-")
    yield process
    process.kill()
    process.communicate()


def one_line(process) -> str:
    """What a process that was refused as bad input said, and nothing else."""
    done = records.finish(process)
    assert done.code == 2 and not done.out
    line, = done.err.splitlines()
    return line


def talk(hosts, key: bytes | None = None) -> Conversation:
    """A conversation with the listener, with the right key unless another is given."""
    return Conversation(peers.call(hosts[1], hosts[0].address),
                        hosts[0].key if key is None else key)


def assert_still_waits(hosts, listener) -> dict:
    """An honest partner finds the listener as ever; the record."""
    right = records.finish(hosts[1].start(*GOOD, "--connect", hosts[0].address, "--json", "-"))
    assert right.code in records.WELL, right.err
    assert records.finish(listener).code in records.WELL
    return right.record


def test_without_a_key_no_address_but_loopback_is_served(hosts):
    for words in (["--listen", hosts[0].address], ["--listen", "0.0.0.0"], ["--listen", "::"]):
        line = one_line(hosts[0].start_without_key(*words))
        assert "/dev/urandom" in line and "--key-file" in line
    line = one_line(hosts[1].start_without_key(*GOOD, "--connect", hosts[0].address))
    assert "/dev/urandom" in line and "--key-file" in line


def test_on_loopback_no_key_is_needed_and_the_record_says_so(hosts):
    listener = hosts[0].start_without_key("--listen", "--json", "-")
    assert listener.stderr.readline().endswith("127.0.0.1:9009\n")
    right = records.finish(hosts[0].start_without_key(*GOOD, "--connect", "127.0.0.1", "--json",
                                                      "-"))
    assert right.code in records.WELL and records.finish(listener).code in records.WELL
    assert right.record["peer"]["partner_authenticated"] is False


def test_the_record_says_that_the_partner_was_authenticated(hosts, listener):
    record = assert_still_waits(hosts, listener)
    assert record["peer"]["partner_authenticated"] is True


def test_a_wrong_key_is_told_on_both_sides_in_one_line(hosts, listener):
    other = peers.make_key()
    try:
        done = records.finish(hosts[1].start_without_key(
            *GOOD, "--connect", hosts[0].address, "--key-file", other))
    finally:
        other.unlink()
    assert done.code == 3
    line, = done.err.splitlines()
    assert "its key is another one" in line and "its key is another one" in \
        listener.stderr.readline()
    assert_still_waits(hosts, listener)


def test_one_side_without_a_key_is_told_on_both_sides(hosts):
    listener = hosts[0].start("--listen")
    try:
        listener.stderr.readline()
        done = records.finish(hosts[0].start_without_key(*GOOD, "--connect", "127.0.0.1"))
        assert done.code == 3 and "it has a key" in done.err
        assert "it was given no key" in listener.stderr.readline()
    finally:
        listener.kill()
        listener.communicate()


def test_the_key_may_come_from_the_environment(hosts):
    key = {**os.environ, "COPYSCOPE_PEER_KEY": hosts[0].key.decode()}
    listener = hosts[0].start_without_key("--listen", hosts[0].address, env=key)
    listener.stderr.readline()
    right = hosts[1].start_without_key(*GOOD, "--connect", hosts[0].address, env=key)
    assert records.finish(right).code in records.WELL and records.finish(listener).code in records.WELL


@pytest.mark.parametrize("words", [("--path", "peer"), ()], ids=["peer", "no peer"])
def test_who_parses_and_who_measures_has_no_key_in_its_environment(hosts, words):
    key = {**os.environ, "COPYSCOPE_PEER_KEY": hosts[0].key.decode()}
    work = ("A1", 4096, 1, "--seconds", 20)
    listener = hosts[0].start_without_key("--listen", hosts[0].address, env=key)
    listener.stderr.readline()
    run = hosts[1].start_without_key(*work, "--connect", hosts[0].address, env=key) if words else \
        records.start(*work, env=key)
    try:
        processes.wait_until(lambda: processes.workload_pids(run.pid))
        all_below = processes.descendants(run.pid)
        named = set()
        for pid in all_below:
            # Helpers of a run, as ip(8), live for a moment.
            with suppress(FileNotFoundError, ProcessLookupError):
                named.add(Path(f"/proc/{pid}/comm").read_text().strip())
                assert hosts[0].key not in Path(f"/proc/{pid}/environ").read_bytes(), pid
        assert {"parser", "trace_run", "workload"} <= named
    finally:
        for process in run, listener:
            process.kill()
            process.communicate()


def test_a_key_that_others_can_read_or_guess_is_refused(hosts, tmp_path):
    def told(file) -> str:
        return one_line(hosts[0].start_without_key("--listen", "--key-file", file))

    file = tmp_path / "key"
    file.write_text("x" * 31 + "\n")
    file.chmod(0o600)
    assert "32 to 1024" in told(file)
    file.write_text("x" * 1100)
    assert "32 to 1024" in told(file)
    file.write_text("x" * 44)
    for mode in (0o640, 0o604, 0o620):
        file.chmod(mode)
        assert "chmod 600" in told(file)
    file.chmod(0o600)
    os.chown(file, 1234, 0)
    assert "chown" in told(file)
    assert "No such file" in told(tmp_path / "none")
    assert "not a regular file" in told(tmp_path)
    os.mkfifo(tmp_path / "fifo", 0o600)
    assert "not a regular file" in told(tmp_path / "fifo")
    assert "32 to 1024" in one_line(hosts[0].start_without_key(
        "--listen", env={**os.environ, "COPYSCOPE_PEER_KEY": "short"}))


def test_what_a_good_partner_said_is_worth_nothing_once_more(hosts, listener):
    hello = hostile_peer.learn_hello(peers.call(hosts[1], hosts[0].address), hosts[0].key)
    with talk(hosts) as good:
        assert good.open()
        assert good.ask_for_plan(hello, {"bytes": 2 << 20})[0] == "refuse"
    with talk(hosts) as replay, pytest.raises(Gone):
        replay.send(good.said)
        replay.take(len(replay.mine))
        assert replay.take(1) == b"\0"
        replay.take(1000)
    # A frame of the same conversation counts once, too.
    with talk(hosts) as twice, pytest.raises(Gone):
        assert twice.open()
        frame = twice.frame("hello", hello)
        twice.send(frame)
        assert twice.hear()[0] == "hello"
        twice.send(frame)
        twice.hear()
    assert_still_waits(hosts, listener)


def test_a_proof_that_is_given_back_to_who_gave_it_is_none(hosts, listener):
    for proof in (lambda peer: peer.of_both(PROOFS["listener"]), lambda peer: bytes(32),
                  lambda peer: peer.mine[-32:]):
        with talk(hosts) as peer, pytest.raises(Gone):
            peer.greet()
            peer.send(proof(peer))
            assert peer.take(33) == bytes(33)
            peer.take(1)
    # A listener's own greeting and its own proof, by way of a second call to it.
    with talk(hosts) as first, talk(hosts) as second, pytest.raises(Gone):
        first.greet()
        second.mine = first.theirs
        second.greet()
        first.send(first.of_both(PROOFS["listener"]))
        assert first.take(33) == bytes(33)
        first.take(1)
    assert_still_waits(hosts, listener)


def test_no_process_of_the_same_user_can_learn_the_key(hosts, listener):
    secret = hosts[0].key
    acceptor, = processes.named(listener.pid, "unpriv_accept")
    # No more than any other may a process of its own user look into it.
    user = processes.confined_user()
    probe = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "cat"]
    for name in "mem", "environ", "maps":
        done = records.subprocess.run([*probe, f"/proc/{acceptor}/{name}"], capture_output=True,
                                      check=False)
        assert done.returncode and not done.stdout, name
    connector = hosts[1].start("A1", 4096, 1, "--seconds", 1, "--connect", hosts[0].address,
                               "--json", "-")
    processes.wait_until(lambda: processes.workload_pids(listener.pid))
    for pid in processes.workload_pids(listener.pid).values():
        for name in "environ", "cmdline":
            assert secret not in Path(f"/proc/{pid}/{name}").read_bytes()
    for pid in [listener.pid, *processes.children(listener.pid)]:
        assert secret not in Path(f"/proc/{pid}/cmdline").read_bytes()
    for process in connector, listener:
        done = records.finish(process)
        assert done.code in records.WELL and secret.decode() not in done.out + done.err


def ask_and_take_part(hosts, peer: Conversation) -> dict:
    """A whole run with the listener, up to its half of the books."""
    assert peer.open()
    assert peer.ask_for_plan(ask_and_take_part.hello)[0] == "accept"

    def connect(port: int) -> socket.socket:
        return processes.wait_until(lambda: knock(hosts, port))
    return hostile_peer.take_part(peer, hostile_peer.PLAN, connect)


def knock(hosts, port: int) -> socket.socket | None:
    """A connection to a port of the listening host, once it is open."""
    connection = hosts[1].socket()
    connection.settimeout(10)
    try:
        connection.connect((hosts[0].address, port))
    except ConnectionRefusedError:
        connection.close()
        return None
    return connection


@pytest.mark.parametrize("seed", range(8))
def test_a_hostile_half_ends_the_run_and_makes_no_other(hosts, seed):
    listener = peers.listen(hosts[0], "--json", "-")
    ask_and_take_part.hello = hostile_peer.learn_hello(
        peers.call(hosts[1], hosts[0].address), hosts[0].key)
    with talk(hosts) as peer:
        half = ask_and_take_part(hosts, peer)
        peer.say("half", hostile_peer.hostile_half(hostile_peer.turned_round(half), seed))
        done = records.finish(listener, 20)
    assert done.code in (*records.WELL, 1), done.err
    assert "trying again" not in done.err and done.err.isprintable() or "\n" in done.err
    assert all(line.isprintable() for line in (done.err + done.out).splitlines())
    if not done.out:
        assert "not understood" in done.err.splitlines()[-1]
    else:
        assert done.record["peer"]


def test_a_half_that_says_it_was_blind_orders_no_other_run(hosts, listener):
    ask_and_take_part.hello = hostile_peer.learn_hello(
        peers.call(hosts[1], hosts[0].address), hosts[0].key)
    with talk(hosts) as peer:
        half = hostile_peer.turned_round(ask_and_take_part(hosts, peer))
        for probe in half["record"]["backend"]["probes"]:
            if probe["status"] == "attached":
                probe["unseen_firings"] = probe["missed_runs"] = 1000
        peer.say("half", half)
        done = records.finish(listener, 20)
    assert "trying again" not in done.err and done.record["outcome"]["status"] != "complete"
