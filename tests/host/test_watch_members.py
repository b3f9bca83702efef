# SPDX-License-Identifier: GPL-2.0
"""Which processes belong to a subject: zombies, threads that go on, many that end, many namespaces."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from helpers.records import needs_root
from helpers.screens import Screen
from helpers.windows import ROOT, WATCH, Watching, laws_of, unbalanced

pytestmark = needs_root
# Each child moves bytes over its own connection, ends and is collected.
CHILDREN = ROOT / "build/tests/guest/children"
# Names itself, gets a pair of sockets a and b; what follows is the test's.
BEGIN = """
import ctypes, os, signal, socket, struct, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def name(word): open("/proc/self/comm", "w").write(word)
def pair():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        one = socket.create_connection(listener.getsockname())
        return one, listener.accept()[0]
def take(sock, n):
    while n: n -= len(sock.recv(n))
def ready(): print("ready", flush=True); sys.stdin.readline()
"""


@contextmanager
def started(*command: object, executable: str | None = None) -> Iterator[subprocess.Popen]:
    """A program that has said that it is ready; it is killed at the end, with what it started."""
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, start_new_session=True, executable=executable) as process:
        try:
            assert process.stdout.readline()
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def program(body: str, *words: object):
    """The same of a program in Python."""
    return started(sys.executable, "-c", BEGIN + body, *words)


def tell(process: subprocess.Popen) -> str:
    """Lets it go on to its next line; returns that."""
    print(file=process.stdin, flush=True)
    return process.stdout.readline()


def sums_of(record: dict) -> dict[int, tuple[int | None, int | None]]:
    """By pid: bytes accepted and returned."""
    return {each["pid"]: (each["sum"]["counts"]["accepted_bytes"],
                          each["sum"]["counts"]["returned_bytes"]) for each in record["processes"]}


ZOMBIE = """
name(sys.argv[2])
child = os.fork()
if not child:
    name(sys.argv[1]); os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
gate = os.pipe()
if int(sys.argv[3]):
    name(sys.argv[1])
    if not os.fork(): os.read(gate[0], 1); os._exit(0)
    name(sys.argv[2])
ready(); os.write(gate[1], b"x"); time.sleep(60)
"""


def test_a_watch_ends_though_a_zombie_has_the_name():
    with program(ZOMBIE, "half-dead", "its-parent", 1) as process:
        watching = Watching("--comm", "half-dead")
        print(file=process.stdin, flush=True)
        assert watching.records()


def test_no_window_opens_over_a_zombie():
    with program(ZOMBIE, "all-dead", "its-parent", 0):
        done = subprocess.run([WATCH, "--comm", "all-dead"], capture_output=True, text=True,
                              check=False, timeout=60)
    assert done.returncode == 2 and "all-dead" in done.stderr and done.stderr.count("\n") == 1


PASSES = """
a, b = pair(); ready(); a.send(bytes(4321)); take(b, 4321); print("done", flush=True); time.sleep(60)
"""


def started_as(word: str):
    """A program whose comm is not the word that it was started by."""
    return started(word, "-c", BEGIN + PASSES, executable=sys.executable)


def test_a_process_has_the_name_that_it_was_started_by_too():
    with started_as("/usr/local/lib/by-this-word") as first, started_as("by-this-word-2") as other:
        watching = Watching("--comm", "by-this-word")
        with started_as("by-this-word") as second:
            assert all(tell(each) for each in (first, second, other))
            record = watching.close()
    found = sums_of(record)
    assert found[first.pid] == found[second.pid] == (4321, 4321) and other.pid not in found


def test_of_a_name_that_none_has_those_that_are_near_are_told():
    with started_as("by-this-word"):
        done = subprocess.run([WATCH, "--comm", "this-word"], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2 and "near are by-this-word" in done.stderr and done.stderr.count("\n") == 1


SOON_DEAD = """
child = os.fork()
if not child:
    time.sleep(float(sys.argv[1])); os._exit(0)
print(child, flush=True); time.sleep(60)
"""


@pytest.mark.parametrize("after_s", [0.05, 0.1, 0.2, 0.3, 0.4])
def test_a_process_that_ends_while_hooks_are_attached_ends_the_watch(after_s):
    with subprocess.Popen([sys.executable, "-c", BEGIN + SOON_DEAD, str(after_s)], text=True,
                          stdout=subprocess.PIPE) as parent:
        try:
            pid = int(parent.stdout.readline())
            done = subprocess.run([WATCH, "-p", str(pid)], capture_output=True, check=False,
                                  timeout=60)
        finally:
            parent.kill()
    assert done.returncode in (0, 2, 3)


LEADER_ENDS = """
a, b = pair()
def go_on():
    while open(f"/proc/self/task/{os.getpid()}/stat").read().rsplit(")", 1)[1].split()[0] != "Z":
        time.sleep(0.01)
    ready(); a.sendall(bytes(4321)); take(b, 4321)
    print("done", flush=True); sys.stdin.readline(); os._exit(0)
