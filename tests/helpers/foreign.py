# SPDX-License-Identifier: GPL-2.0
"""Starts servers and other programs that know nothing of copyscope, as tests/fetch_programs unpacked them."""
from __future__ import annotations

import contextlib
import os
import random
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from helpers.processes import wait_until

PLACE = Path(__file__).resolve().parents[2] / "build" / "programs"
# Package, and program of that name: the suites of Debian that it comes from, whatever release the
# machine has. --skip-rx-copy came with iperf3 3.19. Of Prometheus the oldest that people have: what is asked
# of it, newer ones answer, too.
STABLE, BEFORE = ("trixie", "trixie-security"), ("bookworm", "bookworm-security")
START_S = 20
# Below those that the kernel gives to whoever asks for any (ip_local_port_range).
PORTS = (20_000, 32_000)
WATCHED = {"nginx": STABLE, "haproxy": STABLE, "redis-server": STABLE, "iperf3": ("forky",)}
PROGRAMS = {**WATCHED, "prometheus": BEFORE, "promtool": BEFORE, "prometheus-node-exporter": BEFORE}
# Those that lie in a package of another name.
PACKAGES = {"promtool": "prometheus"}
# The kernel's self-test of MSG_ZEROCOPY, tools/testing/selftests/net/msg_zerocopy.c of its source, compiled by
# whoever has that.
SELF_TEST = os.environ.get("COPYSCOPE_MSG_ZEROCOPY")


def words(name: str) -> list[str]:
    """What to type for a program: its loader, where that finds the libraries, and the program.

    The loader has the program's name, because the kernel names a process after what it executes.
    """
    folder = PLACE / name
    assert folder.is_dir(), f"{name} is not here: run make setup-tests"
    return [str(folder / name), "--library-path", str(folder / "lib"), "--argv0", name,
            str(folder / "program")]


def free_port() -> int:
    """A port that nobody listens on now, and that no connection of a test beside this one takes before
    a server is up."""
    while True:
        port = random.randrange(*PORTS)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def listens(port: int) -> bool:
    """Does somebody listen there? Whoever connected to see would be a client."""
    for table in "tcp", "tcp6":
        for line in Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            if state == "0A" and int(local.rpartition(":")[2], 16) == port:
                return True
    return False


@contextlib.contextmanager
def serving(port: int, *command: object, **options) -> Iterator[subprocess.Popen]:
    """A server that listens on this port; it is asked to end in the end."""
    with subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options) as process:
        try:
            wait_until(lambda: listens(port) or process.poll() is not None, START_S)
            assert process.poll() is None, f"{command} ended with {process.returncode}"
            yield process
        finally:
            process.terminate()
