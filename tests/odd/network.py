# SPDX-License-Identifier: GPL-2.0
"""Namespaces and devices of odd programs: all of them end with the program's processes."""
from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from odd import raw
from odd.frame import CannotRun
from odd.truth import WAIT_S, Child, Truth

PORT = 7777
OURS, THEIRS = "10.9.0.1", "10.9.0.2"


def ip(*words: object) -> None:
    """ip(8) in the namespace of this process."""
    done = subprocess.run(["ip", *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotRun(f"ip {' '.join(map(str, words))}: {done.stderr.strip()}")


def own_network() -> None:
    """A network namespace for this process alone, with its loopback up."""
    raw.unshare_network()
    ip("link", "set", "lo", "up")


def bring_up(device: str, address: str | None = None) -> None:
    """A device, with its address if it is to have one."""
    if address:
        ip("addr", "add", f"{address}/24", "dev", device, "nodad")
    ip("link", "set", device, "up")


def setting(name: str, value: object) -> None:
    """A sysctl of the namespace."""
    Path("/proc/sys/net", name).write_text(str(value))


def elsewhere(truth: Truth, body: Callable[[Truth, Child], None]) -> Child:
    """Starts a process in a network namespace of its own, and waits until it is there."""
    def begin(own: Truth, line: Child) -> None:
        own_network()
        line.tell("here")
        body(own, line)
    child = truth.child(begin)
    child.hear()
    return child


def receiver(device: str, address: str = THEIRS, route: str | None = None,
             stack: Callable[[], None] = lambda: None) -> Callable[[Truth, Child], None]:
    """A process that takes as many bytes as it is told each time, over one connection, on a device that it stacks up."""
    def body(own: Truth, line: Child) -> None:
        line.hear()
        try:
            stack()
        except CannotRun as reason:
            line.tell(reason)
            line.hear()
        bring_up(device, address)
        if route:
            ip("route", "add", "default", "via", route)
        server = socket.create_server((address, PORT))
        line.tell("listens")
        connection, _ = server.accept()
        line.tell("accepted")
        while size := int(line.hear()):
            own.take(connection, size)
            line.tell("taken")
    return body


class Far:
    """A receiver elsewhere, and the connection to it."""

    def __init__(self, truth: Truth, child: Child, address: str = THEIRS) -> None:
        self.truth, self.child = truth, child
        child.tell("devices are there")
        if (word := child.hear()) != "listens":
            raise CannotRun(word)
        self.socket = connected(address)
        truth.kept.append(self.socket)
        child.hear()

    def zero_copy(self, times: int, size: int = 50_000) -> None:
        """Sends by MSG_ZEROCOPY that arrive and are completed."""
        for _ in range(times):
            self.truth.zero_copy(self.socket, size)
            self.child.tell(size)
            self.child.hear()
        self.truth.completions(self.socket, times)

    def end(self) -> None:
        """Ends the receiver."""
        self.child.tell(0)
        self.truth.join(self.child)


def connected(address: str) -> socket.socket:
    """A connection; devices may need a moment."""
    for _ in range(100):
        try:
            found = socket.create_connection((address, PORT), timeout=WAIT_S)
        except OSError:
            time.sleep(0.05)
            continue
        # With a timeout a send may accept a part alone.
        found.settimeout(None)
        return found
    raise CannotRun(f"nobody answers at {address}")


def forward(one: int, other: int, held_s: Callable[[bytes], float] = lambda packet: 0.0) -> None:
    """Hands packets of each TUN device to the other until the process is killed."""
    while True:
        for source in select.select([one, other], [], [])[0]:
            packet = os.read(source, 1 << 17)
            time.sleep(held_s(packet))
            # A device that is not up yet drops it.
            with contextlib.suppress(OSError):
                os.write(other if source == one else one, packet)
