# SPDX-License-Identifier: GPL-2.0
"""`copyscope watch --host` to a guest counts what a watch in it counts, and leaves nothing there."""
from __future__ import annotations

import os
import random
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from copyscope import peers
from guest.boots import GUEST, TIMEOUT_S
from helpers import foreign, watch_tool
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD
from helpers.processes import wait_until
from helpers.watch_tool import record_of

pytestmark = pytest.mark.long
IN_TREE = "cd /copyscope && . /run/environment && "
WORKLOAD = f"build/trace_run A3 {PRIME_BYTES} 2 --messages {PRIME_MESSAGES} --no-probes --quiet --json /dev/null"
OWN = f"build/watch --quiet --json /run/own.json -- {WORKLOAD} >/dev/null && cat /run/own.json"
# Files of a far watch, and what runs of it.
LEFT = """ls -d /tmp/copyscope.* /var/tmp/copyscope.* /dev/shm/copyscope.* "$HOME"/copyscope.* 2>/dev/null
for each in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <"$each"; echo; done 2>/dev/null | grep -e '[-]-reader 1,0'; true"""
RELEASE, HOST = "6.1", "root@127.0.0.1"
KILLS, AT_ONCE, SEED = 50, 5, 46


@dataclass
class Far:
    """A guest that serves ssh on a port of this machine."""
    ssh: str

    def run(self, command: str) -> str:
        """What a command there prints."""
        return subprocess.run([*shlex.split(self.ssh), HOST, command], check=True, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=TIMEOUT_S).stdout

    def answers(self) -> bool:
        """Whether the server listens."""
        return not subprocess.run([*shlex.split(self.ssh), HOST, "true"], check=False, capture_output=True,
                                  stdin=subprocess.DEVNULL, timeout=TIMEOUT_S).returncode

    def watch(self, *words: object) -> subprocess.Popen:
        """A watch of all there, from here."""
        return watch_tool.start("--host", HOST, "--ssh", self.ssh, "--all", "--quiet", *words)


@contextmanager
def served(release: str, folder: Path) -> Iterator[Far]:
    """Have a guest, and end it."""
    private, public = peers.make_key()
    port, key, known = foreign.free_port(), folder / "key", folder / "known"
    key.touch(mode=0o600)
    key.write_text(private + "\n")
    with subprocess.Popen([GUEST, "--kernel", release, "--timeout", str(TIMEOUT_S), "--with", "dropbear", "--with", "dropbearkey",
                           "--forward", f"{port}:22", "--", "sh", "-c", f"umask 077 && {peers.SERVE}"],
                          env={**os.environ, "COPYSCOPE_SSH_KEY": public}, stderr=subprocess.PIPE, text=True) as guest:
        try:
            told = next((line for line in guest.stderr if line.startswith(peers.LISTENS)), "")
            assert told, "the guest did not come up"
            known.write_text(f"[127.0.0.1]:{port} {told.removeprefix(peers.LISTENS)}")
            far = Far(f"ssh -F none -i {key} -p {port} -o UserKnownHostsFile={known} -o StrictHostKeyChecking=yes")
            # The emulator takes connections before the server there listens.
            wait_until(far.answers, TIMEOUT_S)
            yield far
        finally:
            guest.terminate()
            guest.stderr.close()


def moved(record: dict) -> dict[str, int]:
    """What the workload's sockets did, whose whole life each watch saw, but for what a packet that is sent again adds."""
    sums = [each["sum"] for each in record["processes"] if each["comm"] == "workload"]
    return {name: sum(each["sites"][name]["bytes"] for each in sums) for name in ("tx_copy", "tx_reference", "tx_splice", "rx_copy")} | \
        {name: sum(each["counts"][name] for each in sums) for name in ("accepted_bytes", "returned_bytes")} | \
        {"sockets": sum(each["sockets"] for each in sums)}


def end_at_any_moment(far: Far, kills: int, start_s: float) -> None:
    """Watches that are killed, of which the last has opened its window."""
    dice = random.Random(SEED)
    for first in range(0, kills, AT_ONCE):
        running = [far.watch() for _ in range(min(AT_ONCE, kills - first))]
        try:
            if first + AT_ONCE >= kills:
                assert "window is open" in running[-1].stderr.readline()
            begun = time.monotonic()
            for one, after_s in zip(running, sorted(dice.uniform(0, 1.2 * start_s) for _ in running), strict=True):
                time.sleep(max(0, begun + after_s - time.monotonic()))
                one.send_signal(dice.choice((signal.SIGKILL, signal.SIGTERM)))
        finally:
            for one in running:
                one.kill()
                one.communicate()


def test_a_watch_from_here_has_the_record_of_the_host_itself_and_leaves_nothing(tmp_path):
    with served(RELEASE, tmp_path) as far:
        began = time.monotonic()
        with watch_tool.ended(far.watch("--json", tmp_path / "far.json")) as watching:
            assert "window is open" in watching.stderr.readline()
            start_s = time.monotonic() - began
            far.run(IN_TREE + WORKLOAD)
            watching.send_signal(signal.SIGINT)
            assert watching.wait(TIMEOUT_S) == 0, watching.stderr.read()
        (tmp_path / "own.json").write_text(far.run(IN_TREE + OWN))
        end_at_any_moment(far, KILLS, start_s)
        wait_until(lambda: not far.run(LEFT), TIMEOUT_S)
    there, own = (record_of(tmp_path / f"{each}.json") for each in ("far", "own"))
    assert there["machine"] == own["machine"] and there["machine"]["kernel"].startswith(f"{RELEASE}.")
    assert there["backend"]["name"] == own["backend"]["name"]
    assert moved(there) == moved(own)
    assert moved(there)["tx_reference"] == moved(there)["rx_copy"] == PRIME_PAYLOAD
    assert not [law["law"] for law in there["laws"] if law["status"] == "broken"]
