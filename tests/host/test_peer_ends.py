# SPDX-License-Identifier: GPL-2.0
"""However one of two hosts ends, the other one says so in one line, and nothing is left on either."""
from __future__ import annotations

import itertools
import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from copyscope.records.check import check as check_as_readers
from helpers import peers, processes, records
from helpers.books import PRIME_BYTES, PRIME_MESSAGES
from helpers.machine import Machine
from helpers.patience import Stopwatch

pytestmark = records.needs_root

PRIME = (PRIME_BYTES, 2, "--messages", PRIME_MESSAGES)
LONG = ("A3", 65536, 2, "--seconds", 30)
FAILED, REFUSED = 1, 3
KILLS = 6
long = pytest.mark.long


@pytest.fixture(scope="module", name="hosts")
def fixture_hosts():
    """Two namespaces of this machine."""
    with peers.two_hosts() as pair:
        yield pair


@pytest.fixture(scope="module", autouse=True)
def fixture_orphans():
    """What a half that was killed leaves running comes to this process."""
    processes.become_subreaper(True)
    yield
    processes.become_subreaper(False)


def shell(script: str) -> str:
    """A far command that is a function of its shell, which takes the words of the far half."""
    return f"far() {{ {script}; }}; far"


# It never was there

HELLO = '{"hello": {"version": "9", "commit": "other", "connection": ""}}'


@pytest.mark.parametrize("far, said", [
    ("no-such-program", "not found"),
    ("true", "it ended without a word"),
    (shell(f"echo '{HELLO}'; cat >/dev/null"), "it is another build: version 9, commit other there"),
    (shell("echo Welcome to lab2; cat >/dev/null"), "it said what trace_run never says: Welcome to lab2"),
    (shell("echo '{}'; cat >/dev/null"), "it said what trace_run never says: {}"),
    (shell("""echo '{"ready": true}'; cat >/dev/null"""), "it said a word that was not due"),
    (shell("head -c 100000 /dev/zero | tr '\\0' x; cat >/dev/null"), "never says: xxxx"),
    (shell("printf '\\033[2J\\n'; cat >/dev/null"), "never says: \\x1b[2J"),
    (shell("cat >/dev/null"), "it said nothing in time"),
    ("setpriv --bounding-set -bpf " + str(records.TRACE_RUN), "this root lacks CAP_BPF"),
    (peers.with_options("--no-such-option"), "--no-such-option"),
], ids=["missing", "silent", "another build", "a login shell that greets", "no word", "another word",
        "an endless line", "control characters", "hanging", "without the right", "other options"])
def test_a_far_half_that_cannot_run_is_told_in_one_line(hosts, far, said):
    before = Machine()
    done = hosts.run("A1", *PRIME, "--break", "bounds:2", far=far)
    assert (done.code, done.out) == (REFUSED, ""), done.err
    line, = done.err.splitlines()
    assert line.startswith(f"trace_run: no run with {peers.HOST}: ") and said in line, line
    before.check()


def test_a_far_half_that_says_hello_and_no_more_is_told(hosts):
    before = Machine()
    done = hosts.run("A1", *PRIME, "--break", "bounds:2", far=shell(f"{records.TRACE_RUN} \"$@\" | head -n 1"))
    assert (done.code, done.out) == (REFUSED, "")
    line, = done.err.splitlines()
    assert line.startswith(f"trace_run: no run with {peers.HOST}: ")
    before.check()


def test_what_a_login_shell_writes_to_stderr_is_passed_on_with_the_hosts_name(hosts):
    done = hosts.run("A1", *PRIME, far=shell(f"echo stty: not a tty >&2; echo 'bell \a' >&2; "
                                             f"{records.TRACE_RUN} \"$@\""))
    assert done.code in records.WELL
    assert done.err.splitlines()[:2] == [f"{peers.HOST}: stty: not a tty", f"{peers.HOST}: bell "]
    assert done.record["experiment"]["peer"]["end"] == "receiver"


def test_clocks_that_are_apart_are_told_before_the_run(hosts):
    wrong = """sed -u 's/"now_s": *[0-9]*/"now_s": 86400/'"""
    done = hosts.run("A1", *PRIME, far=shell(f"{records.TRACE_RUN} \"$@\" | {wrong}"))
    assert done.code in records.WELL
    assert re.fullmatch(rf"trace_run: the clock of {peers.HOST} is \d+ s behind: set both by NTP, .*", done.err.splitlines()[0])


