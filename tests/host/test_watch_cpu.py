# SPDX-License-Identifier: GPL-2.0
"""Samples of the clock say what a program spends its CPU time in, within their interval, and what keeps them off."""
from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers import processes, watch_tool
from helpers.records import needs_root
from host.test_watch_stacks import check_sums, watched

pytestmark = needs_root
DATA = Path(__file__).resolve().parents[1] / "data"
TRUTH = [sys.executable, str(Path(__file__).resolve().parents[1] / "helpers/cpu_truth.py")]
HZ = 499


def measured(folder: Path, share: float, seconds: float) -> tuple[dict, dict, str]:
    """What samples found of the program that knows what it works at; its own clock; the report."""
    file = folder / "record.json"
    done = watch_tool.watch(f"--cpu={HZ}", "--json", file, "--", *TRUTH, share, seconds)
    assert done.returncode == 0, done.stderr
    record = watch_tool.record_of(file)
    assert record["cpu"] == {"hz": HZ, "lost_samples": 0, "clock": record["cpu"]["clock"], "why": None,
                             "names_why": None}
    process, = (each["cpu"] for each in record["processes"] if each["cpu"])
    return process, json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("share", [0.2, 0.7])
def test_shares_are_those_of_the_programs_own_clock(share, tmp_path):
    found, spent, report = measured(tmp_path, share, 1)
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


# Who wakes up each millisecond preempts the other one, which is in a system call for longer than that.
WAKES = f"""
{sys.executable} -c 'import time
while True: time.sleep(0.001)' & {sys.executable} {TRUTH[1]} 1 0.5; kill $!
"""


def test_the_law_holds_for_who_is_preempted_in_system_calls(tmp_path):
    file = tmp_path / "record.json"
    cpu = min(os.sched_getaffinity(0))
    done = watch_tool.watch("--cpu=4999", "--json", file, "--", "taskset", "-c", cpu, "sh", "-c", WAKES)
    assert done.returncode == 0, done.stderr
    uses = [each["cpu"] for each in watch_tool.record_of(file)["processes"] if each["cpu"]]
    busy = max(uses, key=lambda each: each["samples"])
    assert busy["samples"] > 1000 and busy["classes"]["recv_copy"]["samples"] > 0.5 * busy["samples"]
    assert {each["clock_law"] for each in uses} <= {"balanced", "not testable"}, uses


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


def program_of(folder: Path, *options: str) -> Path:
    """The program whose threads work at known things."""
    program = folder / "threads"
    subprocess.run(["gcc", "-O2", "-g", "-fno-omit-frame-pointer", "-Wl,--build-id", *options, DATA / "threads.c", "-o", program,
                    "-pthread"], check=True)
    return program


def use_of(record: dict, name: str = "threads") -> dict:
    """What samples found of the process of that name; each sample is in one class, and of one thread."""
    use, = (each["cpu"] for each in record["processes"] if each["comm"] == name)
    assert sum(each["samples"] for each in use["classes"].values()) == use["samples"]
    assert sum(each["samples"] for each in use["user_space"].values()) == use["classes"]["user"]["samples"]
    assert sum(each["samples"] for each in use["by_thread"]) == use["samples"]
    assert sum(each["threads"] for each in use["by_thread"]) == use["threads"]
    assert all(sum(each["classes"].values()) == each["samples"] for each in use["by_thread"])
    assert record["cpu"]["lost_samples"] == 0 and record["cpu"]["names_why"] is None
    return use


COPY_S = 0.5


def check_copies(record: dict, told: str) -> None:
    """Half of the time went into memcpy, of one of the two threads; @told: "unnamed" without symbols."""
    use = use_of(record)
    assert use["clock_law"] in ("balanced", "not testable")
    expected = HZ * COPY_S
    parts = {each: found["samples"] for each, found in use["user_space"].items()}
    if told == "unnamed":
        assert parts["copies"] == parts["others"] == 0, parts
    else:
        # Four deviations; what interrupts them is on their clocks, too.
        assert abs(parts["copies"] - expected) < 4 * expected ** 0.5 + 0.1 * expected, parts
        assert parts["unnamed"] <= 0.1 * expected, parts
    threads = {each["comm"]: each["samples"] for each in use["by_thread"]}
    assert {"copies", "counts"} <= set(threads)
    for name in ("copies", "counts"):
        assert abs(threads[name] - expected) < 4 * expected ** 0.5 + 0.05 * expected, threads


