# SPDX-License-Identifier: GPL-2.0
"""Every wait of a run has a bound, every end of it is watched, and its record says how it ended."""
import os
import resource
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from helpers import processes, records
from helpers.machine import Machine

pytestmark = records.needs_root

# A signal ends a run within 2 s; what starts and ends the programs takes its time besides.
ORDER_S, PROGRAMS_S = 2.0, 2.0
LOCKED_TRIES = 20
ENDS = {"server": "sender", "client": "receiver"}


def started_end(run, end):
    """The pid of an end as soon as there is one; most often before the gate opens."""
    return processes.wait_until(lambda: processes.workload_pids(run.pid).get(end))


@pytest.mark.parametrize("pattern", ["stream", "rr"])
@pytest.mark.parametrize("end", ENDS)
def test_an_end_that_is_told_to_end_before_its_release_fails_the_run_at_once(end, pattern):
    with records.under_way("A3", 65536, 2, "--seconds", 60, "--pattern", pattern, "--json", "-") as run:
        pid = started_end(run, end)
        processes.wait_until(lambda: b"ready-fd" in open(f"/proc/{pid}/cmdline", "rb").read())
        os.kill(pid, signal.SIGTERM)
    assert run.done.code != 0 and run.took_s < 10
    assert not processes.children(run.pid)


@pytest.mark.parametrize("path", ["veth", "lo"])
def test_a_signal_at_any_moment_of_the_start_leaves_a_record_or_none(path):
    before, reasons = Machine(), []
    for delay_ms in range(0, 260, 20):
        with records.under_way("A3", 65536, 2, "--seconds", 60, "--path", path, "--json", "-") as run:
            # A moment is what is tested here: there is no event to wait for.
            time.sleep(delay_ms / 1000)
            run.send_signal(signal.SIGTERM)
        assert run.took_s < ORDER_S + PROGRAMS_S, delay_ms
        if not run.done.out:
            assert run.done.code == -signal.SIGTERM, f"{delay_ms} ms: {run.done}"
            continue
        record, outcome = run.done.record, run.done.record["experiment"]["outcome"]
        assert outcome["status"] == "interrupted" and not records.laws_with(record, "broken"), delay_ms
        assert record["window"]["ended_by"] == "interrupted" and run.done.code == 128 + signal.SIGTERM, delay_ms
        reasons.append(outcome["reason"])
        if reasons[-1].endswith("before it began"):
            assert not record["sockets"] and not records.laws_with(record, "balanced")
            assert record["backend"]["why"] == "the run was interrupted before it began"
    # As soon as there is something to describe, each run has its record.
    assert reasons
    before.check("SIGTERM while it starts")


@pytest.mark.parametrize("end", ENDS)
def test_an_end_that_is_killed_before_its_release_leaves_a_record(end):
    with records.under_way("A3", 65536, 2, "--seconds", 60, "--json", "-") as run:
        os.kill(started_end(run, end), signal.SIGKILL)
    outcome = run.done.record["experiment"]["outcome"]
    assert run.took_s < 10 and run.done.code == 1 and outcome["status"] == "failed"
    assert f"the {end} was killed by signal 9 (SIGKILL)" in outcome["reason"]
    assert outcome[ENDS[end]]["signal"] == signal.SIGKILL
    assert not records.laws_with(run.done.record, "broken")


@pytest.mark.parametrize("end", ENDS)
def test_a_signal_ends_a_run_in_which_an_end_is_never_ready(end):
    with records.under_way("A3", 65536, 2, "--seconds", 60, "--json", "-") as run:
        os.kill(started_end(run, end), signal.SIGSTOP)
        run.send_signal(signal.SIGTERM)
    assert run.took_s < ORDER_S + PROGRAMS_S and run.done.code == 128 + signal.SIGTERM
    assert run.done.record["experiment"]["outcome"]["status"] == "interrupted"
    assert "no verdict" in records.sentence_of(run.done.record)


@pytest.mark.parametrize("end", ENDS)
def test_an_end_that_somebody_stopped_in_mid_run_makes_no_complete_run(end):
    with records.under_way("A2", 65536, 2, "--seconds", 60, "--json", "-") as run:
        pids = processes.wait_running(run.pid)
        os.kill(pids[end], signal.SIGTERM)
    outcome = run.done.record["experiment"]["outcome"]
    assert run.took_s < 10 and outcome["status"] in ("failed", "interrupted")
    assert "signal 15 (SIGTERM) t" in outcome["reason"] and f"the {end}" in outcome["reason"]
    assert "no verdict" in records.sentence_of(run.done.record)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_ends_even_a_run_whose_ends_do_not_move(number):
    with records.under_way("A3", 65536, 2, "--seconds", 60, "--json", "-") as run:
        pids = processes.wait_running(run.pid)
        for pid in pids.values():
            os.kill(pid, signal.SIGSTOP)
        run.send_signal(number)
    outcome = run.done.record["experiment"]["outcome"]
    assert run.took_s < ORDER_S + PROGRAMS_S, run.took_s
    assert run.done.code == 128 + number and outcome["status"] == "interrupted"
    assert outcome["reason"].startswith(f"signal {number:d} ({number.name}) ended it")
    for end in ENDS.values():
        assert outcome[end]["signal"] == signal.SIGKILL and "not end" in outcome[end]["why"]
    assert not records.laws_with(run.done.record, "broken")


@pytest.mark.parametrize("way, end", [
    ("uring", "client"), ("uring-zc", "server"), ("uring-zc-fixed", "client"), ("uring-zc-sqpoll", "server"),
    ("sendfile", "client"), ("splice", "server"), ("vmsplice", "client"), ("udp", "server"), ("udp-zc", "client")])
