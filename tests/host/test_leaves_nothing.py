# SPDX-License-Identifier: GPL-2.0
"""However trace_run ends, the machine is as it was before."""
import json
import os
import random
import signal
import subprocess
import time

import pytest

from helpers import leftovers, processes, records, small_pipe
from helpers.machine import GRACE_S, Machine

pytestmark = records.needs_root

KILLS, PARALLEL, LATEST_S = 50, 2, 0.4


@pytest.fixture(name="place")
def private_place(tmp_path):
    """Where records and temporary files of the runs go, and orphans come home to us."""
    processes.become_subreaper(True)
    for name in "runs", "tmp":
        (tmp_path / name).mkdir()
    yield tmp_path
    processes.become_subreaper(False)


def environment(place):
    """Sends everything that a run writes into a private place."""
    return {**os.environ, "COPYSCOPE_RUNS": str(place / "runs"), "TMPDIR": str(place / "tmp")}


def start(place, *words, starts=records.start):
    """Starts a run that would last far longer than anything here waits."""
    return starts("A3", 65536, 2, "--seconds", 60, *words, env=environment(place))


def kill_some(place, dice):
    """Starts a few runs and kills each at a moment of its own."""
    moments = [dice.uniform(0, LATEST_S) for _ in range(PARALLEL)]
    paths = [dice.choice(["lo", "veth"]) for _ in range(PARALLEL)]
    began = time.monotonic()
    # Without a report that is to be printed: what is killed is then what measures.
    runs = [start(place, "--path", path, "--quiet") for path in paths]
    for moment, run in sorted(zip(moments, runs), key=lambda pair: pair[0]):
        time.sleep(max(0, began + moment - time.monotonic()))
        run.kill()
    for run in runs:
        run.communicate(timeout=GRACE_S)
        assert run.returncode == -signal.SIGKILL


def test_sigkill_at_50_random_moments_leaves_nothing(place):
    number = random.SystemRandom().randrange(1 << 32)
    hint = f"random.Random({number})"
    dice = random.Random(number)
    before, alive_before = Machine(), leftovers.namespaces_alive()
    for _ in range(KILLS // PARALLEL):
        kill_some(place, dice)
        before.check(hint)
    alive = leftovers.namespaces_alive()
    # One or two namespaces a run; the kernel's count is rough, and others run beside us.
    assert alive is None or alive - alive_before < KILLS // 2, hint
    before.check_cgroups(hint)
    assert not os.listdir(place / "runs") and not os.listdir(place / "tmp"), hint


@pytest.mark.parametrize("passes", ["both", "counted"])
@pytest.mark.parametrize("path", ["lo", "veth"])
def test_sigkill_in_mid_run_leaves_nothing(place, path, passes):
    before = Machine()
    run = start(place, "--path", path, "--pass", passes, "--quiet")
    try:
        pids = processes.wait_running(run.pid)
        inside = leftovers.network_namespaces()
        assert any(pids["server"] in living for inode, living in inside.items()
                   if inode not in before.namespaces)
        # Of two passes the first is the one without probes.
        assert passes == "both" or leftovers.bpf_objects() - before.bpf, \
            "this test cannot see BPF objects"
    finally:
        run.kill()
        run.communicate(timeout=GRACE_S)
    before.check()
    assert not os.listdir(place / "runs")


def test_a_run_whose_report_nobody_prints_any_more_ends_and_has_its_record(place):
    before = Machine()
    run = start(place, "--pass", "counted")
    processes.wait_running(run.pid)
    collector, = processes.children(run.pid)
    run.kill()
    run.communicate(timeout=GRACE_S)
    assert os.waitstatus_to_exitcode(os.waitpid(collector, 0)[1]) == 128 + signal.SIGTERM
    name, = os.listdir(place / "runs")
    record = records.load(place / "runs" / name)
    assert record["experiment"]["outcome"]["status"] == "interrupted" and not records.laws_with(record, "broken")
    before.check()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_in_order_with_report_and_record(place, number):
    before = Machine()
    with start(place, "--pass", "counted", starts=records.under_way) as run:
        processes.wait_running(run.pid)
        time.sleep(0.2)
        run.send_signal(number)
    assert run.done.code == 128 + number, run.done.err
    assert run.done.out.startswith(f"The run was interrupted: signal {number:d} ({number.name})")
    name, = os.listdir(place / "runs")
    record = records.load(place / "runs" / name)
    assert records.site(record, "rx_copy") == record["experiment"]["workload"]["received_bytes"] > 0
    assert not records.laws_with(record, "broken")
    assert record["experiment"]["outcome"]["status"] == record["window"]["ended_by"] == "interrupted"
    before.check()


def test_a_finished_run_leaves_its_record_alone(place):
    before = Machine()
    done = records.run("A1", 4093, 2, "--messages", 23, env=environment(place))
    assert done.code in records.WELL
    before.check()
    assert len(os.listdir(place / "runs")) == 1 and not os.listdir(place / "tmp")
    before.check_cgroups()


@pytest.mark.parametrize("command", [
    ("build/trace_run", "A1", "64", "1", "--messages", "1"),
    ("build/baseline", "--quick", "--rounds", "1", "--only", "syscall")])
def test_a_signal_while_the_record_is_written_does_not_cut_it(command, place):
    with subprocess.Popen([*command, "--json", "-"], cwd=records.ROOT, stdout=subprocess.PIPE,
                          env=environment(place), text=True) as process:
        small_pipe.shrink(process.stdout)
        small_pipe.wait_until_full(process.stdout)
        process.send_signal(signal.SIGINT)
        record = json.loads(process.communicate(timeout=60)[0])
    assert record["schema"].startswith("copyscope.")
