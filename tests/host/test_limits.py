# SPDX-License-Identifier: GPL-2.0
"""The limit of connections holds, and too little room for them is told before a run."""
from __future__ import annotations

import os
import resource
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from helpers import records, workload

pytestmark = records.needs_root

MOST, ONE_EACH = 1024, 1
PIDS = Path("/sys/fs/cgroup/pids")
WORKLOAD = records.ROOT / "build" / "workload"
# Nobody else's: the limit of processes counts all of a user's.
LONELY = 64123


def limited(*limits):
    """Returns a preexec_fn that sets resource limits: (name, soft, hard)."""
    def apply():
        for name, soft, hard in limits:
            resource.setrlimit(name, (soft, hard))
    return apply


def run(threads: int, *words, messages: int | None = None, **options) -> records.Run:
    """A run of one small message on each connection, record on stdout."""
    return records.run("A1", 64, threads, "--messages", messages or threads, *words, "--json", "-",
                       **options)


def check_refused(done: records.Run, *hints: str) -> None:
    """One line that says what to do, exit 3, no record."""
    assert (done.code, done.out) == (3, ""), done.err
    assert len(done.err.splitlines()) == 1, done.err
    for hint in hints:
        assert hint in done.err


@pytest.mark.parametrize("path", [pytest.param("lo", marks=pytest.mark.long), "veth"])
def test_as_many_connections_as_there_may_be_balance_to_the_byte(path):
    # A soft limit far below what the run needs is raised, not complained of.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    done = run(MOST, "--path", path, preexec_fn=limited((resource.RLIMIT_NOFILE, 64, hard)))
    assert done.code in records.WELL, done.err + records.broken_text(done.out)
    record = done.record
    assert record["experiment"]["workload"]["connections"] == MOST and len(record["sockets"]) == 2 * MOST
    assert records.site(record, "rx_copy") == MOST * 64
    assert not records.laws_with(record, "broken")


def test_one_more_is_bad_input():
    done = run(MOST + 1)
    assert (done.code, done.out) == (2, "") and len(done.err.splitlines()) == 1
    assert "from 1 to 1024" in done.err


def test_the_limit_is_told_where_people_look():
    assert "1,024 connections" in (records.ROOT / "docs/RUNNING.md").read_text()
    helped = subprocess.run([records.TRACE_RUN, "--help"], capture_output=True, text=True, check=True)
    assert "THREADS 1 to 1024" in " ".join(helped.stdout.split())


def test_too_few_descriptors_are_told_before_the_run():
    hard = MOST + 15
    done = run(MOST, preexec_fn=limited((resource.RLIMIT_NOFILE, hard, hard)))
    check_refused(done, "1040 descriptors", f"limit is {hard}", "ulimit -Hn 1040", "fewer connections")


def test_too_few_processes_are_told_before_the_run():
    done = run(64, preexec_fn=limited((resource.RLIMIT_NPROC, 100, 100)))
    check_refused(done, "136 processes and threads", "ulimit -u 136")


@contextmanager
def control_group(most: int):
    """A control group that takes so many tasks; yields a preexec_fn that enters it."""
    above = PIDS if PIDS.is_dir() else Path("/sys/fs/cgroup")
    group = above / f"copyscope-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / "pids.max").write_text(str(most))
    except OSError as error:
        pytest.skip(f"no control group of tasks here: {error}")
    try:
        yield lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
    finally:
        group.rmdir()


def test_a_control_group_with_too_few_tasks_is_told_before_the_run():
    with control_group(100) as enter:
        check_refused(run(64, preexec_fn=enter), "136 processes and threads", "pids.max")
    with control_group(100) as enter:
        assert run(ONE_EACH, messages=23, preexec_fn=enter).code in records.WELL


@contextmanager
def server(clients: int):
    """A server that waits for so many clients; yields its port."""
    with workload.server("A1", 64, "--clients", clients, "--messages", clients) as it:
        yield it


def test_a_workload_that_cannot_have_its_threads_says_so_once():
    with open(WORKLOAD, "rb") as program, server(8) as waiting:
        # By descriptor: the tree may lie where that user cannot look.
        done = subprocess.run(
            ["workload", "client", "64", "8", "--port", str(waiting.port)],
            executable=f"/proc/self/fd/{program.fileno()}", pass_fds=[program.fileno()],
            user=LONELY, group=LONELY, extra_groups=[], capture_output=True, text=True, timeout=60,
            preexec_fn=limited((resource.RLIMIT_NPROC, 1, 1)), check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and "cannot start a thread" in done.stderr, done.stderr


def may_raise(limit: int) -> bool:
    """May this process raise a hard limit (CAP_SYS_RESOURCE)?"""
    before = resource.getrlimit(limit)
    try:
        resource.setrlimit(limit, (before[0], before[1] + 1 if before[1] > 0 else before[1]))
    except (OSError, ValueError):
        return False
    resource.setrlimit(limit, before)
    return True


def test_the_limit_of_locked_memory_grows_by_what_is_registered():
    """Two messages of 1 MiB on each of four connections do not fit below 8 MiB."""
    if not may_raise(resource.RLIMIT_MEMLOCK):
        pytest.skip("this process may not raise RLIMIT_MEMLOCK")
    done = records.run("uring-zc-fixed", "1M", 4, "--path", "lo", "--pass", "timed", "--messages", 8, "--json", "-",
                       preexec_fn=limited((resource.RLIMIT_MEMLOCK, 8 << 20, 8 << 20)))
    assert done.code == 0 or "io_uring" in done.err and "refuses" in done.err, done.err
