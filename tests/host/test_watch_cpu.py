# SPDX-License-Identifier: GPL-2.0
"""Samples of the clock say what a program spends its CPU time in, within their interval, and what keeps them off."""
from __future__ import annotations

import errno
import json
import re
import sys
from pathlib import Path

import pytest

from helpers import processes, watch_tool
from helpers.records import needs_root

pytestmark = needs_root
TRUTH = [sys.executable, str(Path(__file__).resolve().parents[1] / "helpers/cpu_truth.py")]
HZ = 499


def measured(folder: Path, share: float, seconds: float) -> tuple[dict, dict, str]:
    """What samples found of the program that knows what it works at; its own clock; the report."""
    file = folder / "record.json"
    done = watch_tool.watch(f"--cpu={HZ}", "--json", file, "--", *TRUTH, share, seconds)
    assert done.returncode == 0, done.stderr
    record = watch_tool.record_of(file)
    assert record["cpu"] == {"hz": HZ, "lost_samples": 0, "clock": record["cpu"]["clock"], "why": None}
    process, = (each["cpu"] for each in record["processes"] if each["cpu"])
    return process, json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("share", [0.2, 0.7])
def test_shares_are_those_of_the_programs_own_clock(share, tmp_path):
    found, spent, report = measured(tmp_path, share, 2)
    classes = found["classes"]
    assert sum(each["samples"] for each in classes.values()) == found["samples"]
    assert found["clock_law"] in ("balanced", "not testable")
    assert found["samples"] > 0.9 * HZ * sum(spent.values())
    # Four deviations, as this runs again and again; what interrupts it is on its clock, too.
    of_recv = sum(classes[each]["samples"] for each in ("recv_copy", "network"))
    expected = HZ * spent["recv"]
    assert abs(of_recv - expected) < 4 * expected ** 0.5 + 0.05 * expected
    assert classes["recv_copy"]["samples"] > 0.8 * of_recv
    assert classes["send_copy"]["share_high"] < 0.05 and classes["late_copy"]["samples"] == 0
    percent = re.search(r"(\d+) % \((\d+) to (\d+)\) of its CPU time went into copying payload", report)
    assert percent and int(percent[1]) == round(100 * found["copies"]["share"])


def test_without_the_option_nothing_is_sampled(tmp_path):
    file = tmp_path / "record.json"
    assert watch_tool.watch("--json", file, "--", *watch_tool.talk(1)).returncode == 0
    record = watch_tool.record_of(file)
    assert "cpu" not in record and all("cpu" not in each for each in record["processes"])


def test_where_the_kernel_refuses_the_rest_of_the_watch_works(tmp_path):
    file = tmp_path / "record.json"
    done = watch_tool.watch("--cpu", "--json", file, "--", *watch_tool.talk(1),
                            preexec_fn=processes.forbid("perf_event_open", error=errno.EACCES))
    assert done.returncode == 0, done.stderr
    record = watch_tool.record_of(file)
    assert record["cpu"]["clock"] is None and "CAP_PERFMON" in record["cpu"]["why"]
    assert re.search(r"CPU time\s+not measured: the kernel refused", done.stderr)
    assert record["total"]["counts"]["accepted_bytes"] == watch_tool.PRIME + 7


@pytest.mark.parametrize("word", ["--cpu=0", "--cpu=5000", "--cpu=fast", "--cpu=-1", "--cpu="])
def test_a_rate_that_makes_no_sense_is_one_line(word):
    done = watch_tool.watch(word, "--all", "--seconds", 1)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1 and "--cpu" in done.stderr
