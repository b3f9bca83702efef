# SPDX-License-Identifier: GPL-2.0
"""How a window begins and ends: namespaces, kills, many sockets, many short connections."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from copyscope.records.documents import MOST_BYTES
from helpers import small_pipe
from helpers.patience import Stopwatch
from helpers.records import needs_root
from helpers.windows import WATCH, Traffic, Watching, laws_of, unbalanced

pytestmark = needs_root


def test_a_target_that_is_killed_ends_the_window():
    with Traffic("copy") as traffic:
        watching = Watching("-p", traffic.pid)
        time.sleep(0.1)
        traffic.process.send_signal(signal.SIGKILL)
        record = watching.records()[-1]
    assert record["total"]["counts"]["accepted_bytes"] > 0
    assert [each["ended"] for each in record["processes"] if each["pid"] == traffic.pid] == [True]
    assert not unbalanced(record)


def test_a_process_that_does_not_exist_is_named():
    done = subprocess.run([WATCH, "-p", "4194303"], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "4194303" in done.stderr and done.stderr.count("\n") == 1


def test_a_signal_while_the_record_is_written_does_not_cut_it():
    watching = Watching("-p", os.getpid())
    process = watching.process
    small_pipe.shrink(process.stdout)
    process.send_signal(signal.SIGINT)
    small_pipe.wait_until_full(process.stdout)
    record = watching.close()
    assert record["schema"] == "copyscope.record/4"


SHORT = """
import socket, sys, threading
count = int(sys.argv[1])
listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
print("ready", flush=True); sys.stdin.readline()
def serve():
    for _ in range(count):
        s, _ = listener.accept()
        while s.recv(4096): pass
        s.close()
t = threading.Thread(target=serve); t.start()
for i in range(count):
    c = socket.create_connection(listener.getsockname()); c.send(bytes(100 + i % 7)); c.close()
t.join()
print(sum(100 + i % 7 for i in range(count)), flush=True); sys.stdin.readline()
"""


ATTEMPTS = 4


def watch_short(count: int, user: list[str], start: list[str], *options: str) -> tuple[int, dict]:
    """Watch a program of many short connections; the bytes that it sent, and the record."""
    with subprocess.Popen([*user, sys.executable, "-c", SHORT, str(count)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as program:
        program.stdout.readline()
        watching = Watching("-p", program.pid, *options, start=start)
        print(file=program.stdin, flush=True)
        total = int(program.stdout.readline())
        time.sleep(0.2)
        record = watching.close()
        program.communicate("\n")
    return total, record


def whole_short(count: int, user: list[str], start: list[str]) -> dict:
    """The record of a watch that saw each of the connections, whose bytes must be those of the program."""
    for _ in range(ATTEMPTS):
        total, record = watch_short(count, user, start)
        if laws_of(record)["probes"] != "not testable":
            break
    else:
        pytest.skip(next(law["why"] for law in record["laws"] if law["law"] == "probes"))
    counts = record["total"]["counts"]
    assert (counts["accepted_bytes"], counts["returned_bytes"]) == (total, total)
    assert laws_of(record)["probes"] == "balanced" and not unbalanced(record)
    return record


def test_of_many_short_connections_none_is_lost():
    count = 10_000
    record = whole_short(count, [], [])
    assert record["total"]["died"] == 2 * count and record["losses"]["lost_events"] == 0


RESET = """
import socket, struct, sys
listener = socket.create_server(("127.0.0.1", 0), backlog=8)
def connections(count):
    for _ in range(count):
        one = socket.create_connection(listener.getsockname()); other = listener.accept()[0]
        one.send(b"x"); one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); one.close(); other.close()
for line in sys.stdin:
    connections(int(line)); print(line, flush=True)
"""
# Of the ring of ends, and of the table beside it (DEATHS_BYTES and DEATHS_BESIDE_MAX in bpf/include/book.bpf.h).
ROOM, BOOKS_OF_RING = 32768, (500, 1200)


@pytest.mark.parametrize("most_lost, count", [(0, ROOM // 2), (BOOKS_OF_RING[1], (ROOM + BOOKS_OF_RING[1]) // 2)])
def test_ends_wait_for_a_watch_that_does_not_run_and_those_beyond_their_room_are_told(most_lost, count):
    """As beside programs that make short connections as fast as they can, on a machine that leaves the watch no processor."""
    with subprocess.Popen([sys.executable, "-c", RESET], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        watching = Watching("-p", program.pid)
        os.kill(watching.process.pid, signal.SIGSTOP)
        print(count, file=program.stdin, flush=True)
        program.stdout.readline()
        os.kill(watching.process.pid, signal.SIGCONT)
        record = watching.close(statuses=(1,) if most_lost else (0,))
        program.communicate()
    lost = record["losses"]["lost_events"]
    assert (most_lost and most_lost - BOOKS_OF_RING[1]) <= lost <= most_lost and record["total"]["died"] == 2 * count - lost
    if most_lost:
        assert lost and f"{lost} ends of sockets found no room" in record["losses"]["sums_short"]


@pytest.mark.parametrize("fault", ["skip-ends", "skip-births"])
def test_sockets_that_no_program_saw_begin_or_end_are_noticed(fault):
    total, record = watch_short(100, [], [], "--break", fault)
    assert total and record["total"]["counts"]["accepted_bytes"] == 0
    # Each connection has two sockets.
    assert record["losses"]["unseen_events"] >= 200
    assert laws_of(record)["probes"] == "not testable"


HELD = """
import socket, struct, sys
listener = socket.create_server(("127.0.0.1", 0))
held = []
print("ready", flush=True); sys.stdin.readline()
for _ in range(int(sys.argv[1])):
    one = socket.create_connection(listener.getsockname()); held.append(listener.accept()[0])
    one.send(b"x"); held[-1].recv(1)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); one.close()
