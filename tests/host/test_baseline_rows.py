# SPDX-License-Identifier: GPL-2.0
"""The machine baseline measures every row here, and proves by counters what each one does.

Times of caches and disks are found here, which takes a machine that has time: of the long tier. Rows that
count without waiting are in test_baseline.py.
"""
from __future__ import annotations

import functools
import json
import os
import re

import pytest

from helpers import baseline, records

pytestmark = [records.needs_root, pytest.mark.long]

# What a counting pass must show, a call: counter and how often.
COUNTS = {
    "syscall": {"getuid calls": 1, "system calls": 1, "page faults": 0},
    "syscall-traced": {"getuid calls": 1, "system calls": 1, "page faults": 0},
    "call-7": {"entries of the function": 1, "system calls": 0, "page faults": 0, "voluntary context switches": 0},
    "core-clock": {"turns by what they changed": 1, "system calls": 0, "page faults": 0},
    "loop": {"turns by what they changed": 1, "system calls": 0},
    "latency-memory": {"turns by what they changed": 1, "page faults": 0},
    "memory-read": {"bytes by what the memory holds": 1 << 20, "page faults": 0},
    "memory-write": {"bytes by what the memory holds": 1 << 20},
    "memory-copy": {"bytes by what the memory holds": 1 << 20},
    "process": {"tasks created": 1, "tasks created with shared memory": 0},
    "thread": {"tasks created": 1, "tasks created with shared memory": 1},
    "fault-hole": {"page faults in user mode": 1, "block reads queued": 0},
    "fault-minor": {"page faults in user mode": 1, "minor faults": 1, "block reads queued": 0},
    "fault-major": {"page faults in user mode": 1, "major faults": 1, "block reads queued": 1},
    "icmp-rtt": {"sendto calls": 1, "recvfrom calls": 1, "system calls": 2,
                 "voluntary context switches": 0, "packets by the device's statistics": 2},
    "icmp-rtt-2ms": {"system calls": 3, "voluntary context switches": 1},
    "icmp-rtt-1s": {"system calls": 3, "voluntary context switches": 1,
                    "packets by the device's statistics": 2},
    "icmp-rtt-remote": {"packets by the device's statistics": 1, "packets of other devices": 0},
    "syscall-first": {"getuid calls": 1, "tasks created": 1},
    "pin": {"system calls": 2, "bytes arrived": 4096, "page faults": 0, "voluntary context switches": 0},
    "cpu-copy": {"sendto calls": 1, "bytes arrived": 4096, "packets of other devices": 0},
    "cpu-file": {"sendto calls": 0, "bytes arrived": 4096},
    "cpu-read": {"pread64 calls": 1, "sendto calls": 1, "bytes arrived": 4096},
    "cpu-ring": {"sendto calls": 0, "sendmsg calls": 0, "bytes arrived": 4096},
    "turn-ring-reference": {"sendto calls": 1, "sendmsg calls": 0, "notifications read": 1},
    "away-file": {"sendto calls": 0, "bytes queued": 4096, "packets by the device's statistics": 0},
    "alone-ring-reference": {"sendto calls": 0, "sendmsg calls": 0, "notifications read": 1},
    "away-reference": {"sendmsg calls": 1, "notifications read": 1, "packets by the device's statistics": 0},
    "copy-64": {"system calls": 2, "bytes arrived": 9 * 64, "page faults": 0},
    "copy-back-4096": {"system calls": 2, "bytes arrived": 9 * 4096, "voluntary context switches": 0},
    "copy-65536": {"system calls": 2, "bytes arrived": 65536 + 64},
    "contention-one-cpu": {"pread64 calls": 20, "block reads queued": 20, "tasks created": 0},
    "contention-cpu-wait": {"pread64 calls": 20, "tasks created": 0},
    "tcp-stream": {"sendto calls": 1, "bytes arrived": 65536, "packets of other devices": 0},
    "connect": {"connect calls": 1, "connections up when connect() returned": 1,
                "connections opened, active and passive": 2, "resets": 0,
                "retransmits by TCP_INFO": 0},
    "close-remote": {"sockets that began to close": 1, "resets": 0},
    "file-cache": {"pread64 calls": 1, "block reads queued": 0, "bytes read from disks": 0},
    "read-random": {"pread64 calls": 1, "block reads queued": 1, "bytes read from disks": 4096,
                    "folios added to the page cache": 1, "pages cached before": 0},
    "remote-random": {"pread64 calls": 1, "block reads queued": 0, "bytes read from disks": 0},
    "contention": {"pread64 calls": 20, "block reads queued": 20, "tasks created": 0},
}
# Levels of the cache are found by time, and tests that run beside take caches and processors.
TRIES_BY_TIME = 4
# Where the scheduler has a say: counter, at least and at most, a call.
ROUGH_COUNTS = {
    "switch-process": ("context switches", 1.95, 2.11),
    "switch-thread": ("context switches", 1.95, 2.11),
    "tcp-rtt": ("packets by the device's statistics", 1.98, 2.02),
    "read-ahead": ("block reads queued", 0, 0.25),
}


