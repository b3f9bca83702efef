# SPDX-License-Identifier: GPL-2.0
"""What stands in the way of the baseline is told, and whatever ends it leaves nothing behind."""
from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers import baseline, leftovers, processes, records

USAGE, REFUSED = 2, 3
NOBODY = 65534
BAD_WORDS = {
    "a word that is no option": ["everything"],
    "a row that is not there": ["--only", "warp-drive"],
    "an option that is not there": ["--fast"],
    "runs 1": ["--runs", "1"],
    "runs 31": ["--runs", "31"],
    "runs with a tail": ["--runs", "6x"],
    "rounds 0": ["--rounds", "0"],
    "a delay of nothing": ["--rtt", "0"], "one card": ["--nics", "eth0"], "a card twice": ["--nics", "a,a"],
    "three cards": ["--nics", "a,b,c"],
    "a delay that outlasts TCP's patience": ["--rtt", "501"],
    "a folder that is not there": ["--dir", "no/such/folder"],
    "json names no file": ["--json", ""],
    "json in a folder that is not there": ["--json", "no/such/folder/record"],
    "json is a folder": ["--json", "tests"],
    "a record that is none": ["mistakes", "Makefile"],
    "a record that is not there": ["plot", "no-such-record", "--out", "nowhere"],
}


@pytest.mark.parametrize("case", BAD_WORDS)
def test_bad_words_are_told_and_exit_2(case, tmp_path):
    done = baseline.run(*BAD_WORDS[case], cwd=records.ROOT,
                        env={**os.environ, "COPYSCOPE_RUNS": str(tmp_path)})
    assert (done.returncode, done.stdout) == (USAGE, ""), done.stderr
    assert done.stderr.startswith("baseline: ") and len(done.stderr.splitlines()) <= 2
    assert not os.listdir(tmp_path)


