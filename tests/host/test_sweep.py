# SPDX-License-Identifier: GPL-2.0
"""A sweep makes every run of its plan once, through kills, failures and full disks."""
from __future__ import annotations

import csv
import json
import os
import random
import re
import signal
import subprocess
from pathlib import Path

import pytest

from copyscope import sweep as command
from copyscope.pictures import groups
from copyscope.records.load import load_records
from copyscope.runs import launch
from helpers import processes
from helpers.records import ROOT, needs_root, validate

SWEEP = ROOT / "tools" / "sweep"
# Other tests and guests run beside these.
BUSY = ("--others-at-most", 1)
TIMEOUT_S = 300
# What a run says that no processor had time for; the same command tries it again.
TOO_SHORT, TRIES = "no byte was sent", 10
TINY = """
title = "tiny"
report = ""
sizes = [64, 4096]
threads = [1, 2]
seconds = 0.1
end = "sender"
[corrected]
note = "for tests"
path = "lo"
pattern = "stream"
threads_are = "connections"
variants = [{ label = "one", variant = "A1" }, { label = "two", variant = "A2" }]
[[tables]]
file = "tiny.csv"
columns = [["Name", "label"], ["Cycles", "cycles"], ["Gbps", "throughput_gbps"]]
"""


@pytest.fixture(name="tiny")
def tiny_profile(tmp_path):
    """A profile of 8 points that take no time."""
    file = tmp_path / "tiny.toml"
    file.write_text(TINY)
    return file


def sweep(*words):
    """Run tools/sweep to its end, beside whatever else this machine does."""
    return subprocess.run([SWEEP, *map(str, (*BUSY, *words))], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)


def sweep_wholly(*words):
    """Repeat a sweep while runs of it were too short for a busy machine, as they say themselves."""
    for _ in range(TRIES):
        done = sweep(*words)
        if done.returncode != 1 or TOO_SHORT not in done.stderr:
            break
    assert done.returncode == 0, done.stderr


def lines_of(stderr: str) -> list[str]:
    """What was said, but for runs that were too short."""
    return [line for line in stderr.splitlines() if TOO_SHORT not in line]


def names(out: Path) -> set[str]:
    """The runs that count."""
    return {file.stem for file in (out / "runs").glob("*.json")}


def planned(out: Path) -> set[str]:
    """The runs that should be there in the end."""
    plan = json.loads((out / "plan.json").read_text())
    return {f"{point['name']}.r{repeat}" for point in plan["points"]
            for repeat in range(1, plan["repeats"] + 1)}


def marks(out: Path) -> dict[str, tuple]:
    """What changes when a record is made again."""
    return {file.name: (file.stat().st_ino, file.stat().st_mtime_ns)
            for file in (out / "runs").glob("*.json")}


def table(file: Path) -> list[dict[str, str]]:
    """Rows of a CSV."""
    with open(file, encoding="utf-8", newline="") as source:
        return list(csv.DictReader(source))


def one_line(done, *words):
    """Bad input ends in one line with these words, exit 2."""
    assert done.returncode == 2, done.stderr
    assert len(lines_of(done.stderr)) == 1 and "Traceback" not in done.stderr, done.stderr
    assert all(word in done.stderr for word in words), done.stderr


@needs_root
def test_a_sweep_runs_wholly_and_says_where_all_comes_from(tiny, tmp_path):
    out = tmp_path / "out"
    words = ("--profile", tiny, "--threads", 1, "--repeats", 2, "--out", out)
    done = sweep(*words)
    progress = [line for line in lines_of(done.stderr) if "/8 " in line]
    assert len(progress) == len(names(out)) and "\x1b" not in done.stderr, done.stderr
    sweep_wholly(*words)
    assert names(out) == planned(out) and len(names(out)) == 8
    for file in (out / "runs").iterdir():
        validate(json.loads(file.read_text()))
    assert list(table(out / "tiny.csv")[0]) == ["Name", "Cycles", "Gbps"]
    assert len(table(out / "tiny.csv")) == 4 and len(table(out / "tidy.csv")) == 8
    points = table(out / "points.csv")
    assert {row["n"] for row in points if row["metric"] == "throughput_gbps"} == {"2"}
    for row in points:
        assert (row["n"] == "0") == (row["median"] == "")
    provenance = (out / "PROVENANCE.md").read_text()
    assert str(ROOT) not in provenance
    assert all(name in provenance for name in
               ("command: `./tools/sweep", "commit:", "kernel:", "backend:", "machine:",
                "tiny.csv", "tidy.csv", "points.csv", "8 succeeded, 0 failed"))
    # Again: nothing is made twice.
    before = marks(out)
    assert sweep(*words).returncode == 0
    assert marks(out) == before