def quick_record(*names: str) -> dict:
    """The record of a quick run of these rows or families, of all if none is named."""
    words = [word for name in names for word in ("--only", name)]
    done = baseline.run("--quick", *words, "--json", "-")
    assert done.stdout.startswith("{"), (done.returncode, done.stderr)
    record = json.loads(done.stdout)
    assert not baseline.faults(record), "\n".join(baseline.faults(record))
    return record


@pytest.fixture(name="record", scope="module")
def fixture_record():
    """One quick run of everything, and others of what this machine had no time for."""
    record = quick_record()
    for _ in range(TRIES_BY_TIME - 1):
        missed = baseline.not_valid({row["row"]: row for row in record["rows"]})
        if not missed:
            break
        # The rows of latency are of one curve, which finds the caches.
        again = quick_record(*sorted({"latency" if name.startswith("latency-") else name for name in missed}))
        rows = {row["row"]: row for row in again["rows"]}
        record["rows"] = [rows.get(row["row"], row) for row in record["rows"]]
        if any(name.startswith("latency-") for name in missed):
            record["machine"]["caches"] = again["machine"]["caches"]
    return record


@pytest.fixture(name="rows", scope="module")
def fixture_rows(record):
    """Its rows by name."""
    return {row["row"]: row for row in record["rows"]}


def test_every_row_is_measured_and_proved(rows):
    assert not baseline.not_valid(rows)


def test_the_published_summary_has_its_36_rows(rows):
    assert sum(row["in_summary"] for row in rows.values()) == 36


def test_the_rows_of_a_quick_run_take_less_than_a_minute(record):
    # What the rows took, by their own account; a neighbour is in its warnings.
    assert record["protocol"]["seconds"] < 60 or record["warnings"]


@pytest.mark.parametrize("name", COUNTS)
def test_the_counting_pass_counts_what_the_row_is(rows, name):
    calls = rows[name]["proof"]["calls"]
    for counter, each in COUNTS[name].items():
        assert baseline.counted(rows[name], counter) == each * calls, counter


@pytest.mark.parametrize("name", ROUGH_COUNTS)
def test_the_scheduler_shifts_a_count_by_little(rows, name):
    counter, least, most = ROUGH_COUNTS[name]
    assert least <= baseline.counted(rows[name], counter) / rows[name]["proof"]["calls"] <= most


def test_a_prediction_is_hardware_and_software(rows):
    for row in rows.values():
        estimate = row["estimate"]
        assert estimate["prediction"] == pytest.approx(
            estimate["hardware"] + estimate["software"])
        assert estimate["hardware_basis"] and estimate["software_basis"]


def test_the_cores_clock_is_apart_from_the_time_stamp_counter(record, rows):
    machine, clock = record["machine"], rows["core-clock"]
    assert machine["core_clock_ghz"] == clock["measured"]["value"] and "core_ghz" not in machine
    assert machine["tsc_ghz"] == (machine["clock_ghz"] if machine["arch"] == "x86_64" else None)
    assert clock["measured"]["high"] < 1.3 * clock["measured"]["low"]


