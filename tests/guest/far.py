# SPDX-License-Identifier: GPL-2.0
"""Watches another guest from this one, has that watch itself, and ends more such watches at any moment.

Usage: python3 tests/guest/far.py HOST SSH KILLS WORKLOAD
WORKLOAD is a command of a built tree. Leaves in /out far.json and own.json, the records of the watch from here and of
that of the far guest itself, and left, what is there of them at the end.
"""
from __future__ import annotations

import random
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

OUT = Path("/out")
AT_ONCE, SEED = 5, 46
IN_TREE = "cd /copyscope && . /run/environment && "
# Files of a far watch, and what runs of it.
LEFT = """ls -d /tmp/copyscope.* /var/tmp/copyscope.* /dev/shm/copyscope.* "$HOME"/copyscope.* 2>/dev/null
for each in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <"$each"; echo; done 2>/dev/null | grep -e '[-]-reader 1,0'; true"""
# That a connection is lost the far end learns by silence.
PATIENCE_S = 300


class Far:
    """The guest that serves ssh."""

    def __init__(self, host: str, ssh: str) -> None:
        self.host, self.ssh = host, ssh

    def run(self, command: str) -> str:
        """What a command there prints."""
        return subprocess.run([*shlex.split(self.ssh), self.host, command], check=True, stdout=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL).stdout

    def watch(self, *words: object) -> subprocess.Popen:
        """A watch of all there, from here."""
        return subprocess.Popen(["tools/copyscope", "watch", "--host", self.host, "--ssh", self.ssh, "--all", "--quiet",
                                 *map(str, words)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def window_opens(one: subprocess.Popen) -> None:
    """Wait until it counts."""
    said = one.stderr.readline()
    if "window is open" not in said:
        sys.exit(f"far.py: a watch said {said!r}")


def both_records(far: Far, workload: str) -> float:
    """Returns how long the far watch took to open its window."""
    began = time.monotonic()
    watching = far.watch("--json", OUT / "far.json")
    window_opens(watching)
    start_s = time.monotonic() - began
    far.run(IN_TREE + workload)
    watching.send_signal(signal.SIGINT)
    if watching.wait():
        sys.exit(f"far.py: the watch ended with {watching.returncode}: {watching.stderr.read()}")
    own = f"build/watch --quiet --json /run/own.json -- {workload} >/dev/null && cat /run/own.json"
    (OUT / "own.json").write_text(far.run(IN_TREE + own))
    return start_s


def end_at_any_moment(far: Far, kills: int, start_s: float) -> None:
    """Watches that are killed, of which the last has opened its window."""
    dice = random.Random(SEED)
    for first in range(0, kills, AT_ONCE):
        running = [far.watch() for _ in range(min(AT_ONCE, kills - first))]
        if first + AT_ONCE >= kills:
            window_opens(running[-1])
        begun = time.monotonic()
        for one, after_s in zip(running, sorted(dice.uniform(0, 1.2 * start_s) for _ in running), strict=True):
            time.sleep(max(0, begun + after_s - time.monotonic()))
            one.send_signal(dice.choice((signal.SIGKILL, signal.SIGTERM)))
        for one in running:
            one.communicate()


def main() -> None:
    """Make both records, kill, look."""
    host, ssh, kills, workload = sys.argv[1:]
    far = Far(host, ssh)
    end_at_any_moment(far, int(kills), both_records(far, workload))
    until = time.monotonic() + PATIENCE_S
    while (left := far.run(LEFT)) and time.monotonic() < until:
        time.sleep(1)
    (OUT / "left").write_text(left)


if __name__ == "__main__":
    main()
