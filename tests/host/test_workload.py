# SPDX-License-Identifier: GPL-2.0
"""The load generator moves exactly the bytes it says, checks them, and never hangs."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKLOAD = ROOT / "build" / "workload"
VARIANTS = ["A1", "A1-plain", "A1-8send", "A2", "A3", "A3-aligned", "A3-unset", "A3-unreaped",
            "A3-reuse"]
RIGHT_VARIANTS = [name for name in VARIANTS if name != "A3-reuse"]
RECEIVERS = ["recv", "perfield", "recvmsg"]
TIMEOUT_S = 20
# The promise is 200 ms; the rest is for a machine whose two processors are busy.
STOP_S = 1.5


class End:
    """One end of a run: a process that has said "ready PORT"."""

    def __init__(self, *words, prefix=(), program=WORKLOAD, go=True):
        ready_read, ready_write = os.pipe()
        go_read, self.go_fd = os.pipe()
        command = [*prefix, program, *words, "--ready-fd", ready_write, "--go-fd", go_read]
        self.process = subprocess.Popen(
            [str(word) for word in command], pass_fds=(ready_write, go_read),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        os.close(ready_write)
        os.close(go_read)
        with os.fdopen(ready_read) as ready:
            line = ready.readline()
        self.port = int(line.split()[1]) if line else None
        if go:
            self.go()

    def go(self):
        os.write(self.go_fd, b"g")

    def finish(self, timeout_s=TIMEOUT_S):
        """Returns exit code, stdout, stderr."""
        out, err = self.process.communicate(timeout=timeout_s)
        return self.process.returncode, out, err

    def totals(self, code=0):
        got, out, err = self.finish()
        assert got == code, err
        return json.loads(out)

    def interrupt(self, number=signal.SIGINT):
        """Returns the seconds it took to end, and finish()'s result."""
        started = time.monotonic()
        self.process.send_signal(number)
        result = self.finish(STOP_S + 5)
        return time.monotonic() - started, result

    def close(self):
        os.close(self.go_fd)
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@contextmanager
def end(*words, **options):
    it = End(*words, **options)
    try:
        yield it
    finally:
        it.close()


@contextmanager
def server(variant, size, *words, **options):
    with end("server", variant, size, "--port", 0, *words, **options) as it:
        yield it


@contextmanager
def client(at, size, threads, *words, **options):
    with end("client", size, threads, "--port", at.port, *words, **options) as it:
        yield it


def run_pair(variant, size, threads, pattern, receiver, messages, server_options=None):
    """Returns the totals of server and client after a run in which nothing may fail."""
    shared = ("--pattern", pattern, "--messages", messages, "--json")
    with server(variant, size, "--clients", threads, *shared, **(server_options or {})) as a:
        with client(a, size, threads, "--receiver", receiver, *shared) as b:
            return a.totals(), b.totals()


def run_plain(*words, **options):
    return subprocess.run([WORKLOAD, *map(str, words)], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False, **options)


# What travels