def test_a_copy_of_more_bytes_takes_longer(rows):
    # No interval may say otherwise: beside load a copy of 64 bytes may look as if it took nothing.
    for way in "copy", "copy-back":
        small, page, large = (rows[f"{way}-{size}"]["measured"] for size in (64, 4096, 65536))
        assert small["low"] < page["high"] and page["low"] < large["high"]
        assert 0 < small["high"] < large["low"]


def test_a_value_lies_in_its_interval(rows):
    for name, measured in baseline.measured(rows).items():
        assert measured["low"] <= measured["value"] <= measured["high"], name
        assert len(measured["values"]) == measured["runs"] * measured["rounds"]


def test_the_remote_path_has_the_delay_it_was_told(rows):
    for name in "tcp-rtt-remote", "icmp-rtt-remote", "connect-remote":
        assert min(rows[name]["measured"]["values"]) >= 6, name
        assert "delay" in rows[name]["how"] or "later" in rows[name]["how"]


def test_the_file_cache_ends_below_its_limit(rows):
    assert 16 <= rows["file-cache"]["measured"]["value"] < 32
    small, *_, large = rows["file-cache"]["curve"]["points"]
    assert small["disk_bytes"] == 0 < large["disk_bytes"]


def test_contention_goes_on_to_the_forty_processes_of_the_text(rows):
    for name in "contention", "contention-one-cpu", "contention-cpu-wait":
        points = {point["x"]: point for point in rows[name]["curve"]["points"]}
        assert {1, 5, 10, 20, 40} <= set(points) and max(points) == 40
        # Each of them read each of its blocks from the disk.
        assert points[40]["disk_bytes"] == 40 * rows[name]["measured"]["calls"] * 4096


def test_working_sets_show_the_levels(rows):
    small, *_, large = rows["latency-memory"]["curve"]["points"]
    assert large["value"] > 5 * small["value"]


def test_no_prefetcher_foresees_a_random_cycle(rows):
    for name in "latency-l1", "latency-l2", "latency-l2-paged", "latency-l3", "latency-memory":
        assert baseline.counted(rows[name], "share of loads of the next line") < 0.02
    assert baseline.counted(rows["latency-array"], "share of loads of the next line") == 1


FAST = "share of stretches as fast as the cache"


def test_each_level_holds_the_working_set_of_its_row(record, rows):
    found = record["machine"]["caches"]["found"]
    told = {"l1": "l1d_bytes", "l2": "l2_bytes", "l3": "l3_bytes"}
    for level, key in told.items():
        kib = int(re.search(r"working set of (\d+) KiB", rows[f"latency-{level}"]["how"])[1])
        assert found[level]["from_bytes"] <= kib << 10 <= found[level]["to_bytes"]
        claimed = record["machine"]["caches"][key]
        assert not claimed or found[level]["to_bytes"] <= 1.5 * claimed
        assert baseline.counted(rows[f"latency-{level}"], FAST) >= 0.75
    assert baseline.counted(rows["latency-memory"], FAST) <= 0.25
    assert found["l1"]["ns"] < found["l2"]["ns"] < found["l3"]["ns"] < found["memory"]["ns"]


def test_the_levels_are_of_the_curve_that_is_drawn(record, rows):
    found = record["machine"]["caches"]["found"]
    points = {point["x"] for point in rows["latency-memory"]["curve"]["points"]}
    assert {level[end] for level in found.values() if level
            for end in ("from_bytes", "to_bytes")} <= points


def test_a_run_that_warms_up_is_counted_and_dropped(rows):
    warm = {name for name, measured in baseline.measured(rows).items() if measured["warm_ups"]}
    assert warm == {"fault-hole", "fault-minor", "fault-cached", "fault-cached-unmapped",
                    "read-ahead"}
    for name in warm:
        assert rows[name]["measured"]["warm_ups"] == 1
        assert len(rows[name]["measured"]["values"]) == rows[name]["measured"]["runs"]