def as_nobody(*words, folder: Path) -> subprocess.CompletedProcess:
    """Run the program as a user, by descriptor: the tree may lie where nobody can look."""
    folder.chmod(0o777)
    options = {} if os.geteuid() else {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    with open(baseline.PROGRAM, "rb") as program:
        return subprocess.run(["baseline", *words], capture_output=True, text=True, cwd="/tmp",
                              executable=f"/proc/self/fd/{program.fileno()}", check=False,
                              pass_fds=[program.fileno()], timeout=baseline.TIMEOUT_S, **options)


def test_without_root_software_rows_are_measured_and_say_that_nothing_proved_them(tmp_path):
    done = as_nobody("--quick", "--runs", "2", "--only", "syscall", "--only", "process", "--only",
                     "tcp-rtt", "--dir", "/var/tmp", "--json", "-", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = baseline.rows_of(done)
    for name in "syscall", "process":
        assert rows[name]["status"] == "unchecked" and rows[name]["measured"]["value"] > 0
        assert "sudo" in rows[name]["why"]
    assert rows["tcp-rtt"]["status"] == "not_measured" and "sudo" in rows["tcp-rtt"]["why"]


@records.needs_root
def test_a_folder_whose_name_is_no_utf_8_is_in_the_record(tmp_path):
    folder = tmp_path / os.fsdecode(b"folder\xff")
    folder.mkdir()
    done = baseline.run("--quick", "--runs", 2, "--only", "call-0", "--dir", folder, "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["machine"]["disk"]["dir"].endswith("folder\\xff")


@records.needs_root
def test_a_disk_in_memory_is_no_disk():
    row = baseline.quick("read-random", more=("--dir", "/dev/shm"))["read-random"]
    assert row["status"] == "not_measured"
    assert "in memory" in row["why"] and "--dir" in row["why"]


def in_private_mounts(script: str, *words) -> subprocess.CompletedProcess:
    """Run a shell script, and then tools/baseline, where nobody else sees the mounts."""
    command = ["unshare", "--mount", "--", "sh", "-c", script, "sh", baseline.BASELINE, *words]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=baseline.TIMEOUT_S, check=False)


@records.needs_root
def test_a_full_disk_is_refused(tmp_path):
    done = in_private_mounts(f"mount -t tmpfs -o size=64k disk {tmp_path} && exec \"$@\"",
                             "--quick", "--dir", tmp_path, "--json", "-")
    assert (done.returncode, done.stdout) == (REFUSED, "")
    assert "No space left" in done.stderr and "--dir" in done.stderr


@records.needs_root
def test_a_read_only_disk_is_refused(tmp_path):
    script = (f"mount --bind {tmp_path} {tmp_path} && mount -o remount,bind,ro {tmp_path} && "
              "exec \"$@\"")
    done = in_private_mounts(script, "--quick", "--dir", tmp_path, "--json", "-")
    assert (done.returncode, done.stdout) == (REFUSED, "")
    assert "Read-only" in done.stderr and "--dir" in done.stderr


@records.needs_root
def test_without_sshfs_the_row_says_what_was_missing():
    done = in_private_mounts("mount --bind /dev/null /dev/fuse; mount --bind /dev/null "
                             "/usr/bin/sshfs; exec \"$@\"", "--quick", "--runs", 2, "--only",
                             "remote-random", "--json", "-")
    row = baseline.rows_of(done)["remote-random"]
    assert row["status"] == "not_measured" and "sshfs" in row["why"]
    assert done.returncode == 0


@records.needs_root
def test_without_a_tun_device_the_remote_path_says_so():
    done = in_private_mounts("mount --bind /dev/null /dev/net/tun; mount --bind /bin/false "
                             "\"$(readlink -f \"$(command -v tc)\")\"; exec \"$@\"", "--quick",
                             "--runs", 2, "--only", "icmp-rtt-remote", "--json", "-")
    row = baseline.rows_of(done)["icmp-rtt-remote"]
    assert row["status"] == "not_measured" and "TUN" in row["why"]


@records.needs_root
def test_a_busy_neighbour_is_warned_of():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as neighbour:
        try:
            done = baseline.run("--quick", "--only", "call-0", "--json", "-")
        finally:
            neighbour.kill()
    assert "ran before the first measurement" in done.stdout


@records.needs_root
def test_few_cpus_are_warned_of():
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this machine has one CPU")
    done = baseline.run("--quick", "--only", "call-0", "--json", "-",
                        preexec_fn=lambda: os.sched_setaffinity(0, {0}))
    assert "may use 1 of" in done.stdout


@contextlib.contextmanager
def control_group(controller: str, v1: tuple[str, str], v2: tuple[str, str]) -> Iterator[Path]:
    """A control group with one limit, by either version; the test is skipped without the two."""
    home, limit = Path("/sys/fs/cgroup") / controller, v1
    if not home.exists():
        home, limit = Path("/sys/fs/cgroup"), v2
        offered = home / "cgroup.subtree_control"
        if not offered.exists() or controller not in offered.read_text().split():
            pytest.skip(f"no control groups that limit {controller} here")
    folder = home / f"copyscope-test-{controller}-{os.getpid()}"
    folder.mkdir()
    try:
        (folder / limit[0]).write_text(limit[1])
        yield folder
    finally:
        processes.wait_until(lambda: not (folder / "cgroup.procs").read_text(), 10)
        folder.rmdir()


def inside(folder: Path, *words) -> subprocess.CompletedProcess:
    """Run tools/baseline in a control group."""
    command = ["sh", "-c", f"echo 0 > {folder}/cgroup.procs; exec \"$@\"", "sh",
               baseline.BASELINE, *words]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=baseline.TIMEOUT_S, check=False)


@records.needs_root
def test_a_cpu_quota_is_warned_of():
    with control_group("cpu", ("cpu.cfs_quota_us", "50000"), ("cpu.max", "50000 100000")) as group:
        done = inside(group, "--quick", "--runs", 2, "--only", "call-0", "--json", "-")
    assert "may use 0.50 CPUs" in done.stdout


@records.needs_root
def test_with_little_memory_large_rows_are_left_out_and_say_so():
    mib = 200
    limit = str(mib << 20)
    with control_group("memory", ("memory.limit_in_bytes", limit), ("memory.max", limit)) as group:
        done = inside(group, "--quick", "--runs", 2, "--only", "bandwidth", "--only",
                      "latency-memory", "--only", "latency-l1", "--only", "file-cache", "--json",
                      "-")
    assert f"only {mib} MiB of memory are available" in done.stdout
    rows = baseline.rows_of(done)
    for name in "memory-read", "memory-copy", "latency-memory":
        assert rows[name]["status"] == "not_measured"
        assert "too little free memory" in rows[name]["why"]
    assert rows["latency-l1"]["status"] == rows["file-cache"]["status"] == "valid"


@records.needs_root
def test_a_file_that_the_page_cache_cannot_keep_is_no_wrong_benchmark():
    limit = str(80 << 20)
    with control_group("memory", ("memory.limit_in_bytes", limit), ("memory.max", limit)) as group:
        done = inside(group, "--quick", "--runs", 2, "--only", "read-again", "--only",
                      "fault-cached", "--only", "fault-hole", "--json", "-")
    rows = baseline.rows_of(done)
    assert (done.returncode, rows["fault-hole"]["status"]) == (0, "valid"), done.stderr
    for name in "read-again", "fault-cached":
        assert rows[name]["status"] == "not_measured" and "too little free" in rows[name]["why"]


def test_a_report_that_cannot_be_written_fails_the_run():
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([baseline.BASELINE, "--list"], stdout=full, stderr=subprocess.PIPE,
                              text=True, check=False, timeout=baseline.TIMEOUT_S)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1) and "No space" in done.stderr


