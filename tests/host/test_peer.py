# SPDX-License-Identifier: GPL-2.0
"""Two hosts make one run: both halves are joined and judged as one."""
from __future__ import annotations

import itertools
import json
import os
import shlex
import subprocess

import pytest

from copyscope.records import documents
from copyscope.records.check import check as check_as_readers
from helpers import peers, processes, records
from helpers.books import (
    PRIME_BYTES,
    PRIME_MESSAGES,
    PRIME_PAYLOAD,
    TRACEPOINT_NOT_TESTABLE,
    check_books,
)

pytestmark = records.needs_root

PRIME = (PRIME_BYTES, 2, "--messages", PRIME_MESSAGES)
REFUSED = 3
NOBODY = 65534
OTHER_ADDRESSES = ("10.78.0.1", "10.78.0.2")


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


def compared(hosts, tool: str, *more) -> str:
    """What README's command says that compares over two hosts, with what stands in for ssh and makes it short."""
    text = (records.ROOT / "README.md").read_text(encoding="utf-8")
    command = next(line for line in text.splitlines() if f"sudo ./tools/{tool} " in line and "--host lab2" in line)
    ssh = shlex.join([str(peers.FAKE_SSH), str(hosts.far.holder.pid), hosts.near.address, hosts.far.address])
    words = [*shlex.split(command, comments=True)[1:], *more, "--ssh", ssh, "--far", records.TRACE_RUN,
             "--others-at-most", 1]
    done = subprocess.run(hosts.near.inside(*words), text=True, check=False, capture_output=True, timeout=120,
                          cwd=records.ROOT)
    assert done.returncode == 0, done.stderr
    assert "Path peer, Linux" in done.stdout and "the other end is on another host" in done.stdout
    return done.stdout


def test_the_sweep_of_the_readme_is_made_between_two_hosts(hosts, tmp_path):
    said = compared(hosts, "sweep", "--repeats", 1, "--seconds", 0.1, "--out", tmp_path / "out")
    assert " times A1" in said
    names = {each.name for each in (tmp_path / "out/runs").iterdir()}
    assert names == {f"{variant}_{size}B_1T.r1.json" for variant in ("A1", "A2", "A3") for size in (64, 4096, 65536)}
    for name in names:
        record = records.load(tmp_path / "out/runs" / name)
        assert record["experiment"]["peer"]["end"] == "receiver" and record["backend"]["name"] == "none"


def test_the_crossover_of_the_readme_is_searched_between_two_hosts(hosts, tmp_path):
    said = compared(hosts, "crossover", "--low", 64, "--high", 128, "--nearness", 4,
                    "--repeats", 6, "--seconds", 0.05, "--json", tmp_path / "found.json")
    assert "on path peer, 1 connection" in said and "laws of A2" in said
    assert documents.load(tmp_path / "found.json", "crossover", "mend it")["path"]["kind"] == "peer"


def sender_of(record: dict) -> str:
    """The one address that the sender's sockets have."""
    sender, = {each["local"] for each in record["sockets"] if each["end"] == "sender"}
    return sender


# Each variant, pattern and role once; the rest of their combinations waits.
SOON = (("A1", "rr", "receiver"), ("A2", "stream", "receiver"), ("A3", "rr", "sender"))


@pytest.mark.parametrize("variant, pattern, role", [
    each if each in SOON else pytest.param(*each, marks=pytest.mark.long)
    for each in itertools.product(("A1", "A2", "A3"), ("stream", "rr"), ("sender", "receiver"))])
def test_23_messages_of_4093_bytes_are_94139_over_both_ends(hosts, variant, pattern, role):
    record = check(hosts.run(variant, *PRIME, "--pattern", pattern, "--role", role))
    assert records.site(record, "rx_copy") == PRIME_PAYLOAD * (2 if pattern == "rr" else 1)
    assert records.law(record, "end to end")["status"] == "balanced"
    assert {each["host"] for each in record["sockets"]} == {"sender", "receiver"}
    assert all(each["host"] == each["end"] for each in record["sockets"])
    assert len(record["sockets"]) == 4


