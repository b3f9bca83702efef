# SPDX-License-Identifier: GPL-2.0
"""How long the pages of zero-copy sends were held is what the program did with them."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers import watch_tool
from helpers.records import needs_root

pytestmark = needs_root
MS = 1_000_000
PAUSE_MS = 100
BEGIN = f"""
import socket, time
server = socket.create_server(("127.0.0.1", 0))
a = socket.create_connection(server.getsockname()); b, _ = server.accept()
a.setsockopt(socket.SOL_SOCKET, 60, 1)
def take(count):
    while count: count -= len(b.recv(count))
def pause(): time.sleep({PAUSE_MS / 1000})
def told():
    try: a.recvmsg(0, 512, 0x2000 | socket.MSG_DONTWAIT)
    except BlockingIOError: return False
    return True
def fill(flags=0):
    sent, a_try = 0, bytes(94_139)
    try:
        while True: sent += a.send(a_try, flags | socket.MSG_DONTWAIT)
    except BlockingIOError: return sent
def refused():
    try: a.send(bytes(4_093), 0x4000000 | socket.MSG_DONTWAIT)
    except BlockingIOError: return
    raise SystemExit("it was not full")
"""
READS_LATE = BEGIN + """
for _ in range(7): a.send(bytes(4_093), 0x4000000); take(4_093); pause(); assert told()
"""
NEVER_READS = BEGIN + """
for _ in range(7): a.send(bytes(4_093), 0x4000000); take(4_093)
"""
# Nobody takes what is sent until a pause is over.
WAITS = BEGIN + """
sent = fill(0x4000000); pause(); take(sent)
while not told(): pass
"""
# A send that fails gives its number to the next one, which is held for its own time.
FAILS = BEGIN + """
sent = fill()
for _ in range(5): refused()
pause(); take(sent); a.send(bytes(4_093), 0x4000000); take(4_093)
while not told(): pass
"""
CLOSES = BEGIN + """
fill(0x4000000); pause(); a.close(); b.close()
"""


def holds(folder, program: str) -> dict:
    """What a watch says of the only process."""
    file = folder / "record.json"
    done = watch_tool.watch("--sizes", "--json", file, "--", sys.executable, "-c", program)
    assert done.returncode == 0, done.stderr
    record = watch_tool.record_of(file)
    found, = (each["holds"] for each in record["processes"] if each["holds"])
    sends = sum(bucket["calls"] for each in record["processes"] for way in each["sizes"]
                if way["way"] == "zerocopy" for bucket in way["buckets"])
    for times in (found["notified"], found["read"]):
        assert sum(bucket["sends"] for bucket in times["buckets"]) == times["sends"]
        for name in ("median", "p99"):
            assert not times["sends"] or times[name]["from_ns"] <= times["longest_ns"]
    assert sum(found["ended_by"].values()) + found["outstanding"] + found["untimed_sends"] == sends
    assert found["untimed_sends"] == 0
    return found | {"made": sends}


def test_a_late_copy_ends_a_hold_long_before_the_program_reads_of_it(tmp_path):
    found = holds(tmp_path, READS_LATE)
    assert found["ended_by"] == {"acknowledgment": 0, "copy": 7, "close": 0, "untold": 0}
    assert found["notified"]["sends"] == found["read"]["sends"] == 7
    assert found["notified"]["median"]["below_ns"] < PAUSE_MS * MS
    assert found["read"]["shortest_ns"] >= PAUSE_MS * MS
    assert found["outstanding_most"] == 1


def test_a_program_that_never_reads_its_error_queue_has_no_times_of_that(tmp_path):
    found = holds(tmp_path, NEVER_READS)
    assert found["notified"]["sends"] == 7 and found["read"]["sends"] == 0
    assert found["read"]["shortest_ns"] is found["read"]["median"] is None


def test_what_waits_for_the_receiver_is_held_until_it_takes(tmp_path):
    found = holds(tmp_path, WAITS)
    assert found["notified"]["longest_ns"] >= PAUSE_MS * MS and 1 < found["outstanding_most"] <= found["made"]
    assert found["outstanding"] == found["ended_by"]["close"] == 0


def test_a_send_that_failed_is_not_held(tmp_path):
    found = holds(tmp_path, FAILS)
    assert found["made"] == found["notified"]["sends"] == 1
    assert found["notified"]["longest_ns"] < PAUSE_MS * MS and found["outstanding_most"] == 1


def test_a_socket_that_ends_ends_its_holds(tmp_path):
    found = holds(tmp_path, CLOSES)
    assert found["ended_by"]["close"] > 0 and found["outstanding"] == 0
    assert found["notified"]["sends"] == found["ended_by"]["copy"]


@pytest.mark.parametrize("program", ["import socket", "print()"])
def test_a_program_without_zero_copy_has_none(tmp_path, program):
    file = tmp_path / "record.json"
    assert watch_tool.watch("--sizes", "--json", file, "--", sys.executable, "-c", program).returncode == 0
    assert all(each["holds"] is None for each in watch_tool.record_of(file)["processes"])


# Sends of io_uring, by tests/odd: bytes in a queue that the receiver's small buffer keeps there until it takes them.
TESTS = Path(__file__).resolve().parents[1]
BY_RING = BEGIN + f"""
import sys; sys.path.insert(0, {str(TESTS)!r})
from odd.uring import IS_NOTIFICATION, REPORT_USAGE, SEND_ZC, Ring
ring, notified = Ring(), 0
def send(size, options=0):
    global notified
    ring.prepare(a, SEND_ZC, size, 0, options); ring.enter(1, 1); look()
def look():
    global notified
    notified += sum(1 for _, flags in ring.completions() if flags & IS_NOTIFICATION)
def all_told(count):
    while notified < count: ring.enter(0, 1); look()
"""
RING_TOLD = BY_RING + """
for turn in range(7): send(4_093, REPORT_USAGE); take(4_093); all_told(turn + 1)
"""
RING_UNTOLD = RING_TOLD.replace("REPORT_USAGE)", "0)")
RING_WAITS = BY_RING + """
b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
for _ in range(10): send(20_000, REPORT_USAGE)
pause(); take(200_000); all_told(10)
"""


def test_sends_by_a_ring_are_timed_until_their_notification(tmp_path):
    found = holds(tmp_path, RING_TOLD)
    assert found["made"] == found["notified"]["sends"] == found["by_ring"] == 7 and not found["rings_missed"]
    assert found["ended_by"] == {"acknowledgment": 0, "copy": 7, "close": 0, "untold": 0}
    assert found["read"]["sends"] == 0 and found["outstanding"] == 0 and found["outstanding_most"] == 1


def test_whether_a_ring_copied_is_not_told_unless_the_program_asked(tmp_path):
    assert holds(tmp_path, RING_UNTOLD)["ended_by"] == {"acknowledgment": 0, "copy": 0, "close": 0, "untold": 7}


def test_sends_by_a_ring_are_held_until_the_receiver_takes(tmp_path):
    found = holds(tmp_path, RING_WAITS)
    assert found["by_ring"] == found["made"] == 10 and found["outstanding"] == 0
    assert found["notified"]["longest_ns"] >= PAUSE_MS * MS and found["outstanding_most"] > 1


def test_the_report_says_that_nobody_sees_a_ring_read(tmp_path):
    done = watch_tool.watch("--sizes", "--", sys.executable, "-c", RING_TOLD)
    assert done.returncode == 0, done.stderr
    assert "7 of them by io_uring: when the program reads these is not measured" in " ".join(done.stderr.split())
