# SPDX-License-Identifier: GPL-2.0
"""A run makes two passes, timed without a probe and then counted, and both carry the same messages."""
from __future__ import annotations

import os
import re
import signal
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from helpers import leftovers, processes, records
from helpers.books import PRIME_BYTES, PRIME_MESSAGES

pytestmark = records.needs_root

PRIME = (PRIME_BYTES, 2, "--messages", PRIME_MESSAGES)
PAYLOAD = PRIME_BYTES * PRIME_MESSAGES
ENDS = {"server": "sender", "client": "receiver"}
# A signal ends a run within 2 s; what starts and ends the programs takes its time besides.
ENDED_S = 4.0


@contextmanager
def begun(where, *words):
    """A run of A2 that is in its timed or in its counted pass, and the pids of its two ends there."""
    with records.under_way("A2", 65536, 2, *words, "--json", "-") as run:
        yield run, processes.wait_running(run.pid, counted=where == "counted")


def mapped_bytes(run) -> int:
    """Most bytes of BPF maps that a process of the run has mapped: each fork copies their page tables."""
    most = 0
    for pid in {run.pid} | processes.descendants(run.pid):
        with suppress(OSError):
            spans = re.findall(r"^(\w+)-(\w+) .*anon_inode:bpf-map$", Path(f"/proc/{pid}/maps").read_text(), re.MULTILINE)
            most = max(most, sum(int(end, 16) - int(begin, 16) for begin, end in spans))
    return most


def held(run) -> set[str]:
    """BPF programs, maps and links that the processes of a run have open."""
    found = set()
    for pid in {run.pid} | processes.descendants(run.pid):
        for info in Path(f"/proc/{pid}/fdinfo").glob("*"):
            # What was closed since the listing is not held.
            with suppress(OSError):
                found |= {kind for kind, _ in leftovers.HELD_ID.findall(info.read_text())}
    return found


@pytest.mark.parametrize("variant, pattern, path", [("A1", "stream", "lo"), ("A3", "stream", "veth"), ("A2", "rr", "veth")])
def test_each_pass_carries_every_byte(variant, pattern, path):
    record = records.run_record(variant, *PRIME, "--pattern", pattern, "--path", path)
    payload = PAYLOAD * (2 if pattern == "rr" else 1)
    for name in ("timed", "counted"):
        one = record["experiment"]["passes"][name]
        assert one["messages"] == PRIME_MESSAGES
        assert one["accepted_bytes"] == one["received_bytes"] == payload
        assert one["tcp"]["accepted_bytes"] == one["tcp"]["returned_bytes"] == payload
        assert one["window_ns"] >= one["elapsed_ns"] > 0
    assert record["experiment"]["passes"]["why"] is None
    assert {"sequence accepted", "sequence returned", "passes"} <= records.laws_with(record, "balanced")


def test_a_blind_counted_pass_is_made_again_alone(tmp_path):
    file = tmp_path / "record.json"
    run = records.start("A2", 4096, 1, "--seconds", 0.3, "--break", "miss-hits", "--json", file)
    timed = set()
    while run.poll() is None:
        # Its own children have its name until they have another.
        timed |= {pid for parent in (run.pid, *processes.descendants(run.pid)) if processes.comm(parent) != "timed pass"
                  for pid in processes.children(parent) if processes.comm(pid) == "timed pass"}
        time.sleep(0.01)
    said = run.communicate()[1]
    record = records.load(file)
    assert record["experiment"]["outcome"]["status"] == "blind" and run.returncode == records.BLIND
    assert said.splitlines()[-1].startswith("trace_run: no verdict: the probes missed ")
    assert record["experiment"]["attempt"] == said.count("trying again") + 1 > 1
    assert len(timed) == 1 and record["experiment"]["passes"]["timed"]["messages"] > 0
    assert record["experiment"]["timing"]["pass"] == "timed"


def test_times_and_counters_are_of_the_pass_without_probes():
    record = records.run_record("A2", *PRIME)
    timed, counted = record["experiment"]["passes"]["timed"], record["experiment"]["passes"]["counted"]
    timing = record["experiment"]["timing"]
    assert timing["pass"] == "timed" and timing["comparable"] is (not record["machine"]["emulated"])
    for key in ("elapsed_ns", "window_ns", "throughput_gbps", "latency_us"):
        assert timing[key] == timed[key], key
    assert record["experiment"]["counters"] == timed["counters"]
    assert record["overhead"]["throughput_ratio"] == pytest.approx(
        counted["throughput_gbps"] / timed["throughput_gbps"])
    assert record["experiment"]["workload"]["received_bytes"] == counted["received_bytes"]


@pytest.mark.parametrize("words, only", [(("--pass", "timed"), "timed"), (("--no-probes",), "timed"),
                                         (("--pass", "counted"), "counted")])
