# SPDX-License-Identifier: GPL-2.0
"""Rows of the machine baseline that wait for nothing: counters prove what each does, and a fault breaks the proof."""
from __future__ import annotations

import json
import os

import pytest

from helpers import baseline, records
from host.test_baseline_rows import COUNTS, INJECTED, run_with

pytestmark = records.needs_root

# A second or less each; the others are of the long tier.
QUICK = ("syscall", "syscall-traced", "call-7", "loop", "thread", "fault-hole", "fault-minor", "fault-major", "icmp-rtt",
         "turn-ring-reference", "away-file", "away-reference", "alone-ring-reference", "syscall-first", "copy-64",
         "copy-65536")
FAULTS = ("syscall", "fault", "sleep")


@pytest.fixture(name="rows", scope="module")
def fixture_rows() -> dict[str, dict]:
    """One quick run of these rows."""
    return baseline.quick(*QUICK)


def test_these_rows_are_measured_and_proved(rows):
    assert set(QUICK) <= set(rows) and not baseline.not_valid(rows)


@pytest.mark.parametrize("name", QUICK)
def test_the_counting_pass_counts_what_the_row_is(rows, name):
    calls = rows[name]["proof"]["calls"]
    for counter, each in COUNTS[name].items():
        assert baseline.counted(rows[name], counter) == each * calls, counter


@pytest.mark.parametrize("fault, name", [(fault, name) for fault in FAULTS for name in INJECTED[fault]])
def test_an_injected_fault_makes_a_row_invalid_without_a_number(fault, name):
    code, rows = run_with(fault)
    assert (code, rows[name]["status"], rows[name]["measured"]) == (1, "invalid", None)
    assert "expected" in rows[name]["why"] and "counted" in rows[name]["why"]


def test_estimates_in_cycles_have_a_clock_where_its_row_is_not_asked_for():
    assert baseline.quick("call-0")["call-0"]["estimate"]["hardware"] > 0


def test_another_delay_is_another_round_trip():
    row = baseline.quick("icmp-rtt-remote", more=("--rtt", 20))["icmp-rtt-remote"]
    # A busy machine adds to most of them.
    assert 20 <= min(row["measured"]["values"]) < 40


def test_only_the_rows_named_are_run():
    assert set(baseline.quick("call-3", "switch")) == {"call-3", "switch-process",
                                                       "switch-thread"}


def test_the_report_tells_of_a_row_with_an_injected_fault(tmp_path):
    done = baseline.run("--quick", "--runs", 2, "--only", "syscall", "--break", "skip", "--json",
                        tmp_path / "record.json")
    assert done.returncode == 1
    assert "syscall INVALID: one getuid a call" in done.stdout
    assert [line for line in done.stdout.splitlines() if line.endswith("INVALID")]


def test_the_record_is_the_same_as_what_is_kept(tmp_path):
    done = baseline.run("--quick", "--only", "call-0", "--json", tmp_path / "record.json")
    assert done.returncode == 0, done.stderr
    assert not baseline.faults(json.loads((tmp_path / "record.json").read_text()))
    assert os.listdir(tmp_path) == ["record.json"]