def cached_pages(path: Path) -> int:
    """Pages of a file in the page cache, by fincore."""
    said = subprocess.run(["fincore", "-n", "-b", "-o", "PAGES", path], capture_output=True,
                          text=True, check=True)
    return int(said.stdout)


@records.needs_root
def test_caches_of_others_are_kept_unless_asked_for(tmp_path):
    other = Path("/var/tmp") / f"copyscope-test-{os.getpid()}"
    try:
        other.write_bytes(bytes(4096 * 101))
        baseline.quick("read-random", "fault-major", "file-cache")
        assert cached_pages(other) == 101
    finally:
        other.unlink()
    (tmp_path / "asked").write_text("")
    script = f"mount --bind {tmp_path}/asked /proc/sys/vm/drop_caches && exec \"$@\""
    for more, written in (((), ""), (("--drop-caches",), "3")):
        in_private_mounts(script, "--quick", "--runs", 2, "--only", "fault-major", "--json", "-",
                          *more)
        assert (tmp_path / "asked").read_text()[:1] == written


def marked(mark: str) -> list[int]:
    """Pids of the processes that carry this mark in their environment, as heirs of a run do."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            pass
    return found


def traces() -> set[str]:
    """What a run could leave on the machine, besides processes."""
    groups = {folder for folder in leftovers.cgroups() if "copyscope-baseline" in folder}
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    return {str(each) for each in (*leftovers.interfaces(), *groups, *mounts)}


@records.needs_root
def test_nothing_that_it_executes_gets_powers_from_a_file():
    with subprocess.Popen([baseline.PROGRAM, "--only", "contention", "--json", "-"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        try:
            processes.wait_until(lambda: "\nNoNewPrivs:\t1\n" in Path(
                f"/proc/{running.pid}/status").read_text())
        finally:
            running.kill()


@records.needs_root
@pytest.mark.parametrize("name, number", [
    ("remote-random", signal.SIGKILL), ("file-cache", signal.SIGKILL),
    ("tcp-rtt-remote", signal.SIGKILL), ("contention", signal.SIGKILL),
    ("remote-random", signal.SIGTERM), ("file-cache", signal.SIGINT),
])
def test_however_it_ends_nothing_is_left(name, number, tmp_path):
    before, mark = traces(), f"COPYSCOPE_TEST_MARK={tmp_path.name}-{os.getpid()}"
    with subprocess.Popen(["env", mark, baseline.PROGRAM, "--only", name, "--dir", "/var/tmp",
                           "--json", tmp_path / "record"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as running:
        # Long enough to be in the middle: the whole row takes far longer.
        time.sleep(1.5)
        processes.wait_until(lambda: len(marked(mark)) > 1)
        assert running.poll() is None
        running.send_signal(number)
        _, said = running.communicate(timeout=60)
    if number != signal.SIGKILL:
        assert b"interrupted" in said and running.returncode == 1
    processes.wait_until(lambda: not marked(mark) and traces() <= before, 10)
    assert not os.listdir(tmp_path)
    assert not list(Path("/var/tmp").glob("*copyscope*"))


@records.needs_root
def test_a_device_is_written_to_and_never_replaced(tmp_path):
    device = tmp_path / "null"
    os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    done = baseline.run("--quick", "--runs", 2, "--only", "call-0", "--quiet", "--json", device)
    assert done.returncode == 0, done.stderr
    assert stat.S_ISCHR(device.stat().st_mode)