def test_a_way_whose_end_is_killed_in_mid_send_breaks_no_law(way, end):
    # What a user may lock is shared by all of its runs, those of other tests, too.
    for _ in range(LOCKED_TRIES):
        with records.under_way(way, 65536, 2, "--seconds", 60, "--pass", "counted", "--json", "-") as run, suppress(processes.EndedEarly):
            pids = processes.wait_running(run.pid)
            time.sleep(0.3)
            os.kill(pids[end], signal.SIGKILL)
        if "raise RLIMIT_MEMLOCK" not in run.done.err:
            break
        time.sleep(1)
    record = run.done.record
    assert run.took_s < 20 and run.done.code == 1 and record["experiment"]["outcome"]["status"] == "failed"
    assert record["counts"]["returned_bytes"] > 65536
    assert not records.laws_with(record, "broken")
    # Datagrams that were under way are dropped: their end may be seen by no program.
    assert way.startswith("udp") or "receive" in records.laws_with(record, "balanced")


def test_an_end_that_stands_still_fails_the_run_after_its_time():
    # The server finds that nothing moves 10 s after the end; the client is ended after it.
    with records.under_way("A1", 65536, 1, "--seconds", 0.5, "--json", "-", timeout_s=40) as run:
        pids = processes.wait_running(run.pid)
        os.kill(pids["client"], signal.SIGSTOP)
    outcome = run.done.record["experiment"]["outcome"]
    assert run.took_s < 25 and run.done.code == 1 and outcome["status"] == "failed"
    assert "no progress: nothing moved for 10 s" in outcome["reason"]
    assert outcome["receiver"]["signal"] == signal.SIGKILL
    assert "no verdict" in records.sentence_of(run.done.record)
    assert not records.laws_with(run.done.record, "broken")


@pytest.mark.parametrize("how_long, stopped, reason", [
    (("--messages", "1M"), ("server", "client"), "neither end moved for 1 s"),
    (("--seconds", 0.3), ("client",), "the ends had not ended 1 s after their time"),
], ids=["both stand still", "late"])
def test_a_bound_ends_what_does_not_end_and_the_record_names_it(how_long, stopped, reason):
    with records.under_way("A1", 65536, 1, *how_long, "--break", "bounds:1", "--json", "-") as run:
        pids = processes.wait_running(run.pid)
        for end in stopped:
            os.kill(pids[end], signal.SIGSTOP)
    outcome = run.done.record["experiment"]["outcome"]
    assert run.done.code == 1 and outcome["status"] == "failed"
    assert f"no progress: {reason}" in outcome["reason"]
    assert outcome["receiver"]["signal"] == signal.SIGKILL
    assert "no verdict" in records.sentence_of(run.done.record)


def test_an_end_that_outlives_the_other_is_ended_after_its_bound():
    # In rr hardly anything is on the way: the server ends in order although the client stands still.
    with records.under_way("A1", 1000, 1, "--pattern", "rr", "--messages", "1M", "--break", "bounds:1",
                          "--json", "-") as run:
        pids = processes.wait_running(run.pid)
        os.kill(pids["client"], signal.SIGSTOP)
        os.kill(pids["server"], signal.SIGTERM)
    outcome = run.done.record["experiment"]["outcome"]
    assert run.done.code == 1 and outcome["status"] == "failed"
    assert "no progress: one end had not ended 1 s after the other" in outcome["reason"]
    assert outcome["sender"]["exit_status"] == 0
    assert outcome["receiver"]["signal"] == signal.SIGKILL


@pytest.fixture(name="small_group")
def small_memory_group():
    """The folder of a control group that may use 128 MiB, in either version of them."""
    for parent, limit in (  # noqa: B007  it is used below
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max")):
        folder = Path(parent, f"copyscope-test-{os.getpid()}")
        if not Path(parent, "cgroup.procs").exists():
            continue
        try:
            folder.mkdir()
            break
        except OSError:
            continue
    else:
        pytest.skip("no control group with a limit of memory can be made here")
    try:
        (folder / limit).write_text(str(128 << 20))
        yield folder
        processes.wait_until(lambda: not (folder / "cgroup.procs").read_text())
    finally:
        folder.rmdir()


def test_a_sender_killed_for_its_memory_leaves_no_sound_record(small_group, tmp_path):
    done = subprocess.run(
        ["sh", "-c", f'echo $$ > {small_group}/cgroup.procs && exec "$@"', "sh",
         records.TRACE_RUN, "A1", "1M", "128", "--json", tmp_path / "record.json"],
        capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    record = records.load(tmp_path / "record.json")
    assert record["experiment"]["outcome"]["status"] == "failed"
    assert "was killed by signal 9 (SIGKILL)" in record["experiment"]["outcome"]["reason"]
    sentence = records.sentence_of(record)
    assert sentence.startswith("The run failed: the ") and "copied" not in sentence
    assert {"send", "end to end", "witness sent"} <= records.laws_with(record, "not testable")


def test_a_send_that_no_limit_lets_through_is_no_success():
    def little_may_be_pinned():
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (1 << 20, 1 << 20))

    done = records.run("A3", "64M", 1, "--json", "-", preexec_fn=little_may_be_pinned)
    record = done.record
    assert done.code == 1 and record["experiment"]["outcome"]["status"] == "failed"
    assert "gets ENOBUFS with none outstanding" in record["experiment"]["outcome"]["reason"]
    assert records.sentence_of(record).startswith("The run failed: ")
    assert {"send", "end to end"} <= records.laws_with(record, "not testable")
