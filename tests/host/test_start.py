# SPDX-License-Identifier: GPL-2.0
"""How a watch starts: its programs are verified on all processors, and are those that one processor loads."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

from helpers.processes import state_of, wait_until
from helpers.records import ROOT, needs_root
from helpers.watch_tool import record_of

pytestmark = needs_root
ALL = os.sched_getaffinity(0)


def measure() -> ModuleType:
    """The command that measures a start."""
    loader = SourceFileLoader("start_cost", str(ROOT / "tests/start_cost"))
    found = module_from_spec(spec_from_loader("start_cost", loader))
    loader.exec_module(found)
    return found


def loaded(processors: set[int]) -> list[tuple[str, int, int]]:
    """Programs in the order in which their loads began: name, instructions, how many the verifier followed."""
    os.sched_setaffinity(0, processors)
    try:
        return [each[1:] for each in measure().start([str(ROOT / "build/watch"), "-p", str(os.getpid())])[-1]]
    finally:
        os.sched_setaffinity(0, ALL)


@pytest.mark.skipif(len(ALL) < 2, reason="this machine has one processor")
def test_the_longest_programs_are_loaded_first_and_are_those_of_one_processor():
    beside, alone = loaded(ALL), loaded({min(ALL)})
    assert sorted(beside) == sorted(alone)
    # The file begins with walks; the longest program is a receiver's. None is loaded before the others.
    assert beside[0][0] == "receive_call" and alone[0][0] == "walk_sockets"


# Ends of both sides of connections, while the watch that has them told stands still.
DYING = """
import socket, struct, sys
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
ends, reset = [], struct.pack("ii", 1, 0)
print(flush=True)
sys.stdin.readline()
for _ in range(1500):
    ends = [socket.create_connection(listener.getsockname()), listener.accept()[0]]
    ends[0].sendall(b"abc")
    assert ends[1].recv(3) == b"abc"
    ends[0].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
    for end in ends:
        end.close()
print(flush=True)
sys.stdin.readline()
"""


def test_ends_that_fit_no_ring_are_told_and_tables_of_a_watch_take_20_mib(tmp_path):
    """The ring has room for some 1,060 books; 3,000 come while nobody empties it."""
    with subprocess.Popen([sys.executable, "-c", DYING], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as many:
        many.stdout.readline()
        watch = subprocess.Popen([ROOT / "build/watch", "-p", str(many.pid), "--json", tmp_path / "r.json"],
                                 stderr=subprocess.PIPE, text=True)
        assert any("window is open" in line for line in watch.stderr)
        maps = {each["map_id"]: each["memlock"] for each in map(measure().told, Path(f"/proc/{watch.pid}/fdinfo").iterdir())
                if "map_type" in each}
        watch.send_signal(signal.SIGSTOP)
        wait_until(lambda: state_of(watch.pid) == "T")
        many.stdin.write(b"\n")
        many.stdin.flush()
        many.stdout.readline()
        watch.send_signal(signal.SIGCONT)
        watch.send_signal(signal.SIGINT)
        said = watch.stderr.read()
        assert watch.wait() == 0, said
        many.kill()
    counts = record_of(tmp_path / "r.json")["total"]["counts"]
    assert counts["accepted_bytes"] == counts["returned_bytes"] == 3 * 1500
    assert len(maps) > 40 and sum(maps.values()) < 20 << 20
