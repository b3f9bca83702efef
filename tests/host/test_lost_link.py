# SPDX-License-Identifier: GPL-2.0
"""A run whose link vanishes leaves nothing pinned: the run after it finds all of its user's memory."""
from __future__ import annotations

import subprocess

from helpers import processes, records

pytestmark = records.needs_root

# Of pages that may be pinned, hardly more than one message of a run that waits for each reply.
LITTLE, MESSAGES = "160k", 20
# What is in flight fills the memory of its user for half a minute: other tests run beside as the usual one.
OWN_USER = 778


def cut(pid: int) -> None:
    """Remove the device that this process's packets leave by."""
    inside = ["nsenter", f"--net=/proc/{pid}/ns/net", "--"]
    said = subprocess.run([*inside, "ip", "-o", "link", "show", "type", "veth"], check=True, text=True,
                          capture_output=True).stdout
    device = said.split(": ")[1].split("@")[0]
    subprocess.run([*inside, "ip", "link", "del", device], check=True)


def lose_the_link(before: list[str]) -> records.Run:
    """A run with much in flight whose link vanishes; its own patience ends it."""
    with records.under_way("A3", 65536, 4, "--path", "veth", "--seconds", 60, "--pass", "counted",
                           timeout_s=60, before=before) as run:
        ends = processes.wait_until(lambda: len(found := processes.workload_pids(run.pid)) == 2 and found)
        processes.wait_until(lambda: len(processes.threads(ends["server"])) > 4)
        cut(ends["client"])
    return run.done


def run_with_little(before: list[str]) -> records.Run | None:
    """A run that has hardly more memory to pin than one message takes; None if it had not even that at once."""
    done = records.run("A3", 65536, 1, "--path", "lo", "--pattern", "rr", "--messages", MESSAGES,
                       "--memlock", LITTLE, "--pass", "counted", "--json", "-", before=before)
    return done if done.code in records.WELL and not done.record["counts"]["enobufs"] else None


# A run that a signal ends then is the campaign's (tests/attacks/networks.py).
def test_after_a_lost_link_nothing_stays_pinned(tmp_path):
    before = processes.as_system_user(OWN_USER, tmp_path)
    assert lose_the_link(before).code not in records.WELL
    # TCP would try for a minute. On a busy machine the kernel takes seconds to take apart what was left.
    assert processes.wait_until(lambda: run_with_little(before), 20)
