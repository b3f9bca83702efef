# SPDX-License-Identifier: GPL-2.0
"""Threads that stay on processors, that send on one socket, and sockets that listen on one port."""
from __future__ import annotations

import os
from pathlib import Path

import pytest

from helpers.processes import wait_until
from helpers.records import needs_root, run
from helpers.workload import client, run_plain, server

MESSAGES, BYTES, THREADS = 401, 4093, 6
DEVICES = "/sys/bus/event_source/devices"
CPUS = sorted(os.sched_getaffinity(0))
PLAIN = ("--messages", MESSAGES, "--check", "none", "--json")


def places(pid):
    """Of each thread but the first: where it may run, and where it ran last, as /proc has it."""
    found = []
    for task in sorted(Path(f"/proc/{pid}/task").iterdir(), key=lambda each: int(each.name))[1:]:
        status = (task / "status").read_text(encoding="utf-8")
        allowed = next(line.split()[1] for line in status.splitlines() if line.startswith("Cpus_allowed_list"))
        found.append((allowed, (task / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[36]))
    return found


def ran_on(end, count):
    """The processors that its threads ran on, once there are so many and each is where it may be."""
    wait_until(lambda: len(places(end.process.pid)) == count)
    wait_until(lambda: all(allowed == ran for allowed, ran in places(end.process.pid)))
    return sorted(int(ran) for _, ran in places(end.process.pid))


@pytest.mark.parametrize("readers", [0, 2])
def test_threads_run_on_the_processors_that_are_listed(readers):
    """In turn, from the first again after the last."""
    listed = [CPUS[-1], CPUS[0]]
    text = ",".join(map(str, listed))
    share = ("--readers", readers) if readers else ()
    with server("A1", BYTES, "--clients", 3, "--seconds", 30, "--check", "none", "--cpus", text) as a:
        with client(a, BYTES, 3, "--check", "none", "--cpus", text, *share) as b:
            assert ran_on(a, 3) == sorted(listed[number % 2] for number in range(3))
            count = 3 * max(readers, 1)
            assert ran_on(b, count) == sorted(listed[number % 2] for number in range(count))
            a.interrupt()


@needs_root
def test_kinds_of_cores_are_those_of_the_machine():
    """Of a machine whose P core is the last processor here."""
    machine = f"mount -t tmpfs none {DEVICES} && mkdir {DEVICES}/cpu_core && echo {CPUS[-1]} >{DEVICES}/cpu_core/cpus"
    within = ("unshare", "--mount", "sh", "-c", f'{machine} && exec "$@"', "sh")
    with server("A1", BYTES, "--clients", 1, "--seconds", 30, "--check", "none", "--cpus", "P", prefix=within) as a:
        with client(a, BYTES, 1, "--check", "none"):
            assert ran_on(a, 1) == [CPUS[-1]]
            a.interrupt()
    assert run_plain("server", "A1", BYTES, "--cpus", "E", prefix=within).returncode == 2


@pytest.mark.parametrize("variant", ["A1", "A2", "A3-unset"])
def test_threads_that_share_a_socket_send_every_message_once(variant):
    with server(variant, BYTES, "--clients", 2, "--senders", 3, *PLAIN) as a:
        with client(a, BYTES, 2, "--check", "none", "--json") as b:
            sent, got = a.totals(), b.totals()
    assert sent["messages"] == got["messages"] == MESSAGES
    assert sent["accepted_bytes"] == got["received_bytes"] == MESSAGES * BYTES == sent["tcp_accepted_bytes"]
    assert sent["gather_bytes"] == (MESSAGES * BYTES if variant == "A1" else 0)
    assert sorted(each["messages"] for each in sent["connections"]) == [200, 201]


def test_the_shares_of_listeners_on_one_port_add_up():
    with server("A2", BYTES, "--clients", 24, "--listeners", 3, *PLAIN) as a:
        with client(a, BYTES, 24, "--check", "none", "--json") as b:
            sent, got = a.totals(), b.totals()
    shares = sent["listeners"]
    assert len(shares) == 3 and sum(each["connections"] for each in shares) == 24
    assert sum(each["accepted_bytes"] for each in shares) == got["received_bytes"] == MESSAGES * BYTES
    # The kernel deals by a hash: one in 3^23 times all to one.
    assert sum(each["connections"] > 0 for each in shares) > 1


@pytest.mark.parametrize("words, said", [
    (("--cpus", "1-"), "0,2-3"), (("--cpus", "100000"), "may not run"), (("--listeners", "17"), "1 to 16"),
    (("--senders", "2"), "--check none"), (("--senders", "2", "--pattern", "rr", "--check", "none"), "stream")])
def test_what_cannot_be_is_refused_in_one_line(words, said):
    done = run_plain("server", "A1", BYTES, *words)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


@needs_root
def test_a_run_without_probes_keeps_what_was_asked():
    record = run("A1", BYTES, THREADS, "--messages", MESSAGES, "--senders", 2, "--listeners", 2, "--cpus",
                 f"{CPUS[0]}/{CPUS[-1]}", "--no-probes", "--json", "-").record
    work = record["experiment"]["workload"]
    assert work["senders"] == 2 and work["cpus"] == {"sender": str(CPUS[0]), "receiver": str(CPUS[-1])}
    assert sum(each["accepted_bytes"] for each in work["listeners"]) == work["received_bytes"] == MESSAGES * BYTES
    assert not [each for each in record["laws"] if each["status"] == "broken"]


@needs_root
@pytest.mark.parametrize("words", [("--path", "peer", "--host", "x", "--cpus", "0"), ("--senders", "2", "--verify")])
def test_what_a_run_cannot_do_with_them_is_refused(words):
    done = run("A1", BYTES, 1, *words)
    assert done.code == 2 and done.err.count("\n") == 1


@needs_root
def test_the_books_balance_with_all_of_them():
    record = run("A1", BYTES, THREADS, "--messages", MESSAGES, "--senders", 2, "--listeners", 2, "--cpus",
                 f"{CPUS[0]},{CPUS[-1]}", "--pass", "counted", "--json", "-").record
    sites = {name: each["bytes"] for name, each in record["sites"].items()}
    assert sites["tx_copy"] == sites["rx_copy"] == MESSAGES * BYTES
    assert sites["user_gather"] in (None, MESSAGES * BYTES)
    laws = {each["law"]: each["status"] for each in record["laws"]}
    assert "broken" not in laws.values() and laws["end to end"] == "balanced"
