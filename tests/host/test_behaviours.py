# SPDX-License-Identifier: GPL-2.0
"""What published programs do otherwise: each behaviour does that, and the laws balance with it."""
from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from helpers import records
from helpers.processes import wait_until
from helpers.workload import client, run_plain, server

MESSAGES, BYTES = 23, 4093


def totals(variant, size, behaviours, *words, threads=2, messages=MESSAGES):
    """Both ends' totals of a run in which nothing may fail."""
    shared = ("--messages", messages, "--json", "--behaviours", behaviours, *words)
    with server(variant, size, "--clients", threads, *shared) as a:
        with client(a, size, threads, *shared) as b:
            return a.totals(), b.totals()


def children(pid):
    """The numbers of a process's children."""
    return [int(each) for each in
            Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()]


@pytest.mark.parametrize("pattern", ["stream", "rr"])
@pytest.mark.parametrize("variant", ["A1", "A3"])
def test_clients_that_are_processes_receive_what_threads_would(variant, pattern):
    sent, got = totals(variant, BYTES, "client-processes", "--pattern", pattern, threads=3)
    assert sent["accepted_bytes"] == got["received_bytes"] == MESSAGES * BYTES
    assert [each["messages"] for each in got["connections"]] == [8, 8, 7]
    assert got["content_errors"] == 0 and got["latency_ns"]["samples"] > 0
    assert [each["remote"] for each in sent["connections"]] == \
           [each["local"] for each in got["connections"]]


def test_each_client_is_a_process_and_dies_with_the_first():
    with server("A2", BYTES, "--seconds", 9) as a:
        with client(a, BYTES, 3, "--behaviours", "client-processes") as b:
            wait_until(lambda: len(children(b.process.pid)) == 3)
            mine = children(b.process.pid)
            b.process.kill()
            b.process.wait()
            wait_until(lambda: not any(is_alive(pid) for pid in mine))
        a.interrupt()


def is_alive(pid):
    """True if a process has not ended, whether or not it was waited for."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False


def test_a_client_process_that_dies_fails_the_run_and_the_others_go_on():
    with server("A2", BYTES, "--seconds", 9, "--json") as a:
        with client(a, BYTES, 2, "--behaviours", "client-processes", "--json") as b:
            wait_until(lambda: len(children(b.process.pid)) == 2)
            doomed = children(b.process.pid)[1]
            os.kill(doomed, signal.SIGKILL)
            wait_until(lambda: not is_alive(doomed))
            a.interrupt()
            got = b.totals(code=1)
    assert "died" in got["complaint"] and got["connections"][0]["messages"] > 0


def test_a_signal_reaches_clients_that_are_processes():
    with server("A2", BYTES, "--seconds", 60) as a:
        with client(a, BYTES, 2, "--behaviours", "client-processes", "--json") as b:
            wait_until(lambda: len(children(b.process.pid)) == 2)
            took_s, (code, out, _) = b.interrupt(signal.SIGTERM)
        a.interrupt()
    assert code == 0 and took_s < 2 and '"stopped_by": 15' in out


@pytest.mark.parametrize("variant", ["A1", "A1-8send", "A2", "A3-unset"])
def test_memory_may_be_freed_at_once_when_the_kernel_has_copied_it(variant):
    for check in ("content", "none"):
        sent, got = totals(variant, 65536, "fresh-message,fresh-buffer", "--check", check)
        assert sent["accepted_bytes"] == got["received_bytes"] == MESSAGES * 65536
        assert got["content_errors"] == (0 if check == "content" else None)


@pytest.mark.parametrize("behaviours", ["fresh-message", "reuse-at-once"])
def test_memory_that_the_kernel_still_reads_arrives_wrong(behaviours):
    sent, got = totals("A3-unreaped", 65536, behaviours, messages=400)
    assert sent["accepted_bytes"] == got["received_bytes"] == 400 * 65536
    assert got["content_errors"] > 0


@pytest.mark.parametrize("receiver", ["recv", "perfield", "recvmsg"])
def test_a_fresh_buffer_takes_every_message(receiver):
    with server("A2", BYTES, "--clients", 1, "--messages", MESSAGES) as a:
        with client(a, BYTES, 1, "--receiver", receiver, "--behaviours", "fresh-buffer",
                    "--json") as b:
            got = b.totals()
    assert got["messages"] == MESSAGES and got["content_errors"] == 0


@records.needs_root
@pytest.mark.parametrize("words", [
    "A1 4093 9 --behaviours client-processes --messages 97",
    "A2 4093 3 --behaviours client-processes,fresh-buffer --receiver recvmsg --pattern rr "
    "--messages 97", "A3-unset 4093 2 --behaviours fresh-message --messages 97",
    "A3-unreaped 65536 2 --behaviours client-processes,reuse-at-once --messages 401"])
def test_laws_balance_whatever_the_behaviours(words):
    """Nine clients and a sender are more processes than the probes have room for by number."""
    record = records.run_record(*words.split())
    payload = record["experiment"]["workload"]["messages"] * record["experiment"]["workload"]["bytes"]
    copies = 2 if record["experiment"]["workload"]["pattern"] == "rr" else 1
    assert record["sites"]["rx_copy"]["bytes"] == copies * payload
    assert record["experiment"]["workload"]["behaviours"] == words.split()[4].split(",")
    assert {records.law(record, each)["status"] for each in
            ("receive", "end to end", "witness sent", "witness received")} == {"balanced"}


@pytest.mark.parametrize("words", [
    "server A1 64 --behaviours reuse-at-once", "server A3-unset 64 --behaviours end-on-enobufs",
    "server A3 64 --behaviours fresh-message", "server A3-reuse 64 --behaviours reuse-at-once",
    "server A3-unreaped 64 --behaviours end-on-enobufs,sleep-on-enobufs",
    "server A3-unreaped 64 --behaviours fresh-message,reuse-at-once",
    "client 64 1 --readers 2 --behaviours fresh-buffer", "client 64 1 --behaviours hurry",
    "client 64 1 --behaviours fresh-buffer,", "client 64 1 --behaviours"])
def test_behaviours_that_make_no_sense_are_one_line_and_exit_2(words):
    done = run_plain(*words.split())
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout
