# SPDX-License-Identifier: GPL-2.0
"""A run whose link vanishes leaves nothing pinned: the run after it finds all of its user's memory."""
from __future__ import annotations

import signal
import subprocess
import time

import pytest

from helpers import processes, records

pytestmark = records.needs_root

# Of pages that may be pinned, hardly more than one message of a run that waits for each reply.
LITTLE, MESSAGES = "160k", 20
# What ends the run once its link is gone: its own patience, a signal that it obeys, one that it cannot.
ENDS = {"patience": None, "asked": signal.SIGTERM, "killed": signal.SIGKILL}


def cut(pid: int) -> None:
    """Remove the device that this process's packets leave by."""
    inside = ["nsenter", f"--net=/proc/{pid}/ns/net", "--"]
    said = subprocess.run([*inside, "ip", "-o", "link", "show", "type", "veth"], check=True, text=True,
                          capture_output=True).stdout
    device = said.split(": ")[1].split("@")[0]
    subprocess.run([*inside, "ip", "link", "del", device], check=True)


def lose_the_link(how: str, *words: object) -> records.Run:
    """A run with much in flight whose link vanishes."""
    run = records.start("A3", 65536, 4, "--path", "veth", "--seconds", 60, "--pass", "counted", *words)
    try:
        ends = processes.wait_until(lambda: len(found := processes.workload_pids(run.pid)) == 2 and found)
        processes.wait_until(lambda: len(processes.threads(ends["server"])) > 4)
        cut(ends["client"])
        if ENDS[how]:
            run.send_signal(ENDS[how])
        return records.finish(run, 60)
    finally:
        run.kill()


@pytest.mark.parametrize("how", ENDS)
def test_after_a_lost_link_nothing_stays_pinned(how):
    lost = lose_the_link(how)
    assert lost.code not in records.WELL
    if how == "asked":
        # It closes its sockets in order, and TCP forgets them a second after it has begun to repeat itself.
        time.sleep(2)
    done = records.run("A3", 65536, 1, "--path", "lo", "--pattern", "rr", "--messages", MESSAGES,
                       "--memlock", LITTLE, "--pass", "counted", "--json", "-")
    assert done.code in records.WELL, done.err
    assert done.record["counts"]["enobufs"] == 0
