# SPDX-License-Identifier: GPL-2.0
"""The load generator never hangs: peers vanish, people interrupt, input is wrong."""
import json
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from helpers.foreign import free_port
from helpers.processes import wait_until
from helpers.workload import (
    STOP_S,
    TIMEOUT_S,
    WORKLOAD,
    End,
    client,
    end,
    run_pair,
    run_plain,
    server,
)


@pytest.mark.parametrize("variant", ["A1", "A3", "A3-unreaped"])
def test_a_killed_client_ends_its_connection_and_is_counted(variant):
    with server(variant, 65536, "--clients", 2, "--seconds", 0.6, "--json") as a:
        with client(a, 65536, 1) as doomed, client(a, 65536, 1, "--json") as b:
            time.sleep(0.2)
            doomed.process.kill()
            totals = a.totals(code=1)
            assert b.totals()["content_errors"] == 0
    assert totals["peer_vanished"] == 1
    assert sorted(each["peer_vanished"] for each in totals["connections"]) == [0, 1]


def unread_bytes(port):
    """Bytes that wait in either queue of a server's connections on this machine."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(int(queued, 16) for line in lines if line[3] == "01" and
               f"{port:04X}" in (line[1][-4:], line[2][-4:]) for queued in line[4].split(":"))


@pytest.mark.parametrize("pattern", ["stream", "rr"])
def test_a_killed_server_is_a_failed_client(pattern):
    # No queue holds a whole message, so that what is left in them ends inside one.
    with server("A2", "64M", "--pattern", pattern, "--seconds", 9) as a:
        with client(a, "64M", 1, "--pattern", pattern, "--json",
                    *(("--seconds", 9) if pattern == "rr" else ())) as b:
            wait_until(lambda: unread_bytes(a.port))
            b.process.send_signal(signal.SIGSTOP)
            if pattern == "stream":
                wait_until(lambda: unread_bytes(a.port) > 1 << 20)
            a.process.kill()
            a.process.wait()
            b.process.send_signal(signal.SIGCONT)
            code, out, _ = b.finish(5)
    assert code == 1 and json.loads(out)["peer_vanished"] == 1


def test_a_stream_that_ends_inside_a_message_is_a_vanished_peer():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        it = End("client", 100, 1, "--port", listener.getsockname()[1], "--json")
        try:
            peer, _ = listener.accept()
            peer.sendall(b"x" * 150)
            peer.close()
            totals = it.totals(code=1)
        finally:
            it.close()
    assert totals["messages"] == 1 and totals["received_bytes"] == 150
    assert totals["peer_vanished"] == 1
    assert totals["content_errors"] > 90


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("variant", ["A1", "A3", "A3-unreaped"])
def test_a_signal_ends_both_ends_and_prints_totals(variant, number):
    with server(variant, 65536, "--seconds", 60) as a, client(a, 65536, 2) as b:
        time.sleep(0.15)
        b_took, (_, b_out, _) = b.interrupt(number)
        a_took, (a_code, a_out, a_err) = a.interrupt(number)
    assert a_took < STOP_S and b_took < STOP_S
    assert a_code == 0 and a_err == ""
    assert "throughput" in a_out and "Gbit/s" in b_out


def test_a_signal_ends_an_idle_server_and_a_stalled_one():
    with server("A3", 65536, "--seconds", 60, "--json") as a:
        took, (code, out, _) = a.interrupt()
        assert took < STOP_S and code == 0
        assert json.loads(out)["elapsed_ns"] is None
    with server("A3", 65536, "--seconds", 60, "--json") as a:
        with socket.create_connection(("127.0.0.1", a.port)):
            time.sleep(0.3)
            took, (code, out, _) = a.interrupt()
    assert took < STOP_S and code == 0
    assert json.loads(out)["accepted_bytes"] > 0


def test_nothing_happens_before_go():
    with server("A2", 64, "--clients", 1, "--messages", 1, "--json", go=False) as a:
        with client(a, 64, 1, "--json", go=False) as b:
            time.sleep(0.1)
            for waiting in a, b:
                pid = waiting.process.pid
                assert os.listdir(f"/proc/{pid}/task") == [str(pid)]
            sockets = [os.readlink(entry) for entry in Path(f"/proc/{b.process.pid}/fd").iterdir()]
            assert not [name for name in sockets if name.startswith("socket:")]
            a.go()
            b.go()
            assert a.totals()["messages"] == b.totals()["messages"] == 1


def test_a_parent_that_gives_up_ends_both_ends():
    for words in ("server", "A2", 64, "--port", 0), ("client", 64, 1):
        result = run_plain(*words, "--go-fd", 0, stdin=subprocess.DEVNULL)
        assert result.returncode == 1 and len(result.stderr.splitlines()) == 1


def test_by_hand_a_server_and_a_client_tell_throughput_and_latency():
    with server("A3", "64k", "--seconds", 0.3) as a:
        with client(a, "64k", 2) as b:
            code, out, err = b.finish()
        assert (code, err) == (0, "")
        assert re.search(r"^throughput +[\d.]+ Gbit/s", out, re.M)
        assert re.search(r"^latency +mean [\d.]+ us, p50 [\d.]+ us, p99 [\d.]+ us", out, re.M)
        assert "content errors  0" in out
        _, (code, out, _) = a.interrupt()
    assert code == 0
    assert re.search(r"^completions +(\d+) of \1 zero-copy sends, \d+ said COPIED", out, re.M)


def test_by_hand_a_client_may_leave_early():
    with server("A2", "64k", "--seconds", 30, "--json") as a:
        with client(a, "64k", 1, "--seconds", 0.2, "--json") as b:
            totals = b.totals()
        assert totals["messages"] > 0 and totals["peer_vanished"] == 0
        assert 0.1e9 < totals["elapsed_ns"] < 10e9
        time.sleep(0.05)
        _, (code, out, _) = a.interrupt()
    assert code == 0 and json.loads(out)["peer_vanished"] == 1


def test_one_client_too_many_is_closed_at_once_and_counted():
    with server("A2", 64, "--seconds", 30, "--max-clients", 1, "--json") as a:
        with socket.create_connection(("127.0.0.1", a.port)):
            with socket.create_connection(("127.0.0.1", a.port), timeout=5) as refused:
                assert refused.recv(1) == b""
            _, (code, out, _) = a.interrupt()
    assert code == 0
    assert json.loads(out)["refused_clients"] == 1
    assert len(json.loads(out)["connections"]) == 1


def test_a_server_told_whom_to_serve_closes_everyone_else():
    with server("A2", 64, "--messages", 5, "--clients", 1, "--from", "127.0.0.2", "--json") as a:
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", a.port), timeout=5) as refused:
                assert refused.recv(1) == b""
        with socket.create_connection(("127.0.0.1", a.port), timeout=5,
                                      source_address=("127.0.0.2", 0)) as right:
            # A timeout makes the socket non-blocking, where MSG_WAITALL waits for nothing.
            assert len(right.makefile("rb").read(320)) == 320
        totals = a.totals()
    assert (totals["messages"], totals["refused_clients"], len(totals["connections"])) == (5, 3, 1)


def test_a_place_is_free_again_when_a_client_has_left():
    with server("A2", 64, "--messages", 5, "--max-clients", 1, "--json") as a:
        for _ in range(3):
            with client(a, 64, 1, "--json") as b:
                assert b.totals()["messages"] == 5
            time.sleep(0.5)
        _, (code, out, _) = a.interrupt()
    assert code == 0
    assert (json.loads(out)["messages"], json.loads(out)["refused_clients"]) == (15, 0)


def test_a_client_waits_for_its_server():
    port = free_port()
    early = End("client", 64, 1, "--port", port, "--json")
    try:
        time.sleep(0.2)
        with end("server", "A2", 64, "--port", port, "--clients", 1, "--messages", 3):
            assert early.totals()["messages"] == 3
    finally:
        early.close()


def test_ipv6_works():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            pass
    except OSError as error:
        pytest.skip(f"no IPv6 loopback: {error}")
    shared = ("--messages", 23, "--json")
    with server("A3", 4093, "--listen", "::1", "--clients", 1, *shared) as a:
        with client(a, 4093, 1, "--connect", "::1") as b:
            totals = a.totals()
            assert b.finish()[0] == 0
    assert totals["completions"] == totals["zerocopy_sends"] == 23
    assert totals["connections"][0]["local"] == f"[::1]:{a.port}"


def test_latency_is_a_round_trip_or_an_interval():
    _, b = run_pair("A2", 64, 1, "rr", "recv", 100)
    assert b["latency_ns"]["what"] == "round trip" and b["latency_ns"]["samples"] == 100
    a, b = run_pair("A2", 64, 1, "stream", "recv", 100)
    assert b["latency_ns"]["what"] == "interval between whole messages"
    assert b["latency_ns"]["samples"] == 99
    assert a["latency_ns"] is None and a["latency_why"]


@pytest.mark.parametrize("words", [
    "", "peer", "server", "server A2", "client 64", "server A9 64", "server A2 7",
    "server A2 0", "server A2 -64", "server A2 65M", "server A2 64x", "server A2 1e3",
    "server A2 99999999999999999999", "server A2 18014398509481985k", "server A2 64 4",
    "client A2 64 1", "client 64 0", "client 64 1025", "client 64 -1", "client 64 1 --port 0",
    "client 64 1 --port 65536", "client 64 1 --connect nowhere", "server A2 64 --listen 1.2.3",
    "client 64 1 --receiver read", "client 64 1 --pattern mesh", "server A2 64 --messages 0",
    "server A2 64 --messages 5 --seconds 1", "server A2 64 --seconds 0",
    "server A2 64 --seconds nan", "server A2 64 --seconds 0x1", "server A2 64 --seconds 1e9",
    "server A2 64 --seconds -1", "server A2 64 --clients 0", "server A2 64 --max-clients 0",
    "server A2 64 --clients 3 --max-clients 2", "server A2 64 --ready-fd 99",
    "server A2 64 --go-fd x", "server A2 64 --receiver recv", "client 64 1 --clients 1",
    "server A2 64 --frobnicate", "server A2 64 --port",
])
def test_bad_input_is_one_line_and_exit_2(words):
    result = run_plain(*words.split())
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1 and result.stdout == ""


def test_what_the_system_refuses_is_one_line_and_exit_1():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run_plain("server", "A2", 64, "--port", port)
        assert result.returncode == 1 and len(result.stderr.splitlines()) == 1
        assert "--port" in result.stderr
    result = run_plain("client", 64, 1, "--port", port, "--seconds", 1)
    assert result.returncode == 1 and len(result.stderr.splitlines()) == 1


def test_totals_that_cannot_be_written_are_an_error():
    with open("/dev/full", "w", encoding="ascii") as full:
        it = subprocess.run(
            [WORKLOAD, "client", "64", "1", "--connect", "127.0.0.1", "--port", "1"],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=False)
    assert it.returncode == 1 and "stdout" in it.stderr
