# SPDX-License-Identifier: GPL-2.0
"""What other processes send during a run adds not one byte to a run's books."""
import contextlib
import json
import subprocess

import pytest

from helpers import processes, records
from helpers.books import TRACEPOINT_NOT_TESTABLE, check_laws, check_sites

pytestmark = records.needs_root

WORKLOAD = records.ROOT / "build" / "workload"
NOISE_PORT = 7777
# What the others must have sent while we counted, for the test to mean something.
NOISE_BYTES = 20_000_000


def check_exact(record):
    """The books show the workload's bytes, all of them and no others."""
    work = record["experiment"]["workload"]
    backend = record["backend"]["name"]
    check_sites(record, work["messages"] * work["bytes"])
    check_laws(record, TRACEPOINT_NOT_TESTABLE if backend == "tracepoint" else frozenset())
    assert len(record["sockets"]) == 2 * work["threads"]
    assert {each["end"] for each in record["sockets"]} == {"sender", "receiver"}


@contextlib.contextmanager
def noise_in_the_namespace_of(pid, variant):
    """A second pair at full speed on the same loopback; yields a function that ends it and
    returns the bytes that it moved."""
    enter = ["nsenter", "--target", str(pid), "--net", "--", str(WORKLOAD)]
    common = ["--port", str(NOISE_PORT), "--json"]
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with contextlib.ExitStack() as stack:
        def launch(*words):
            process = subprocess.Popen([*enter, *words, *common], **quiet)
            stack.callback(process.communicate)
            stack.callback(process.kill)
            return process

        sender = launch("server", variant, "65536", "--listen", "127.0.0.1", "--seconds", "30",
                        "--clients", "1")
        receiver = launch("client", "65536", "1", "--connect", "127.0.0.1")

        def end():
            sender.terminate()
            out, _ = receiver.communicate(timeout=60)
            return json.loads(out)["received_bytes"]

        yield end


@pytest.mark.parametrize("variant, other", [("A1", "A3"), ("A3", "A3")])
def test_a_second_pair_on_the_same_loopback_adds_nothing(variant, other):
    run = records.start(variant, 65536, 2, "--path", "lo", "--seconds", 1.5, "--json", "-")
    try:
        # As soon as there is a namespace to enter: before the gate opens.
        pids = processes.wait_until(lambda: processes.workload_pids(run.pid))
        with noise_in_the_namespace_of(next(iter(pids.values())), other) as end_noise:
            done = records.finish(run)
            noise = end_noise()
    finally:
        run.kill()
    assert done.code in records.WELL, done.err + records.broken_text(done.out)
    check_exact(done.record)
    if done.record["experiment"]["attempt"] == 1:
        assert noise > NOISE_BYTES
        # Had it been counted, it would show: it was no small part of the whole.
        assert noise > done.record["experiment"]["workload"]["received_bytes"] / 100


@pytest.mark.parametrize("path", ["lo", "veth"])
def test_two_runs_at_the_same_time_are_both_exact(path):
    runs = [records.start(variant, 65536, 2, "--path", path, "--seconds", 1, "--json", "-")
            for variant in ("A3", "A3")]
    try:
        done = [records.finish(run) for run in runs]
    finally:
        for run in runs:
            run.kill()
    cookies = []
    for each in done:
        assert each.code in records.WELL, each.err + records.broken_text(each.out)
        check_exact(each.record)
        cookies += [socket["cookie"] for socket in each.record["sockets"]]
    assert len(set(cookies)) == len(cookies) == 8
