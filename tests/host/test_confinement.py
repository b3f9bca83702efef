# SPDX-License-Identifier: GPL-2.0
"""No process of a run has more power than it needs, and none can get it back."""
from __future__ import annotations

import os
import re
import signal
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from helpers import inject, processes, records

pytestmark = records.needs_root
NONE = "0" * 16
SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
# Of the record keeper: CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_NET_ADMIN.
KEEPER = "000000000000100a"
MEASURES, KEEPS, SERVES, ASKS = "trace_run", "record-keeper", "server", "client"
# Of the process that measures, once it has programs; of the one that makes a timed pass beside it.
COUNTS, TIMES = "copyscope-watch", "timed pass"


def status_of(pid: int) -> dict[str, str]:
    """The lines of /proc/PID/status."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {key: value.strip() for key, value in (line.split(":", 1) for line in lines)}


def descriptors_of(pid: int) -> set[str]:
    """What a process has open, without numbers of pipes and the like."""
    found = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        with suppress(OSError):
            found.add(re.sub(r":?\[.*\]|#\d+( \(deleted\))?$", "", os.readlink(f"/proc/{pid}/fd/{name}")))
    return found


def role_of(pid: int) -> str:
    """What a process of a run does."""
    words = processes.command_line(pid)
    name = Path(f"/proc/{pid}/comm").read_text().strip()
    return words[1] if name == "workload" else name


def roles_below(one_try: int) -> dict[str, int] | None:
    """Pids of all that a run consists of, by what they do; None while a new one has its parent's name."""
    pids = (one_try, *processes.descendants(one_try))
    roles = {role_of(pid): pid for pid in pids}
    return roles if len(roles) == len(pids) else None


@contextmanager
def a_run(place, *words, seconds=20):
    """A run in the middle; its process and the pids of all that it consists of, by what they do."""
    secret = os.open("/etc/shadow", os.O_RDONLY)
    run = records.start("A3", 65536, 2, "--seconds", seconds, "--quiet", "--json", place / "run.json", *words,
                        pass_fds=[secret])
    try:
        processes.wait_running(run.pid)
        one_try, = processes.children(run.pid)
        yield run, processes.wait_until(lambda: roles_below(one_try))
    finally:
        os.close(secret)
        run.kill()
        run.communicate()


@pytest.mark.parametrize("measures, passes", [(COUNTS, "counted"), (TIMES, "both")])
def test_every_process_is_a_user_without_powers_and_has_what_it_needs_open(measures, passes, tmp_path):
    with a_run(tmp_path, "--pass", passes) as (run, pids):
        if measures == TIMES:
            # It only waits then, as the first process does, and attaches the probes afterwards.
            del pids[MEASURES]
        assert set(pids) == {measures, KEEPS, SERVES, ASKS}
        status = {role: status_of(pid) for role, pid in pids.items()}
        first = status_of(run.pid)
        opened = {role: descriptors_of(pid) for role, pid in pids.items()}
        record = {f"{tmp_path}/", str(tmp_path)}  # without a name yet, and its folder
        run.send_signal(signal.SIGINT)
        done = records.finish(run)
    assert done.code == 128 + signal.SIGINT, done.err
    assert first["NoNewPrivs"] == "1"
    for role, lines in status.items():
        assert (lines["NoNewPrivs"], lines["Seccomp"]) == ("1", "0" if role == KEEPS else "2"), role
        assert [lines[each] for each in SETS] == (
            [NONE, KEEPER, KEEPER, NONE, NONE] if role == KEEPS else [NONE] * 5), role
        assert set(lines["Uid"].split()) == {"0" if role == KEEPS else str(processes.confined_user())}, role
        assert lines["Groups"] == "" or role == KEEPS
    assert opened[SERVES] == opened[ASKS] == {"/dev/null", "pipe", "socket"}
    assert opened[KEEPS] == {"pipe", "socket", *record}
    # Who else uses the CPUs: /proc/stat and the run time of each kernel thread for softirqs.
    assert all(processes.comm(int(name.split("/")[2])).startswith("ksoftirqd/") for name in opened[measures]
               if name.endswith("/schedstat"))
    assert {re.sub(r"\d+", "N", name) if name.endswith("/schedstat") else name
            for name in opened[measures]} - {"/dev/null"} <= {
        "pipe", "socket", *record, "net", "anon_inode", "anon_inode:bpf-map",
        "anon_inode:bpf-prog", "anon_inode:bpf_link", "anon_inode:btf", "anon_inode:bpf-stats",
        "/proc/stat", "/proc/N/schedstat"}


@pytest.mark.skipif(not inject.possible, reason="written for the registers of x86-64")
@pytest.mark.parametrize("role, said", [
    (SERVES, "the server was killed by signal 31 (SIGSYS)"),
    (ASKS, "the client was killed by signal 31 (SIGSYS)"),
    (MEASURES, "the process that measured was killed by signal 31"),
])
def test_execve_from_inside_kills_and_is_told(tmp_path, role, said):
    # Without probes, so that no try is made again because packets were kept from them.
    with a_run(tmp_path, "--no-probes") as (run, pids):
        inject.system_call(pids[role], processes.SYSCALLS["x86_64"]["execve"])
        done = records.finish(run)
    assert done.code == 1
    assert said in done.err
    if role in (SERVES, ASKS):
        ended = records.load(tmp_path / "run.json")["experiment"]["outcome"]
        assert ended["status"] == "failed"
        assert ended["sender" if role == SERVES else "receiver"]["signal"] == signal.SIGSYS
    else:
        assert not os.listdir(tmp_path)


def test_a_keeper_that_was_killed_is_told_and_leaves_no_record(tmp_path):
    with a_run(tmp_path, "--no-probes", seconds=1.5) as (run, pids):
        os.kill(pids[KEEPS], signal.SIGKILL)
        done = records.finish(run)
    assert done.code == 1 and "cannot write the record" in done.err
    assert not os.listdir(tmp_path)


def test_a_hostile_path_gives_nobody_a_program_to_run(tmp_path):
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in ("ip", "tc", "ethtool", "modprobe", "bash", "dirname", "readlink", "python3"):
        (folder / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-{name}\nexit 1\n")
        (folder / name).chmod(0o755)
    run = records.start("A1", 4096, 1, "--messages", 10, "--json", "-", "--quiet", cwd="/",
                        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
    done = records.finish(run)
    assert done.code in records.WELL, done.err
    assert not [name for name in os.listdir(tmp_path) if name.startswith("ran-")]
