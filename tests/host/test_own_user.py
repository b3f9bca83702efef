# SPDX-License-Identifier: GPL-2.0
"""Without root's power our processes are a user of their own: no other user's process can touch them."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from helpers import processes, records, watch_tool

pytestmark = records.needs_root

NOBODY, OURS, SIGNALS = 65534, 777, (signal.SIGSTOP, signal.SIGINT, signal.SIGKILL)
STRIKE = "import os, sys\nfor each in sys.argv[2:]:\n  try: os.kill(int(each), int(sys.argv[1]))\n" \
         "  except PermissionError: print(each)\n"


def user_of(pid: int) -> int:
    """Whose process it is; its folder is root's where it may not be looked into."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    return int(next(line for line in lines if line.startswith("Uid:")).split()[1])


def unprivileged(process: subprocess.Popen) -> dict[int, int]:
    """Those of its processes that are not root's, and whose they are."""
    users = {pid: user_of(pid) for pid in (process.pid, *processes.descendants(process.pid))}
    return {pid: user for pid, user in users.items() if user}


@contextmanager
def at_work(kind: str, before: list):
    """A run or a watch in the middle of its work."""
    words = {"run": [records.TRACE_RUN, "A3", "65536", "1", "--seconds", "60", "--path", "lo"],
             "watch": [watch_tool.COPYSCOPE, "watch", "--all", "--seconds", "60"]}[kind]
    with subprocess.Popen([*before, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL) as process:
        try:
            if kind == "watch":
                assert "window is open" in process.stderr.readline()
                # Only then it gives up its power.
                processes.wait_until(lambda: unprivileged(process))
            else:
                processes.wait_until(lambda: len(processes.workload_pids(process.pid)) == 2)
                server = processes.workload_pids(process.pid)["server"]
                processes.wait_until(lambda: len(processes.threads(server)) > 1)
            yield process
        finally:
            for each in [*processes.descendants(process.pid), process.pid]:
                if os.path.exists(f"/proc/{each}"):
                    os.kill(each, signal.SIGKILL)


@pytest.mark.parametrize("kind", ["run", "watch"])
def test_no_process_of_nobody_can_stop_or_end_a_process_of_ours(kind):
    with at_work(kind, []) as process:
        ours = unprivileged(process)
        assert ours and set(ours.values()) == {processes.confined_user()}
        for number in SIGNALS:
            done = subprocess.run([sys.executable, "-c", STRIKE, str(int(number)), *map(str, ours)],
                                  user=NOBODY, group=NOBODY, extra_groups=[], check=True, text=True,
                                  capture_output=True)
            assert done.stdout.split() == [str(pid) for pid in ours], number


@pytest.mark.parametrize("kind", ["run", "watch"])
@pytest.mark.parametrize("number, used", [(OURS, True), (1234, False)])
def test_the_systems_user_copyscope_is_taken_but_no_person_of_that_name(kind, number, used, tmp_path):
    with at_work(kind, processes.as_system_user(number, tmp_path)) as process:
        ours = set(unprivileged(process).values())
    assert ours == {number if used else processes.confined_user()}