def test_every_row_notices_that_half_of_its_calls_are_left_out():
    done = baseline.run("--quick", "--runs", 2, "--break", "skip", "--json", "-")
    rows = baseline.rows_of(done)
    assert done.returncode == 1
    assert {name: row["why"] for name, row in rows.items() if row["status"] != "invalid"} == {}
    assert not any(row["measured"] for row in rows.values())


# What --break injects, and rows that must notice.
INJECTED = {
    "syscall": ("call-0", "syscall", "loop"),
    "sleep": ("timing", "icmp-rtt"),
    "fault": ("loop-register", "switch-process", "fault-hole"),
    "fork": ("process", "thread", "tcp-rtt"),
    "packet": ("tcp-rtt-remote", "tcp-stream-remote", "close-remote"),
    "hole": ("fault-major", "read-sequential", "read-random", "read-ahead", "contention"),
    "read": ("fault-hole", "file-cache", "read-sequential", "remote-random"),
    "apart": ("switch-process", "switch-thread", "tcp-rtt"),
    "near": ("tcp-rtt-remote", "tcp-stream-remote", "connect-remote"),
    "elsewhere": ("latency-l1", "latency-l2", "latency-l3", "latency-memory"),
}


@functools.cache
def run_with(fault: str) -> tuple[int, dict]:
    """Exit status and rows of a run with that fault injected."""
    words = [word for name in INJECTED[fault] for word in ("--only", name)]
    # A level may seem to reach into the next.
    for _ in range(TRIES_BY_TIME if fault == "elsewhere" else 1):
        done = baseline.run("--quick", "--runs", 2, *words, "--break", fault, "--json", "-")
        rows = baseline.rows_of(done)
        if all(rows[name]["status"] == "invalid" for name in INJECTED[fault]):
            break
    return done.returncode, rows


@pytest.mark.parametrize("fault, name", [(fault, name) for fault, names in INJECTED.items()
                                         for name in names])
def test_an_injected_fault_makes_a_row_invalid_without_a_number(fault, name):
    if fault == "apart" and len(os.sched_getaffinity(0)) < 2:
        pytest.skip("on one CPU nothing can be apart")
    code, rows = run_with(fault)
    assert (code, rows[name]["status"], rows[name]["measured"]) == (1, "invalid", None)
    assert "expected" in rows[name]["why"] and "counted" in rows[name]["why"]


def test_reruns_are_held_against_each_other_row_by_row(tmp_path):
    # Whether they agree is a measurement of minutes (results/baseline/agreement.txt), no test: one
    # quick round knows nothing of how the machine drifts until the next.
    names = ("tcp-rtt-remote", "icmp-rtt-remote", "connect-remote", "file-cache")
    words = [word for name in names for word in ("--only", name)]
    for file in "first", "second":
        done = baseline.run("--quick", "--runs", 2, *words, "--json", tmp_path / file, "--quiet")
        assert done.returncode == 0, done.stderr
    done = baseline.run("agree", tmp_path / "first", tmp_path / "second")
    *lines, last = done.stdout.splitlines()
    told = {line.split()[0]: line.split()[1] for line in lines}
    assert set(told) == set(names) and set(told.values()) <= {"agrees", "DISAGREES"}
    agreeing = list(told.values()).count("agrees")
    assert last == f"{agreeing} of 4 rows agree within their intervals"
    assert done.returncode == (0 if agreeing == len(names) else 1)


def test_the_known_mistakes_are_shown_by_this_machine(record, tmp_path):
    (tmp_path / "record.json").write_text(json.dumps(record))
    done = baseline.run("mistakes", tmp_path / "record.json")
    # Those that hold by far; others compare times that a busy machine moves.
    wanted = {"units", "hole", "timer", "loopback-limit", "readahead", "cache-unit"}
    shown = {line.split()[0] for line in done.stdout.splitlines() if " shown " in line
             and " not shown " not in line and not line.startswith(" ")}
    assert wanted <= shown, done.stdout