print("done", flush=True); sys.stdin.readline()
"""


def test_sockets_that_no_program_saw_begin_and_that_are_held_after_a_reset_are_noticed():
    """They lie in no table of sockets, and do not end."""
    count = 100
    with subprocess.Popen([sys.executable, "-c", HELD, str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as program:
        program.stdout.readline()
        watching = Watching("-p", program.pid, "--break", "skip-births")
        print(file=program.stdin, flush=True)
        program.stdout.readline()
        record = watching.close()
        program.communicate("\n")
    # Those that were reset, and those that did it.
    assert record["losses"]["unseen_events"] >= 2 * count
    assert laws_of(record)["probes"] == "not testable"


COME_AND_GO = """
import socket
listener = socket.create_server(("127.0.0.1", 0), backlog=128)
while True:
    pairs = []
    for _ in range(60):
        pairs += [socket.create_connection(listener.getsockname()), listener.accept()[0]]
    for each in pairs: each.close()
"""


def test_sockets_that_are_held_after_a_reset_are_told_while_others_come_and_go():
    """The kernel misses some of them in a walk, as others leave the table of books."""
    count, readings = 400, 12
    others = [subprocess.Popen([sys.executable, "-c", COME_AND_GO]) for _ in range(2)]
    try:
        with subprocess.Popen([sys.executable, "-c", HELD, str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as program:
            program.stdout.readline()
            print(file=program.stdin, flush=True)
            program.stdout.readline()
            for _ in range(readings):
                record = Watching("-p", program.pid).close()
                assert len(record["sockets"]) == count or laws_of(record)["probes"] == "not testable"
            program.communicate("\n")
    finally:
        for each in others:
            each.kill()
            each.wait()


def test_a_move_to_close_that_no_program_saw_is_noticed_and_no_fin_counts_as_payload():
    count = 100
    total, record = watch_short(count, [], [], "--break", "skip-closes")
    assert (record["total"]["counts"]["accepted_bytes"], record["total"]["counts"]["returned_bytes"]) == (total, total)
    assert record["losses"]["unseen_events"] >= 2 * count
    assert laws_of(record)["probes"] == "not testable" and not unbalanced(record)


ANEW = """
import ctypes, socket, sys
listener = socket.create_server(("127.0.0.1", 0))
a = socket.socket()
print("ready", flush=True); sys.stdin.readline()
for size in (40_000, 3):
    a.connect(listener.getsockname())
    b = listener.accept()[0]
    a.sendall(bytes(size))
    while size: size -= len(b.recv(size))
    ctypes.CDLL(None).connect(a.fileno(), bytes(16), 16)
    b.close()
print("done", flush=True); sys.stdin.readline()
"""


@pytest.mark.parametrize("fault", ["skip-starts", "skip-closes"])
def test_a_socket_that_connects_anew_unseen_is_counted_whole_or_not_at_all(fault):
    with subprocess.Popen([sys.executable, "-c", ANEW], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as program:
        program.stdout.readline()
        watching = Watching("-p", program.pid, "--break", fault)
        print(file=program.stdin, flush=True)
        program.stdout.readline()
        record = watching.close()
        program.communicate("\n")
    counts, sites = record["total"]["counts"], record["sites"]
    assert not unbalanced(record)
    if fault == "skip-starts":
        assert (counts["accepted_bytes"], sites["tx_copy"]["bytes"]) == (40_003, 40_003)
        assert record["losses"]["unseen_events"] == 0
    else:
        assert (counts["accepted_bytes"], sites["tx_copy"]["bytes"]) == (None, None)
        assert "no program saw that a socket closed" in sites["tx_copy"]["why"]
        assert record["losses"]["unseen_events"]


MANY = """
import resource, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (20000, 20000))
listener = socket.create_server(("127.0.0.1", 0), backlog=128)
pairs = []
for _ in range(5000):
    a = socket.create_connection(listener.getsockname()); pairs.append((a, listener.accept()[0]))
print("ready", flush=True); sys.stdin.readline()
for a, b in pairs[:1000]:
    a.send(bytes(1000)); b.recv(600)
print("done", flush=True); sys.stdin.readline()
"""


def test_ten_thousand_open_sockets():
    with subprocess.Popen([sys.executable, "-c", MANY], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline()
        opening = Stopwatch()
        watching = Watching("-p", program.pid)
        opening_s = opening.seconds()
        print(file=program.stdin, flush=True)
        program.stdout.readline()
        record = watching.close()
        program.communicate("\n")
    counts = record["total"]["counts"]
    assert record["total"]["sockets"] == 10_000 and record["losses"]["unbooked_sockets"] == 0
    assert (counts["accepted_bytes"], counts["returned_bytes"]) == (1_000_000, 600_000)
    assert record["total"]["closing"]["unread_bytes"] == 400_000
    assert not unbalanced(record) and opening_s < 10
    # Readers take a record of four times as many, each the only one of a process.
    socket, process = (max(len(json.dumps(each, separators=(",", ":"))) for each in record[key]) for key in ("sockets", "processes"))
    assert 40_000 * (socket + process) < MOST_BYTES


def test_a_user_with_two_capabilities_watches_his_own():
    nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    watch_short(50, nobody, [*nobody, "--inh-caps", "+bpf,+perfmon", "--ambient-caps",
                             "+bpf,+perfmon"])