def test_one_pass_is_made_if_one_is_asked_for(words, only):
    record = records.run_record("A2", *PRIME, *words)
    assert [name for name in ("timed", "counted") if record["experiment"]["passes"][name]] == [only]
    assert record["experiment"]["passes"]["why"] == f"asked for: --pass {only}"
    assert record["experiment"]["timing"]["pass"] == only
    assert record["experiment"]["timing"]["comparable"] is (only == "timed" and not record["machine"]["emulated"])
    assert record["overhead"]["throughput_ratio"] is None
    assert records.law(record, "passes")["status"] == "not testable"


def test_both_passes_share_the_seconds():
    record = records.run_record("A2", 4096, 1, "--seconds", 0.6)
    assert record["experiment"]["workload"]["seconds"] == 0.6
    for name, share in (("timed", 0.8), ("counted", 0.2)):
        assert record["experiment"]["passes"][name]["asked_s"] == pytest.approx(0.6 * share)
        # A busy machine lets an end begin late, or end late: how long a pass took is not tested.
        assert record["experiment"]["passes"][name]["elapsed_ns"] > 0, name


def test_no_process_holds_a_program_in_the_timed_pass():
    before = leftovers.bpf_objects()
    with begun("timed", "--seconds", 1) as (run, _):
        # Others may run beside us: their objects are held by them, or gone with them.
        loaded = leftovers.bpf_objects() - before
        assert not held(run)
        processes.wait_until(lambda: loaded & leftovers.bpf_objects() <= leftovers.bpf_objects_held())
        processes.wait_running(run.pid, counted=True)
        assert held(run) >= {"prog", "map", "link"}, "this test cannot see BPF objects"
        assert 0 < mapped_bytes(run) < 4 << 20, "room for more sockets than a run has"
    assert run.done.code in records.WELL, run.done.err


@pytest.mark.parametrize("where, number", [("timed", signal.SIGTERM), ("counted", signal.SIGINT)])
def test_a_signal_ends_either_pass_in_order(where, number):
    with begun(where, "--seconds", 60 if where == "timed" else 1.5) as (run, _):
        run.send_signal(number)
    record = run.done.record
    assert run.took_s < ENDED_S and run.done.code == 128 + number
    assert record["experiment"]["outcome"]["status"] == "interrupted"
    assert record["experiment"]["outcome"]["reason"].startswith(f"signal {number:d} ({number.name}) ended it")
    assert record["experiment"]["outcome"]["reason"].endswith(f", in the {where} pass")
    assert record["experiment"]["passes"]["timed"] and bool(record["experiment"]["passes"]["counted"]) == (where == "counted")
    assert not records.laws_with(record, "broken")
    assert not processes.children(run.pid)


@pytest.mark.parametrize("where, pattern, end", [("timed", "stream", "server"), ("timed", "rr", "client"), ("counted", "stream", "client")])
def test_an_end_that_is_killed_fails_the_run_with_a_line_and_no_hang(where, pattern, end):
    seconds = 60 if where == "timed" else 1.5
    with begun(where, "--seconds", seconds, "--pattern", pattern) as (run, pids):
        os.kill(pids[end], signal.SIGKILL)
    record = run.done.record
    experiment, outcome = record["experiment"], record["experiment"]["outcome"]
    assert run.done.code == 1 and outcome["status"] == "failed"
    assert f"the run failed: {outcome['reason']}\n" in run.done.err
    assert records.sentence_of(record).startswith(f"The run failed: {outcome['reason']}; no verdict")
    assert outcome["reason"].startswith(f"the {end} was killed by signal 9 (SIGKILL)")
    assert outcome["reason"].endswith(f", in the {where} pass")
    assert outcome[ENDS[end]] == {"exit_status": None, "signal": 9, "why": "a signal killed it"}
    assert experiment["workload"]["accepted_bytes"] is None and experiment["workload"]["why"]
    assert {"witness sent", "content"} <= records.laws_with(record, "not testable")
    assert not records.laws_with(record, "broken") and not processes.children(run.pid)
    if where == "counted":
        # What was timed before it holds.
        assert experiment["timing"]["pass"] == "timed"
        assert experiment["passes"]["timed"]["received_bytes"] > 0


def test_a_timed_pass_that_is_killed_fails_the_run():
    with begun("timed", "--seconds", 60) as (run, pids):
        conducts, = processes.named(run.pid, "timed pass")
        os.kill(conducts, signal.SIGKILL)
    assert run.done.code == 1
    assert run.done.record["experiment"]["outcome"]["status"] == "failed"
    assert "killed by signal 9" in run.done.record["experiment"]["outcome"]["reason"]
    processes.wait_until(lambda: not any(processes.command_line(pid) for pid in pids.values()))


def test_the_report_says_which_pass_was_timed_and_what_looking_cost():
    done = records.run("A2", *PRIME)
    assert re.search(r"^throughput +[0-9.]+ .bit/s: .*\nlatency .*(\n .*)*\n +of a pass of its own, without probes",
                     done.out, re.M), done.out
    assert re.search(r"^overhead .*throughput with probes [0-9.]+ of that without", done.out, re.M)
