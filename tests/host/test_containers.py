# SPDX-License-Identifier: GPL-2.0
"""In namespaces a run counts its own bytes and nobody else's, whatever numbers its processes bear."""
import contextlib
import subprocess

import pytest

from helpers import processes, records, workload
from helpers.books import (PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD, TRACEPOINT_NOT_TESTABLE,
                           check_laws, check_sites)

pytestmark = records.needs_root

PRIME = (PRIME_BYTES, 4, "--messages", PRIME_MESSAGES)
PID = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--")
PID_FOREIGN_PROC = ("unshare", "--pid", "--fork", "--kill-child", "--")
PLACES = {
    "a PID namespace": PID,
    "a PID namespace in a PID namespace": PID + PID,
    "a PID namespace that sees the /proc of another": PID_FOREIGN_PROC,
    "a network namespace": ("unshare", "--net", "--"),
    "a mount namespace": ("unshare", "--mount", "--"),
    "a cgroup namespace": ("unshare", "--cgroup", "--"),
    "namespaces of every kind but user": (
        "unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--net", "--ipc", "--uts",
        "--cgroup", "--mount", "--"),
}


def start_in(place, *words):
    """Starts trace_run by way of the words that make its namespaces; it prints its record."""
    command = [*place, records.TRACE_RUN, *words, "--json", "-"]
    return subprocess.Popen([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def check_exact(done):
    """The run ended well, and its books hold the workload's bytes and no others."""
    assert done.code == 0, done.err + records.broken_text(done.out)
    record = done.record
    work = record["workload"]
    check_sites(record, work["messages"] * work["bytes"])
    backend = record["backend"]["name"]
    check_laws(record, TRACEPOINT_NOT_TESTABLE if backend == "tracepoint" else frozenset())
    assert len(record["sockets"]) == 2 * work["threads"]
    return record


def pids(record):
    """The pids of both ends, as the run's PID namespace numbers them."""
    return {each["end"]: each["pid"] for each in record["sockets"]}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("variant", ["A1", "A3"])
def test_every_byte_is_found_in(place, variant):
    record = check_exact(records.finish(start_in(PLACES[place], variant, *PRIME)))
    assert record["workload"]["accepted_bytes"] == PRIME_PAYLOAD
    for end in "sender", "receiver":
        assert record["counters"][end]["task-clock"]["value"] > 0


def test_two_runs_with_the_same_pids_count_each_its_own():
    runs = [start_in(PID, variant, 65536, 2, "--seconds", 1) for variant in ("A3", "A3")]
    try:
        done = [records.finish(run) for run in runs]
    finally:
        for run in runs:
            run.kill()
    found = [check_exact(each) for each in done]
    assert pids(found[0]) == pids(found[1])
    # Else packets of one run would be told by their addresses to be the other's.
    assert not {each["local"] for each in found[0]["sockets"]} & {
        each["local"] for each in found[1]["sockets"]}
    assert found[0]["id"] != found[1]["id"]


@contextlib.contextmanager
def stranger(variant):
    """A pair of the same kind that nobody traces, at full speed; yields the pid of its sender and
    a function that says what was sent meanwhile."""
    with workload.server(variant, 65536, "--seconds", 30, "--json", "--clients", 1) as sender:
        with workload.client(sender, 65536, 1, "--json") as receiver:
            def end():
                sender.process.terminate()
                return receiver.totals()["received_bytes"]

            yield sender.process.pid, end


@pytest.mark.parametrize("variant", ["A1", "A3"])
def test_a_stranger_that_bears_our_number_is_not_counted(variant):
    first = pids(check_exact(records.finish(start_in(PID, variant, *PRIME))))["sender"]
    with stranger(variant) as (pid, end_stranger):
        # The sender was the first-th process of its namespace: have it be the pid-th.
        shifted = (*PID, "sh", "-c", 'echo $1 >/proc/sys/kernel/ns_last_pid && shift && "$@"', "sh",
                   pid - first)
        processes.wait_until(lambda: len(processes.threads(pid)) > 1)
        done = records.finish(start_in(shifted, variant, *PRIME))
        noise = end_stranger()
    record = check_exact(done)
    assert pids(record)["sender"] == pid
    assert record["workload"]["accepted_bytes"] == PRIME_PAYLOAD
    assert noise > 100 * PRIME_PAYLOAD