def test_the_record_names_both_hosts_and_their_devices(hosts):
    record = check(hosts.run("A3", *PRIME))
    check_as_readers(record, "record.json")
    assert record["experiment"]["path"]["kind"] == "peer"
    assert (record["experiment"]["path"]["tx_dev"], record["experiment"]["path"]["rx_dev"]) == ("tx0", "rx0")
    assert record["experiment"]["path"]["mtu"] == record["experiment"]["peer"]["path"]["mtu"] == 1500
    assert record["experiment"]["peer"]["machine"]["kernel"] == os.uname().release
    assert record["experiment"]["peer"]["backend"]["probes"] and record["experiment"]["peer"]["overhead"]["events"] is None
    assert "--cost" in record["experiment"]["peer"]["overhead"]["why"]
    assert record["experiment"]["counters"]["receiver"]["context-switches"]["value"] is not None
    assert record["experiment"]["passes"]["timed"] is None and "two hosts" in record["experiment"]["passes"]["why"]
    assert record["experiment"]["timing"]["pass"] == "counted" and not record["experiment"]["timing"]["comparable"]
    assert "--host" in record["command"]
    # How it is reached may hold a password, and all may read a record.
    hidden = [record["command"][record["command"].index(name) + 1] for name in ("--ssh", "--far")]
    assert hidden == ["(not kept)"] * 2 and "fake_ssh" not in json.dumps(record)
    assert sender_of(record) == f"{hosts.near.address}:9000"


def test_the_host_where_it_is_typed_may_be_the_receiver(hosts):
    record = check(hosts.run("A3", *PRIME, "--role", "receiver", "--port", 9123))
    assert sender_of(record) == f"{hosts.far.address}:9123"
    assert (record["experiment"]["path"]["tx_dev"], record["experiment"]["path"]["rx_dev"]) == ("rx0", "tx0")
    assert "--role" in record["command"]


def test_one_pass_without_probes_is_made_on_both(hosts):
    done = hosts.run("A3", *PRIME, "--pass", "timed")
    assert done.code == 0, done.err
    record = done.record
    assert record["backend"]["name"] == record["experiment"]["peer"]["backend"]["name"] == "none"
    assert record["experiment"]["workload"]["received_bytes"] == PRIME_PAYLOAD
    assert record["experiment"]["timing"]["comparable"] and record["experiment"]["passes"]["counted"] is None


def test_a_probe_left_off_on_one_host_is_missed_in_the_joined_laws(hosts):
    done = hosts.run("A3", *PRIME, "--break", "detach:accepted")
    assert done.code in (*records.WELL, 1)
    assert records.law(done.record, "end to end")["status"] == "not testable"
    done = hosts.run("A3", *PRIME, far=peers.with_options("--break", "detach:rx_copy"))
    assert records.how(done.record, "rx_copy") == "not_measured"
    assert "receiver's host" in done.record["sites"]["rx_copy"]["why"]


def test_a_lost_update_on_the_far_host_breaks_the_run(hosts):
    done = hosts.run("A1", *PRIME, far=peers.with_options("--break", "lose-update"))
    assert done.code == 1
    assert "receive" in records.laws_with(done.record, "broken")


@pytest.mark.parametrize("blind", ["near", "far"])
def test_both_make_a_run_again_that_was_blind_on_either_host(hosts, blind):
    words = ("--break", "miss-hits")
    done = hosts.run("A2", *PRIME, *(words if blind == "near" else ()),
                     far=peers.with_options(*(words if blind == "far" else ())))
    assert done.code == records.BLIND
    assert done.record["experiment"]["outcome"]["status"] == "blind"
    assert done.record["experiment"]["attempt"] == done.err.count("trying again") + 1 > 1
    assert done.err.splitlines()[-1].startswith("trace_run: no verdict: the probes missed ")
    assert done.record["experiment"]["workload"]["received_bytes"] == PRIME_PAYLOAD


# Between which addresses

def test_the_data_takes_the_addresses_that_are_named(hosts):
    for host, device, address in zip((hosts.near, hosts.far), ("tx0", "rx0"), OTHER_ADDRESSES, strict=True):
        subprocess.run(host.inside("ip", "address", "replace", f"{address}/24", "dev", device), check=True)
    record = check(hosts.run("A1", *PRIME, "--addresses", ",".join(OTHER_ADDRESSES), connection=False))
    assert sender_of(record) == f"{OTHER_ADDRESSES[0]}:9000"


