# SPDX-License-Identifier: GPL-2.0
"""What becomes of ports and connections: how many can be made in a row, and how one is closed."""
from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from copyscope.common import programs
from copyscope.common.errors import Refused
from copyscope.common.programs import kill_with_parent

from .fact import Fact
from .tracepoints import LIBC

CLONE_NEWNET = 0x40000000
# Ten runs of 100,000, as published.
WANTED, STEP = 1_000_000, 10_000
NAME, OF = "connections-in-a-row", "lo"
MEANS = f"connections made one after another before the first that failed, {WANTED} at most"
ADDRESS = "127.0.0.1"
# As /proc/net/tcp has it. An acknowledgment of its FIN alone leads a closed end there.
CLOSED, FIN_WAIT_2 = 97, "05"
TABLE = Path("/proc/self/net/tcp")
RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
# A receiver may keep an acknowledgment back for a fifth of a second.
PATIENCE_S, PAUSE_S = 2.0, 0.05


def private_network() -> None:
    """Give this process a network of its own, with a loopback device."""
    if LIBC.unshare(CLONE_NEWNET):
        raise Refused(f"a private network needs root: {os.strerror(ctypes.get_errno())}: type "
                      "sudo ./tools/facts ...")
    done = programs.run(["ip", "link", "set", "lo", "up"])
    if done.returncode:
        raise Refused(f"ip: {done.stderr.strip()}")


def serve(listener: socket.socket) -> None:
    """Take connections; each is closed once its client has closed it."""
    while True:
        with listener.accept()[0] as connection:
            connection.recv(1)


def connect(to: tuple[str, int], wanted: int, progress: Callable[[str], None]) -> tuple[int, str]:
    """Connect and close until one fails; how many did not, and what the failure was. Each waits for
    the server's end: a queue that overflows would have SYNs sent again, a second later."""
    for made in range(wanted):
        if made % STEP == 0:
            progress(f"{made} connections of {wanted}")
        with socket.socket() as one:
            try:
                one.connect(to)
                one.shutdown(socket.SHUT_WR)
                one.recv(1)
            except OSError as error:
                return made, error.strerror or str(error)
    return wanted, ""


def count(wanted: int, progress: Callable[[str], None]) -> tuple[int, str]:
    """Connect to a child, in a network of its own."""
    private_network()
    ends_with_us = kill_with_parent()
    with socket.create_server((ADDRESS, 0)) as listener:
        child = os.fork()
        if not child:
            ends_with_us()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            serve(listener)
        try:
            return connect(listener.getsockname(), wanted, progress)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def acknowledged(table: str, port: int) -> int:
    """How many ends of connections to this port had their FIN acknowledged."""
    found = [line.split() for line in table.splitlines()[1:]]
    return sum(each[3] == FIN_WAIT_2 and int(each[2].split(":")[1], 16) == port for each in found)


def closes() -> int:
    """Close this end of some connections and keep the other; how many closes are acknowledged."""
    with socket.create_server((ADDRESS, 0), backlog=CLOSED) as listener, ExitStack() as kept:
        to = listener.getsockname()
        for _ in range(CLOSED):
            one = socket.create_connection(to)
            kept.enter_context(listener.accept()[0])
            one.close()
        found, ends = 0, time.monotonic() + PATIENCE_S
        while found < CLOSED and time.monotonic() < ends:
            time.sleep(PAUSE_S)
            found = acknowledged(TABLE.read_text(), to[1])
        return found


def local_ports(text: str) -> int:
    """How many ports a kernel's range has, both ends included."""
    first, last = map(int, text.split())
    return last - first + 1


def facts(progress: Callable[[str], None] = lambda text: None) -> list[Fact]:
    """All numbers; of a connection that fails it says how."""
    sys.stdout.flush()
    made, failure = count(WANTED, progress)
    how = "connect() and close() over a private loopback device, one server" + \
        (f"; the next one failed: {failure}" if failure else "; none failed")
    return [Fact(NAME, OF, made, MEANS, how),
            Fact("closes-acknowledged", OF, closes(),
                 f"of {CLOSED} connections closed at one end, those whose FIN the other end "
                 "acknowledged", "/proc/net/tcp: the closed end stands in FIN-WAIT-2, which an "
                 "acknowledgment of its FIN alone leads to"),
            # Of the private network by now: a new one has what the kernel was built with.
            Fact("local-ports", "range", local_ports(RANGE.read_text()),
                 "ports that a kernel gives to connections of one address to another",
                 "ip_local_port_range of a new network")]
