# SPDX-License-Identifier: GPL-2.0
"""Books of a process that was there before: whose causes, whole sockets, growing readings. Windows at random
moments are the campaign's (tests/attacks/windows.py)."""
from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from helpers.books import PRIME_BYTES, PRIME_MESSAGES
from helpers.records import ROOT, WELL, needs_root
from helpers.small_program import Program
from helpers.windows import (
    Traffic,
    Watching,
    bytes_of,
    causes_of,
    check_causes,
    unbalanced,
)

pytestmark = needs_root
KINDS = ("copy", "zerocopy", "splice", "mixed", "copy", "zerocopy", "splice", "mixed")
SITES = ("tx_copy", "tx_reference", "tx_splice")
TRIES = 5
# Of what no tracepoint tells.
UNTOLD = {"fastopen_sends", "fastopen_bytes", "refused_optmem", "refused_memlock", "released_pages", "tapped_bytes", "map_calls",
          "reshaped_referenced_bytes"}

COMING = """
import threading
def come_and_go():
    while True:
        one, other = pair()
        for _ in range(20):
            one.sendall(bytes(4093))
            take(other, 4093)
        one.close()
        other.close()
threading.Thread(target=come_and_go, daemon=True).start()
"""
# A child of another name closes what it has last.
CLOSED_LAST = """
a.sendall(bytes(4093))
take(b, 4093)
gate = os.pipe()
child = os.fork()
if not child:
    open("/proc/self/comm", "w").write({name!r})
    os.read(gate[0], 1)
    os._exit(0)
told["port"] = a.getsockname()[1]
a.close()
b.close()
os.write(gate[1], b"x")
os.waitpid(child, 0)
"""


def sums(told: dict) -> dict[str, int]:
    """What the program itself counted."""
    pairs = told["open"] + told["gone"]
    return {key: sum(pair[key] for pair in pairs) for key in (*SITES, "received", "zerocopy_sends")}


def counted(record: dict) -> dict[str, int]:
    """The same out of a record."""
    counts, sites = record["total"]["counts"], bytes_of(record)
    return {**{site: sites[site] for site in SITES}, "received": counts["returned_bytes"],
            "zerocopy_sends": counts["zerocopy_sends"]}


def test_a_cause_is_of_the_sockets_whose_bytes_were_copied():
    with Traffic("copy", "zerocopy") as traffic:
        watching = Watching("-p", traffic.pid)
        time.sleep(0.3)
        traffic.tell("stop")
        record = watching.close()
    check_causes(record)
    told = {bool(each["causes"]) for each in record["sockets"] if each["sites"]["tx_reference"]["bytes"]}
    assert told == {True} and {each["cause"] for each in record["causes"]} == {"local delivery"}
    assert not any(each["causes"] for each in record["sockets"]
                   if not each["sites"]["tx_reference"]["bytes"])


def test_sockets_that_are_born_and_die_in_the_window_are_whole():
    with Traffic("copy", "mixed") as traffic:
        before = sums(traffic.tell("stop"))
        watching = Watching("-p", traffic.pid)
        traffic.tell("go")
        for _ in range(5):
            traffic.tell("renew")
            time.sleep(0.05)
        after = sums(traffic.quit())
        time.sleep(0.1)
        record = watching.close()
    assert counted(record) == {key: after[key] - before[key] for key in after}
    assert not unbalanced(record)
    died = [each for each in record["sockets"] if each["died"]]
    assert sum(each["whole"] for each in died) == 10 and len(died) >= 14
    assert record["total"]["died"] == len(died)


FAILING = """
import ctypes, socket
listener = socket.create_server(("127.0.0.1", 0))
one, other = socket.create_connection(listener.getsockname()), None
other, _ = listener.accept()
for _ in range(23):
    one.sendall(bytes(4093))
    assert ctypes.CDLL(None).recv(other.fileno(), ctypes.c_void_p(1), ctypes.c_size_t(4093), 0) < 0
    left = 4093
    while left:
        left -= len(other.recv(left))
"""