def test_copies_in_user_space_are_told_apart_where_symbols_name_them(tmp_path):
    # The C library in the program itself: the functions that it chooses by the processor are local symbols.
    check_copies(watched(program_of(tmp_path, "-static"), "copy", int(COPY_S * 1000), words=(f"--cpu={HZ}",)), "copies")


def test_copies_of_a_stripped_program_are_told_as_unnamed_until_its_symbols_are_found(tmp_path):
    program = program_of(tmp_path, "-static")
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]{40})", notes)[1]
    apart = Path("/usr/lib/debug/.build-id") / build_id[:2] / f"{build_id[2:]}.debug"
    made = [each for each in apart.parents if not each.exists()]
    subprocess.run(["objcopy", "--only-keep-debug", program, tmp_path / "apart"], check=True)
    subprocess.run(["strip", program], check=True)
    words = {"words": (f"--cpu={HZ}",)}
    check_copies(watched(program, "copy", int(COPY_S * 1000), **words), "unnamed")
    apart.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copy(tmp_path / "apart", apart)
        check_copies(watched(program, "copy", int(COPY_S * 1000), **words), "copies")
    finally:
        apart.unlink(missing_ok=True)
        for folder in made:
            folder.rmdir()


def processor_seconds(pid: int) -> float:
    """What a process used so far."""
    return sum(map(int, processes.stat_of(pid)[11:13])) / os.sysconf("SC_CLK_TCK")


# The table of threads has room for 4,096.
CROWD = 10_000


def test_a_process_of_ten_thousand_threads_is_told_within_bounds(tmp_path):
    spent: list[float] = []
    record = watched(program_of(tmp_path), "crowd", CROWD, words=("--cpu=4999",),
                     between=lambda process: spent.append(processor_seconds(process.pid)))
    check_sums(record)
    use = use_of(record)
    # The tables are read and emptied again and again: no sample counts twice.
    assert use["samples"] < 1.3 * 4999 * spent[0]
    # A thread works for a period of the clock, so most of them were found.
    assert CROWD / 2 < use["threads"] <= CROWD + 1
    assert len(use["by_thread"]) == 33 and use["by_thread"][-1]["tid"] is None
    stack, = [each for each in record["stacks"]["stacks"] if each["site"] == "tx_copy"]
    assert (stack["bytes"], stack["calls"]) == (CROWD * 23, CROWD)
    names = [record["stacks"]["frames"][each]["function"] for each in stack["frames"]]
    assert "send_one" in names and "one_of_many" in names
    assert record["overhead"]["memory_bytes"] < 64 << 20


def samples_of_perf(file: Path) -> Iterator[list[str]]:
    """The functions of each of perf's samples, innermost first."""
    text = subprocess.run(["perf", "script", "-i", file, "-F", "ip,sym,dso"], capture_output=True, text=True, check=True).stdout
    for sample in text.split("\n\n"):
        if lines := [line.split(None, 1)[1] for line in sample.splitlines() if line.strip()]:
            yield lines


def class_of(sample: list[str]) -> str:
    """What perf's sample found, told by its functions alone."""
    names = [each.split()[0] for each in sample if "[kernel" in each or "[bpf" in each or "bpf_" in each]
    if "[kernel" not in sample[0] and "bpf" not in sample[0]:
        return "user"
    return "recv_copy" if "_copy_to_iter" in names and "tcp_recvmsg_locked" in names else "other"


def test_shares_are_those_of_perf_beside(tmp_path):
    if not shutil.which("perf"):
        pytest.skip("no program of the name perf is on this machine")
    file, found = tmp_path / "perf.data", {}
    perf = ["perf", "record", "-q", "-e", "cpu-clock", "-F", HZ, "-g", "-o", file, "--", *TRUTH, 0.5, 1]
    done = watch_tool.watch(f"--cpu={HZ}", "--json", tmp_path / "record.json", "--", *perf)
    if "perf_event" in done.stderr and not file.exists():
        pytest.skip(f"perf does not run here: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr
    record = watch_tool.record_of(tmp_path / "record.json")
    use = max((each["cpu"] for each in record["processes"] if each["cpu"]), key=lambda each: each["samples"])
    theirs = Counter(map(class_of, samples_of_perf(file)))
    for name in ("recv_copy", "user"):
        ours = use["classes"][name]
        share = theirs[name] / theirs.total()
        # Four deviations of the difference of two shares.
        error = 4 * (share * (1 - share) * (1 / theirs.total() + 1 / use["samples"])) ** 0.5
        found[name] = (ours["share"], share, error)
        assert abs(ours["share"] - share) < error, found