@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("receiver", RECEIVERS)
@pytest.mark.parametrize("pattern", ["stream", "rr"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_23_messages_of_4093_bytes_are_94139(variant, pattern, receiver, threads):
    a, b = run_pair(variant, 4093, threads, pattern, receiver, 23)
    assert a["messages"] == b["messages"] == 23
    assert a["accepted_bytes"] == b["received_bytes"] == 94139
    assert b["accepted_bytes"] == a["received_bytes"] == (94139 if pattern == "rr" else 0)
    assert a["gather_bytes"] == (94139 if variant == "A1" else 0)
    assert a["content_errors"] == 0 and a["peer_vanished"] == b["peer_vanished"] == 0
    if variant != "A3-reuse":
        assert b["content_errors"] == 0


def test_messages_are_a_total_that_connections_share():
    a, b = run_pair("A2", 4093, 4, "stream", "recv", 23)
    assert [each["messages"] for each in a["connections"]] == [6, 6, 6, 5]
    assert [each["messages"] for each in b["connections"]] == [6, 6, 6, 5]
    a, b = run_pair("A2", 64, 4, "rr", "recv", 3)
    assert [each["messages"] for each in b["connections"]] == [1, 1, 1, 0]


@pytest.mark.parametrize("size", [8, 9, 63, 65536, 65543, "1M", "3M"])
@pytest.mark.parametrize("variant", ["A1", "A2", "A3", "A3-unreaped"])
def test_any_size_arrives_whole(variant, size):
    a, b = run_pair(variant, size, 1, "stream", "recvmsg", 7)
    assert a["accepted_bytes"] == b["received_bytes"] == 7 * a["bytes"]
    assert b["content_errors"] == 0


def test_calls_have_the_shape_of_the_variant():
    calls = {variant: run_pair(variant, 4093, 1, "rr", "perfield", 23) for variant in VARIANTS}
    for variant, (a, b) in calls.items():
        assert a["send_calls"] == (8 * 23 if variant == "A1-8send" else 23), variant
        assert b["recv_calls"] >= 8 * 23


def test_ends_name_the_same_connections():
    a, b = run_pair("A2", 64, 3, "stream", "recv", 3)
    assert [each["remote"] for each in a["connections"]] == \
           [each["local"] for each in b["connections"]]
    cookies = [each["cookie"] for each in a["connections"] + b["connections"]]
    assert len(set(cookies)) == 6 and all(int(cookie) > 0 for cookie in cookies)


def test_a1_offers_a_probe_where_it_gathers():
    notes = subprocess.run(["readelf", "-n", WORKLOAD], capture_output=True, text=True,
                           timeout=TIMEOUT_S, check=True).stdout
    assert re.search(r"Provider: copyscope\s+Name: gather", notes)


# Zero copy

@pytest.mark.parametrize("variant", ["A3", "A3-aligned", "A3-reuse"])
def test_every_zerocopy_send_completes_once(variant):
    a, _ = run_pair(variant, 65536, 2, "stream", "recv", 500)
    assert a["zerocopy_sends"] == a["completions"] >= 500
    assert a["completion_errors"] == 0


def test_without_so_zerocopy_nothing_completes():
    a, _ = run_pair("A3-unset", 65536, 1, "stream", "recv", 50)
    assert a["zerocopy_sends"] == a["completions"] == a["completions_copied"] == 0


def test_unread_completions_are_null_with_a_reason():
    a, b = run_pair("A3-unreaped", 65536, 1, "stream", "recv", 300)
    assert a["zerocopy_sends"] >= 300
    assert a["completions"] is None and "never reads" in a["completions_why"]
    assert a["connections"][0]["completions"] is None
    assert b["content_errors"] == 0


@pytest.mark.parametrize("pattern", ["stream", "rr"])
def test_a_reused_buffer_is_caught_by_the_content_check(pattern):
    _, b = run_pair("A3-reuse", "1M", 1, pattern, "recv", 40)
    assert b["received_bytes"] == 40 << 20
    assert b["content_errors"] > 0


@pytest.mark.parametrize("variant", RIGHT_VARIANTS)
def test_a_peer_that_pauses_costs_nothing_but_time(variant):
    # Longer than the time-outs of blocking calls, with buffers full: partial sends.
    shared = ("--messages", 24, "--json")
    with server(variant, "1M", "--clients", 1, *shared) as a:
        with client(a, "1M", 1, *shared, go=False) as b:
            b.go()
            time.sleep(0.01)
            b.process.send_signal(signal.SIGSTOP)
            time.sleep(0.25)
            b.process.send_signal(signal.SIGCONT)
            sent, received = a.totals(), b.totals()
    assert sent["accepted_bytes"] == received["received_bytes"] == 24 << 20
    assert received["content_errors"] == 0


@pytest.fixture(name="unprivileged")
def fixture_unprivileged():
    """Returns a function from a memlock limit to what makes End run under it."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become a user without CAP_IPC_LOCK")
    # The checkout may lie where other users cannot go. The limit is per user: take a lone one.
    folder = tempfile.mkdtemp(prefix="workload-")
    os.chmod(folder, 0o755)
    program = shutil.copy(WORKLOAD, folder)
    user = 100000 + os.getpid() % 100000

    def options(memlock_bytes):
        return {"program": program, "prefix": (
            "prlimit", f"--memlock={memlock_bytes}:{memlock_bytes}",
            "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups")}
    yield options
    shutil.rmtree(folder)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("variant", ["A3", "A3-aligned", "A3-unreaped"])
def test_enobufs_is_counted_and_loses_no_data(unprivileged, variant, threads):
    # Room for one send of 65,536 bytes (18 pages by the kernel's reckoning), not for two.
    a, b = run_pair(variant, 65536, threads, "stream", "recv", 200, unprivileged(32 * 4096))
    assert a["enobufs"] > 0
    assert a["accepted_bytes"] == b["received_bytes"] == 200 * 65536
    assert a["content_errors"] == b["content_errors"] == 0


@pytest.mark.parametrize("variant", ["A3", "A3-unreaped"])
def test_a_limit_below_one_send_is_an_error_not_a_hang(unprivileged, variant):
    with server(variant, 65536, "--clients", 2, "--messages", 9, **unprivileged(8 * 4096)) as a:
        with client(a, 65536, 2) as b:
            code, out, err = a.finish(5)
            b.finish(5)
    assert code == 1
    assert len(err.splitlines()) == 1
    assert "RLIMIT_MEMLOCK" in err and "net.core.optmem_max" in err
    assert "messages        0" in out


COMPLETIONS_TEST = r"""
#include <assert.h>
#include "userspace/workload/completions.h"

int main(void)
{
	struct completions c = { .frontier = 0xfffffff0ull };
	uint64_t sends = 0x100000010ull;

	assert(completions_mark(&c, sends, 0xfffffff0, 0xfffffff3) == 4);
	assert(c.frontier == 0xfffffff4);
	assert(completions_mark(&c, sends, 0xfffffff3, 0xfffffff3) == 0); /* twice */
	assert(completions_mark(&c, sends, 0xfffffff8, 2) == 11);         /* early, over the wrap */
	assert(c.frontier == 0xfffffff4);
	assert(completions_mark(&c, sends, 1, 1) == 0);                   /* twice, early */
	assert(completions_mark(&c, sends, 0xfffffff4, 0xfffffff7) == 4); /* closes the gap */
	assert(c.frontier == 0x100000003ull);
	assert(completions_mark(&c, sends, 3, 0x10) == 0);                /* 0x10 was not sent */
	assert(completions_mark(&c, sends, 3, 0xf) == 13);
	assert(c.frontier == sends && c.n_early == 0);
	return 0;
}
"""


def test_completion_ids_wrap_and_come_early_but_never_twice(tmp_path):
    source, program = tmp_path / "marks.c", tmp_path / "marks"
    source.write_text(COMPLETIONS_TEST)
    parts = [ROOT / "userspace" / "workload" / name for name in
             ("completions.c", "fail.c", "stop.c")]
    subprocess.run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", f"-I{ROOT}", source, *parts, "-o",
                    program], check=True, timeout=TIMEOUT_S)
    assert subprocess.run([program], timeout=TIMEOUT_S, check=False).returncode == 0


# Peers and people

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


@pytest.mark.parametrize("pattern", ["stream", "rr"])
def test_a_killed_server_is_a_failed_client(pattern):
    with server("A2", "1M", "--pattern", pattern, "--seconds", 9) as a:
        with client(a, "1M", 1, "--pattern", pattern, "--json",
                    *(("--seconds", 9) if pattern == "rr" else ())) as b:
            time.sleep(0.2)
            b.process.send_signal(signal.SIGSTOP)
            time.sleep(0.05)
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
        assert 0.1e9 < totals["elapsed_ns"] < 1e9
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


def test_a_place_is_free_again_when_a_client_has_left():
    with server("A2", 64, "--messages", 5, "--max-clients", 1, "--json") as a:
        for _ in range(3):
            with client(a, 64, 1, "--json") as b:
                assert b.totals()["messages"] == 5
            time.sleep(0.1)
        _, (code, out, _) = a.interrupt()
    assert code == 0
    assert (json.loads(out)["messages"], json.loads(out)["refused_clients"]) == (15, 0)


def test_a_client_waits_for_its_server():
    with socket.socket() as reserve:
        reserve.bind(("127.0.0.1", 0))
        port = reserve.getsockname()[1]
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