threading.Thread(target=go_on).start()
libc.pthread_exit(None)
"""


def test_a_process_lives_though_its_first_thread_has_ended():
    with program(LEADER_ENDS) as process:
        watching = Watching("-p", process.pid)
        tell(process)
        record = watching.close()
    assert sums_of(record) == {process.pid: (4321, 4321)} and not unbalanced(record)


def test_twenty_thousand_children_are_in_the_sums_and_few_in_the_record():
    count, every = 20_000, 10
    with started(CHILDREN, count, every) as process:
        watching = Watching("-p", process.pid)
        tell(process)
        time.sleep(0.1)
        record = watching.close()
    counts = record["total"]["counts"]
    moved = 100 * count // every
    assert (counts["accepted_bytes"], counts["returned_bytes"]) == (moved, moved)
    assert record["losses"]["lost_events"] == 0 and not unbalanced(record)
    kept = len(record["processes"]) - 1
    assert kept <= 2000 and kept + record["losses"]["folded_processes"] == count
    # Those that are kept are whole.
    assert set(sums_of(record).values()) <= {(0, 0), (100, 100)}


NAMESPACES = """
CLONE_NEWNET = 0x40000000
name("in-namespaces")
gates = [os.pipe(), os.pipe()]
for _ in range(int(sys.argv[1])):
    if os.fork(): continue
    assert not libc.unshare(CLONE_NEWNET)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    a, b = pair(); a.sendall(bytes(10))
    os.write(gates[0][1], b"r"); os.read(gates[1][0], 1)
    a.sendall(bytes(4321)); take(b, 4000)
    os.write(gates[0][1], b"d"); time.sleep(60)
def all_say():
    left = int(sys.argv[1])
    while left: left -= len(os.read(gates[0][0], left))
all_say(); ready(); os.write(gates[1][1], bytes(int(sys.argv[1]))); all_say()
print("done", flush=True); time.sleep(60)
"""


def of_namespaces(count: int, *start: str) -> tuple[int, dict]:
    """The pid of their parent, and the record of a window in which each moves its bytes."""
    with program(NAMESPACES, count) as process:
        watching = Watching("--comm", "in-namespaces", start=start)
        tell(process)
        record = watching.close()
    assert not unbalanced(record)
    return process.pid, record


def test_seventy_namespaces_are_measured():
    parent, record = of_namespaces(70)
    sums = sums_of(record)
    del sums[parent]
    assert len(sums) == 70 and set(sums.values()) == {(4321, 4000)}
    assert (record["total"]["opening"]["unread_bytes"], record["total"]["closing"]["unread_bytes"]) == (
        70 * 10, 70 * 331)
    assert record["losses"]["sums_short"] is None and laws_of(record)["receive queue"] == "balanced"


def test_what_lies_in_a_namespace_that_was_not_entered_is_not_measured():
    parent, record = of_namespaces(30, "prlimit", "--nofile=290:290")
    sums = sums_of(record)
    del sums[parent]
    unknown = list(sums.values()).count((None, None))
    assert len(sums) == 30 and 10 < unknown < 30
    assert list(sums.values()).count((4321, 4000)) == 30 - unknown
    assert record["losses"]["unopened_sockets"] == 2 * unknown
    assert "not entered" in record["losses"]["sums_short"]
    assert laws_of(record)["probes"] == "not testable"


PASSED_ON = """
a, b = pair()
ours, theirs = socket.socketpair(socket.AF_UNIX)
if not (other := os.fork()):
    a.close(); b.close(); ours.close()
    held = socket.socket(fileno=socket.recv_fds(theirs, 1, 1)[1][0])
    while held.send(bytes(100)):
        time.sleep(0.02)
ready(); print(other, flush=True); sys.stdin.readline()
socket.send_fds(ours, [b"x"], [a.fileno()]); a.close()
while b.recv(4096):
    pass
"""


def test_a_live_view_finds_who_holds_a_socket_that_was_passed_on():
    """No socket of its own begins then. Where none of the machine's does, each fifth reading looks who holds which (GLANCES_MOST)."""
    with program(PASSED_ON) as one:
        other = int(tell(one))
        screen = Screen("-p", one.pid, "-p", other, "--by", "process", "--interval", "0.3")
        screen.wait_for("q ends")
        print(file=one.stdin, flush=True)
        screen.wait_for(f"pid {other}")
        screen.press("q")
        assert screen.end() == 0