@needs_root
def test_a_sweep_needs_neither_a_profile_nor_a_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("COPYSCOPE_RUNS", str(tmp_path))
    words = ("--variants", "A1-plain,A3-unset", "--sizes", "4096", "--path", "lo", "--repeats", 2,
             "--seconds", "0.1", "--quiet")
    done = sweep(*words)
    out, = tmp_path.iterdir()
    assert re.fullmatch(r"\d{8}T\d{6}-sweep", out.name), done.stderr
    sweep_wholly(*words, "--out", out)
    assert names(out) == planned(out) and len(names(out)) == 4
    said = sweep(*words, "--out", out).stdout
    assert "A3-unset, MSG_ZEROCOPY without SO_ZEROCOPY" in said and "Gbit/s" in said
    assert re.search(r"^A3-unset (is \d[\d.]* times \(.* as (fast|slow) as A1-plain|and A1-plain: (alike|undecided))",
                     said, re.MULTILINE), said
    row, = table(out / "pairs.csv")
    assert (row["label"], row["compared_with"], row["n"]) == ("A3-unset", "A1-plain", "2")
    # What draws it reads its plan, and names no profile.
    group, = groups.split(load_records([out], print))
    assert group.provenance.startswith("4 runs, path lo") and "none" not in group.provenance


@needs_root
def test_a_ctrl_c_names_the_folder_that_is_gone_on_with(tmp_path, monkeypatch):
    monkeypatch.setenv("COPYSCOPE_RUNS", str(tmp_path))
    words = [SWEEP, *BUSY, "--variants", "A1", "--seconds", 60, "--quiet"]
    with subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE, text=True) as process:
        processes.wait_until(lambda: list(tmp_path.glob("*-sweep/pending")), timeout_s=60)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    out, = tmp_path.iterdir()
    assert process.returncode == 130 and said.count("\n") == 1, said
    assert f"--out {out} continues from here" in said


@needs_root
@pytest.mark.parametrize("kills, repeats", [(6, 1), pytest.param(20, 3, marks=pytest.mark.long)])
def test_kills_lose_no_point_and_repeat_none(kills, repeats, tiny, tmp_path):
    out = tmp_path / "out"
    words = [SWEEP, *BUSY, "--profile", tiny, "--repeats", repeats, "--out", out, "--quiet"]
    moments, seen, killed = random.Random(1), {}, 0
    for _ in range(kills):
        with subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as process:
            try:
                process.wait(moments.uniform(0.05, 0.7))
            except subprocess.TimeoutExpired:
                killed += 1
            process.send_signal(signal.SIGKILL)
        now = marks(out) if (out / "runs").exists() else {}
        assert {name: now.get(name) for name in seen} == seen
        seen = now
    assert killed >= kills // 2
    sweep_wholly(*words[1:])
    assert names(out) == planned(out) and not list((out / "pending").iterdir())
    assert {name: marks(out)[name] for name in seen} == seen
    assert len(table(out / "tidy.csv")) == 8 * repeats


@needs_root
def test_a_killed_sweep_leaves_no_run_behind(tiny, tmp_path):
    out = tmp_path / "out"
    words = [SWEEP, *BUSY, "--profile", tiny, "--seconds", 60, "--out", out]
    with subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE) as process:
        processes.wait_until(lambda: at_work(out), timeout_s=60)
        process.send_signal(signal.SIGKILL)
    processes.wait_until(lambda: not at_work(out), timeout_s=60)


def at_work(out: Path) -> list[str]:
    """Processes that make a run of a sweep."""
    record = f"{out.parent.name}/{out.name}/pending".encode()
    return [entry for entry in os.listdir("/proc") if entry.isdigit() and record in cmdline(entry)]