@pytest.mark.parametrize("words, far_command, said", [
    ((), "env -u SSH_CONNECTION", "does not know its ssh connection"),
    ((), "env SSH_CONNECTION='192.0.2.1 5 10.77.0.2 22'", "from 192.0.2.1, which is no address of this host"),
    (("--addresses", "192.0.2.1,10.77.0.2"), "env", "192.0.2.1 is no address of this host"),
    (("--addresses", "10.77.0.1,10.77.0.9"), "env", "10.77.0.9 is no address of this host"),
])
def test_an_address_of_nobody_is_told_in_one_line(hosts, words, far_command, said):
    # A shell fills in the variable before it starts env: so a second one.
    far = f"{far_command} sh -c '{records.TRACE_RUN} --far-half \"$SSH_CONNECTION\"' sh"
    done = hosts.run("A1", *PRIME, *words, far=far)
    assert (done.code, done.out) == (REFUSED, "")
    line, = done.err.splitlines()
    assert line.startswith(f"trace_run: no run with {peers.HOST}: ") and said in line


# What is started

def ssh_that_says(script: str) -> str:
    """A command in place of ssh, which writes to stderr and starts nothing."""
    return f"sh -c {shlex.quote(f'{script} >&2')} ssh"


def reason(*words, **options) -> str:
    """What stands behind the host in the one line of a run that never began."""
    done = records.run("A1", *PRIME, "--path", "peer", "--host", "me@lab2", *words, **options)
    assert (done.code, done.out) == (REFUSED, "")
    line, = done.err.splitlines()
    return line.removeprefix("trace_run: no run with me@lab2: ")


def test_ssh_asks_nobody_and_is_told_what_to_start():
    said = reason("--ssh", ssh_that_says('printf "%s|" "$@"'))
    *options, host, command, empty = said.split("|")
    assert options[0] == "-T" and options[-1] == "--" and "BatchMode=yes" in options
    assert (host, command, empty) == ("me@lab2", 'sudo -n trace_run --far-half "$SSH_CONNECTION"', "")
    assert 'cd there && ./trace_run --far-half "$' in reason(
        "--far", "cd there && ./trace_run", "--ssh", ssh_that_says('printf "%s|" "$@"'))


def test_ssh_is_a_process_of_who_called_sudo():
    assert reason("--ssh", ssh_that_says("id -u")) == "0"
    assert reason("--ssh", ssh_that_says("id -u"), env={**os.environ, "SUDO_UID": str(NOBODY)}) == str(NOBODY)


@pytest.mark.skipif(not peers.SSHD, reason="this machine has no sshd (package openssh-server)")
def test_openssh_serves_a_run_and_ends_its_far_half_with_it(hosts, tmp_path):
    with peers.openssh(hosts.far, tmp_path) as ssh:
        check(hosts.run("A3", *PRIME, ssh=ssh))
        run = hosts.start("A1", 4096, 1, "--seconds", 60, "--json", "-", ssh=ssh)
        far = processes.wait_until(lambda: peers.far_half(os.getpid()))
        run.kill()
        run.communicate()
        processes.wait_until(lambda: not processes.command_line(far))


def test_a_command_that_is_not_there_is_told():
    assert "no-such-ssh" in reason("--ssh", "no-such-ssh")


@pytest.mark.parametrize("variant", ["udp", "udp-zc"])
def test_datagrams_arrive_at_another_host_to_the_byte(hosts, variant):
    done = hosts.run(variant, *PRIME, "--pass", "counted")
    assert done.code in records.WELL, done.err
    record, site = done.record, "tx_reference" if variant == "udp-zc" else "tx_copy"
    assert not records.laws_with(record, "broken")
    if not records.unseen(record):
        assert {"send", "reference", "witness sent", "witness received"} <= records.laws_with(record, "balanced")
        assert records.site(record, site) == records.site(record, "rx_copy") == PRIME_PAYLOAD
    # Between two hosts nobody sees what is dropped.
    assert records.law(record, "end to end")["status"] == "not testable"
