# SPDX-License-Identifier: GPL-2.0
"""Who checks content, and what a run without checks says of it."""
from __future__ import annotations

import socket

import pytest

from helpers.records import law, needs_root, run_record
from helpers.workload import client, run_plain, server

MESSAGES, BYTES = 23, 4093


def received(*words):
    """The messages that a server sends to a peer that reads them all."""
    with server("A2", BYTES, "--clients", 1, "--messages", MESSAGES, "--json", *words) as it:
        with socket.create_connection(("127.0.0.1", it.port)) as peer, peer.makefile("rb") as stream:
            whole = stream.read()
            peer.shutdown(socket.SHUT_RDWR)
        it.totals()
    assert len(whole) == MESSAGES * BYTES
    return [whole[at:at + BYTES] for at in range(0, len(whole), BYTES)]


def test_a_checked_message_differs_from_the_one_before_it_and_an_unchecked_one_does_not():
    assert len(set(received())) == MESSAGES
    assert len(set(received("--check", "none"))) == 1
    assert received("--check", "none")[0] == received()[0]


def test_an_unchecked_pool_holds_different_messages():
    with server("A3", BYTES, "--clients", 1, "--messages", 2, "--check", "none") as it:
        with socket.create_connection(("127.0.0.1", it.port)) as peer, peer.makefile("rb") as stream:
            whole = stream.read()
    assert whole[:BYTES] != whole[BYTES:]


@pytest.mark.parametrize("pattern", ["stream", "rr"])
@pytest.mark.parametrize("variant", ["A1", "A3", "A3-unreaped"])
def test_totals_without_checks_are_whole_but_for_the_content(variant, pattern):
    words = ("--pattern", pattern, "--messages", MESSAGES, "--json", "--check", "none")
    with server(variant, BYTES, "--clients", 2, *words) as a, client(a, BYTES, 2, *words) as b:
        sent, got = a.totals(), b.totals()
    assert sent["accepted_bytes"] == got["received_bytes"] == MESSAGES * BYTES
    assert sent["gather_bytes"] == (MESSAGES * BYTES if variant == "A1" else 0)
    for each in (sent, got, *sent["connections"], *got["connections"]):
        assert each["content_errors"] is None and "--check none" in each["content_why"]


def test_an_unchecked_client_reads_no_byte_that_arrived():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with client_of(listener) as it:
            peer, _ = listener.accept()
            peer.sendall(b"x" * 2 * BYTES)
            peer.close()
            totals = it.totals()
    assert totals["messages"] == 2 and totals["content_errors"] is None


def client_of(listener):
    """A client that connects there and does not check."""
    class At:
        port = listener.getsockname()[1]
    return client(At, BYTES, 1, "--json", "--check", "none")


def test_a_check_that_there_is_not_is_refused():
    done = run_plain("client", BYTES, 1, "--check", "twice")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "--check" in done.stderr


@needs_root
@pytest.mark.parametrize("words, errors, status", [
    ((), 0, "balanced"), (("--no-probes",), None, "not testable"),
    (("--no-probes", "--verify"), 0, "balanced")])
def test_a_run_without_probes_says_that_it_checked_no_content(words, errors, status):
    record = run_record("A1-plain", BYTES, 1, "--messages", MESSAGES, *words)
    content = law(record, "content")
    assert record["experiment"]["workload"]["content_errors"] == errors
    assert content["status"] == status
    if errors is None:
        assert "--verify" in content["why"] and "content_errors" in record["experiment"]["workload"]["why"]