def cmdline(pid: str) -> bytes:
    """Command line of a process, nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@needs_root
def test_a_failed_point_is_recorded_and_the_sweep_goes_on(tiny, tmp_path, monkeypatch, capsys):
    out, plain = tmp_path / "out", launch.command_of

    def changed(run, *rest):
        broken = ["--break", "lose-update"] if run.arguments[0] == "A2" else []
        return [*plain(run, *rest), *broken]

    monkeypatch.setattr(launch, "command_of", changed)
    words = [*map(str, BUSY), "--profile", str(tiny), "--repeats", "1", "--threads", "1", "--out",
             str(out)]
    said = TOO_SHORT
    for _ in range(TRIES):
        if TOO_SHORT in said:
            assert command.main(words) == 1
            said = capsys.readouterr().err
    assert names(out) == {"one_64B_1T.r1", "one_4096B_1T.r1"}
    failure = json.loads((out / "failed" / "two_64B_1T.r1.json").read_text())
    assert failure["exit_status"] == 1 and "lose-update" in failure["command"]
    assert "a law broke" in said
    assert {row["label"] for row in table(out / "tidy.csv")} == {"one"}
    # Repaired, the same command tries only these again.
    monkeypatch.setattr(launch, "command_of", plain)
    before = marks(out)
    sweep_wholly(*words)
    assert names(out) == planned(out) and not list((out / "failed").iterdir())
    assert {name: marks(out)[name] for name in before} == before


@needs_root
def test_a_full_disk_is_one_line_and_costs_nothing_made(tiny, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1150k", "none", out], check=True)
    try:
        done = sweep("--profile", tiny, "--repeats", 2, "--out", out, "--quiet")
        one_line(done, "No space left")
        before = marks(out)
        assert 0 < len(before) < 16
        subprocess.run(["mount", "-o", "remount,size=16m", out], check=True)
        sweep_wholly("--profile", tiny, "--repeats", 2, "--out", out)
        assert names(out) == planned(out)
        assert {name: marks(out)[name] for name in before} == before
    finally:
        subprocess.run(["umount", "-l", out], check=True)


@needs_root
def test_corrupt_foreign_and_misplaced_records_are_named(tiny, tmp_path):
    out = tmp_path / "out"
    words = ("--profile", tiny, "--repeats", 1, "--threads", 1, "--out", out)
    sweep_wholly(*words)
    victim, before = out / "runs" / "one_64B_1T.r1.json", marks(out)
    whole = victim.read_text()
    for text, key in ((whole[:900], "JSON"), ("{}", "schema"),
                      (whole.replace('"variant": "A1"', '"variant": "A2"'), "workload.variant"),
                      (whole.replace('"mean"', '"men"').replace('"elapsed_ns"', '"el"'),
                       "timing.elapsed_ns")):
        victim.write_text(text)
        one_line(sweep(*words), victim.name, key)
    victim.unlink()
    stranger = out / "runs" / "stranger.json"
    stranger.write_text(whole)
    one_line(sweep(*words), "stranger.json", "plan")
    stranger.unlink()
    sweep_wholly(*words)
    del before[victim.name]
    assert {name: marks(out)[name] for name in before} == before


@needs_root
def test_a_slip_that_no_run_came_of_binds_nobody(tiny, tmp_path):
    words = ("--profile", tiny, "--repeats", 1, "--threads", 1, "--sizes", 64, "--variants", "one",
             "--out", tmp_path / "out")
    one_line(sweep(*words, "--kernel", "0.1"), "--kernel 0.1")
    # What is no record of the plan is nobody's to remove.
    (tmp_path / "out" / "pending" / "tmp.x").mkdir()
    sweep_wholly(*words)
    assert names(tmp_path / "out") == {"one_64B_1T.r1"}
    assert [file.name for file in (tmp_path / "out" / "pending").iterdir()] == ["tmp.x"]


@needs_root
def test_another_plan_or_another_sweep_in_the_same_folder_is_refused(tiny, tmp_path):
    out = tmp_path / "out"
    words = ("--profile", tiny, "--repeats", 1, "--threads", 1, "--sizes", 64, "--out", out)
    sweep_wholly(*words)
    one_line(sweep(*words, "--seconds", "0.03"), "plan.json", "seconds")
    with subprocess.Popen([str(word) for word in (SWEEP, *BUSY, "--profile", tiny, "--seconds", 5,
                                                  "--out", tmp_path / "other")],
                          stderr=subprocess.DEVNULL) as process:
        # Written once the folder is locked.
        processes.wait_until((tmp_path / "other" / "plan.json").exists, timeout_s=60)
        one_line(sweep("--profile", tiny, "--seconds", 5, "--out", tmp_path / "other"),
                 "another sweep")
        process.kill()