TAKES = "import socket, sys; s = socket.create_server((sys.argv[1], 9000)); print(flush=True); sys.stdin.read()"


@pytest.mark.parametrize("role", ["sender", "receiver"])
def test_a_port_that_is_taken_on_either_host_is_told_and_nothing_is_left(hosts, role):
    before = Machine()
    host = hosts.near if role == "sender" else hosts.far
    with subprocess.Popen(host.inside(sys.executable, "-c", TAKES, host.address), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as taken:
        assert taken.stdout.readline()
        done = hosts.run("A1", *PRIME, "--role", role)
        taken.stdin.close()
    assert (done.code, done.out) == (REFUSED, "")
    line, = done.err.splitlines()
    assert "--port" in line and (peers.HOST in line) == (role == "receiver")
    before.check()


# It ends in the middle

def check_lost(record: dict, reason: str, here: str) -> None:
    """The record of one host alone."""
    outcome = record["experiment"]["outcome"]
    assert outcome["status"] == "failed" and reason in outcome["reason"], outcome
    assert "no verdict" in records.sentence_of(record)
    assert not records.laws_with(record, "balanced")
    assert record["experiment"]["peer"] == {"end": "receiver" if here == "sender" else "sender", "lost": reason}
    assert {each["host"] for each in record["sockets"]} <= {here}


@pytest.mark.parametrize("role", ["sender", pytest.param("receiver", marks=long)])
def test_either_half_or_ssh_may_be_killed_at_any_moment(hosts, role):
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    for number in range(KILLS):
        before = Machine()
        near = hosts.start("A3", 65536, 2, "--seconds", 5, "--role", role, "--json", "-")
        far = processes.wait_until(lambda pid=near.pid: peers.far_half(pid))
        moment_s = dice.uniform(0, 1)
        victim = ("far", "ssh", "near")[number % 3]
        hint = f"random.Random({seed}), {number}: {victim} after {moment_s:.2f} s"
        time.sleep(moment_s)
        os.kill({"far": far, "ssh": peers.ssh_of(near.pid), "near": near.pid}[victim], signal.SIGKILL)
        done = records.finish(near, 30)
        if victim == "near":
            assert done.code == -signal.SIGKILL, hint
        else:
            assert done.code in (FAILED, REFUSED) and bool(done.out) == (done.code == FAILED), f"{hint}: {done}"
            # A shell there may say what became of its child.
            line, = [each for each in done.err.splitlines() if not each.startswith(f"{peers.HOST}: ")]
            assert ("no run with" if done.code == REFUSED else "the partner was lost") in line, f"{hint}: {line}"
        if done.out:
            check_lost(done.record, "the partner was lost", role)
        before.check(hint)


@pytest.mark.parametrize("tampered, reason", [
    ('s/^{"half":.*/{"half":{}}/', "the partner's half makes no sense"),
    pytest.param('s/^{"half":.*/{"half":/', "the partner's half makes no sense", marks=long),
    ('s/^{"half":.*/Segmentation fault/', "the partner's half makes no sense"),
    ('/^{"half":.*/d', "the partner was lost"),
])
def test_a_half_that_makes_no_sense_leaves_the_record_of_this_host(hosts, tampered, reason):
    before = Machine()
    done = hosts.run("A1", *PRIME, far=shell(f"{records.TRACE_RUN} \"$@\" | sed -u '{tampered}'"))
    assert done.code == FAILED, done.err
    line, = done.err.splitlines()
    assert reason in line
    check_lost(done.record, reason, "sender")
    before.check()


def start_long(hosts: peers.Pair, *words):
    """A run of 30 s, once both ends have threads that send."""
    near = hosts.start(*LONG, *words, "--json", "-")
    processes.wait_until(lambda: peers.far_half(near.pid))
    processes.wait_running(near.pid)
    return near


@pytest.mark.parametrize("who, pattern, role", [
    each if each in (("near", "stream", "receiver"), ("far", "rr", "sender")) else pytest.param(*each, marks=long)
    for each in itertools.product(("near", "far"), ("stream", "rr"), ("sender", "receiver"))])
def test_an_interrupt_on_either_host_ends_the_run_in_order_on_both(hosts, who, pattern, role):
    before = Machine()
    near = start_long(hosts, "--pattern", pattern, "--role", role)
    time.sleep(0.5)
    os.kill(near.pid if who == "near" else peers.far_half(near.pid), signal.SIGINT)
    done = records.finish(near, 20)
    assert not records.laws_with(done.record, "broken")
    assert done.code == 128 + signal.SIGINT, done.err
    assert records.site(done.record, "rx_copy") > 0
    assert "machine" in done.record["experiment"]["peer"]
    before.check()


@pytest.mark.parametrize("role", ["sender", pytest.param("receiver", marks=long)])
def test_a_signal_ends_a_run_in_2_s_whatever_the_far_host_does(hosts, role):
    before = Machine()
    near = start_long(hosts, "--role", role)
    far = peers.far_half(near.pid)
    stopped = set()
    try:
        os.kill(far, signal.SIGSTOP)
        stopped = {far} | processes.stop_below(far)
        watch = Stopwatch()
        near.send_signal(signal.SIGINT)
        done = records.finish(near, 20)
        took_s = watch.seconds()
    finally:
        near.kill()
        for pid in stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
    # Programs take their time to start and end besides.
    assert took_s < 4 and done.code == 128 + signal.SIGINT, done.err
    record = done.record
    assert record["experiment"]["outcome"]["status"] == "interrupted"
    assert "nothing came from the host of the" in record["experiment"]["outcome"]["reason"]
    here, there = ("tx_copy", "rx_copy") if role == "sender" else ("rx_copy", "tx_copy")
    assert records.how(record, here) != "not_measured"
    assert records.how(record, there) == records.how(record, "late_copy") == "not_measured"
    assert not records.laws_with(record, "balanced") and not records.laws_with(record, "broken")
    assert record["experiment"]["peer"] == {"end": "receiver" if role == "sender" else "sender",
                              "lost": "the partner's half did not come in time"}
    assert record["experiment"]["path"]["rx_dev" if role == "sender" else "tx_dev"] is None
    check_as_readers(record, "record.json")
    # A record without its peer, or with unknown devices beside a whole one, is none.
    assert not records.accepted({**record, "experiment": {**record["experiment"], "peer": {"end": "sender"}}})
    assert not records.accepted({**record, "experiment": {
        key: each for key, each in record["experiment"].items() if key != "peer"}})
    assert not records.accepted({**record, "experiment": {**record["experiment"], "outcome": {
        **record["experiment"]["outcome"], "status": "blind"}}})
    before.check()


def test_a_signal_ends_the_wait_for_a_far_half_that_is_never_ready(hosts):
    before = Machine()
    # It says hello, and never that it is ready.
    near = hosts.start(*LONG, "--json", "-", far=shell(f"{records.TRACE_RUN} \"$@\" | sed -u '/ready/d'"))
    try:
        processes.wait_until(lambda: len(processes.workload_pids(near.pid)) == 2)
        time.sleep(1)
        watch = Stopwatch()
        near.send_signal(signal.SIGTERM)
        done = records.finish(near, 20)
        took_s = watch.seconds()
    finally:
        near.kill()
    assert took_s < 4 and done.code == 128 + signal.SIGTERM, done.err
    assert done.record["experiment"]["outcome"]["reason"] == "signal 15 (SIGTERM) ended it before it began"
    assert done.record["experiment"]["peer"]["lost"] == "the run was interrupted before it began"
    before.check()


def test_a_signal_while_ssh_connects_ends_it_without_a_record(hosts):
    before = Machine()
    near = hosts.start(*LONG, "--json", "-", far=shell("cat >/dev/null"))
    processes.wait_until(lambda: peers.ssh_of(near.pid))
    time.sleep(0.5)
    near.send_signal(signal.SIGTERM)
    done = records.finish(near, 5)
    assert (done.code, done.out, done.err) == (-signal.SIGTERM, "", "")
    before.check()


@pytest.mark.parametrize("end", ["server", "client"])
def test_the_record_says_which_end_was_killed(hosts, end):
    before = Machine()
    near = start_long(hosts)
    os.kill(processes.workload_pids(near.pid)[end], signal.SIGKILL)
    done = records.finish(near, 30)
    outcome = done.record["experiment"]["outcome"]
    assert done.code == FAILED and outcome["status"] == "failed", done.err
    assert f"the {end} was killed by signal 9 (SIGKILL)" in outcome["reason"]
    assert records.sentence_of(done.record).startswith("The run failed: ")
    assert not records.laws_with(done.record, "broken")
    before.check()