def test_receives_that_fail_are_no_odd_copies(tmp_path):
    """Each copies to memory that is not there, before one that does: the law of what was received is tested all the same."""
    kept = tmp_path / "watch.json"
    done = subprocess.run([ROOT / "tools" / "copyscope", "watch", "--quiet", "--books", "calls", "--json", kept, "--",
                           sys.executable, "-c", FAILING], check=False)
    assert done.returncode in WELL
    record = json.loads(kept.read_text())
    received, = (each for each in record["sockets"] if each["counts"]["returned_bytes"])
    assert received["laws"]["receive queue"]["status"] == received["laws"]["receives"]["status"] == "balanced"
    assert received["sites"]["rx_copy"]["bytes"] == PRIME_MESSAGES * PRIME_BYTES


@pytest.mark.parametrize("variant", ["A3", "A3-unset"])
def test_details_are_all_that_a_run_counts_beside_them(tmp_path, variant):
    watched, counted_by_run = tmp_path / "watch.json", tmp_path / "run.json"
    words = ["--detail", "--books", "calls", "--backend", "tracepoint", "--json", watched, "--", ROOT / "build" / "trace_run",
             variant, str(PRIME_BYTES), "2", "--messages", str(PRIME_MESSAGES), "--path", "veth", "--backend", "tracepoint",
             "--pass", "counted", "--quiet", "--json", counted_by_run]
    # The kernel may keep packets from the programs of either.
    for _ in range(TRIES):
        done = subprocess.run([ROOT / "tools" / "copyscope", "watch", "--quiet", *words], check=False)
        assert done.returncode in WELL
        record, run = (json.loads(path.read_text()) for path in (watched, counted_by_run))
        if not done.returncode and record["counts"]["wire_copied_bytes"] is not None:
            break
    assert not unbalanced(record)
    told = {name: count for name, count in record["counts"].items() if count is not None}
    # A run leaves completions to what the application reads of them where there are no trampolines.
    read = {"completed_sends", "copied_sends"}
    assert {name: count for name, count in told.items() if name not in read} == \
        {name: run["counts"][name] for name in told if name not in read}
    assert set(run["counts"]) - set(told) == set(record["count_whys"]) <= UNTOLD
    assert told["zerocopy_asked_sends"] == PRIME_MESSAGES
    assert told["unset_bytes"] == (PRIME_MESSAGES * PRIME_BYTES if variant == "A3-unset" else 0)
    assert told["pinned_pages"] == told["wire_referenced_pages"] - told["retrans_referenced_pages"]


def test_a_window_opens_among_connections_that_come_and_go():
    program = Program("", before=COMING)
    try:
        for words in (["--books", "calls"], ["--detail"], ["--sizes"], ["--stacks"]) * 2:
            watching = Watching("-p", program.process.pid, *words)
            time.sleep(0.05)
            record = watching.close()
            assert not unbalanced(record) and record["total"]["died"]
    finally:
        program.process.kill()
        program.end()


@pytest.mark.parametrize("name, has", [("copyscope-watch", "python"), ("copyscope-watcx", "copyscope-watcx")])
def test_a_socket_is_of_who_closed_it_last_unless_that_is_a_watch(name, has):
    program = Program(CLOSED_LAST.format(name=name))
    watching = Watching("--all")
    told = program.do()
    time.sleep(0.05)
    record = watching.close()
    program.end()
    of = {each["comm"] for each in record["sockets"]
          if f":{told['port']}" in each["local"] + each["remote"]}
    assert len(of) == 1 and of.pop().startswith(has)


def test_readings_of_one_window_only_grow():
    with Traffic(*KINDS) as traffic:
        # A machine that is busy reads more seldom.
        records = next(found for seconds in (0.7, 7) for found in [
            Watching("-p", traffic.pid, "--interval", 0.1, "--seconds", seconds, told=False).records()] if len(found) >= 5)
    for site in (*SITES, "rx_copy"):
        readings = [bytes_of(each)[site] for each in records]
        assert readings == sorted(readings) and readings[-1] > readings[0] > 0
    for earlier, later in zip(records, records[1:]):
        assert causes_of(earlier) <= causes_of(later)
        check_causes(later)
    assert causes_of(records[-1])
