# SPDX-License-Identifier: GPL-2.0
"""Two hosts out of one: a pair of namespaces joined by veth, that share a key."""
from __future__ import annotations

import base64
import os
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from helpers import records
from helpers.processes import LIBC, wait_until

ADDRESSES = ("10.77.0.1", "10.77.0.2")
CONTROL_PORT = 9009


@dataclass
class Host:
    """A namespace that lives as long as its holder."""
    holder: subprocess.Popen
    address: str
    key_file: Path

    @property
    def key(self) -> bytes:
        """What both hosts share."""
        return self.key_file.read_bytes().strip()

    def inside(self, *words) -> list[str]:
        """The words, run in this namespace."""
        return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", "--",
                *(str(word) for word in words)]

    def start(self, *words, **options) -> subprocess.Popen:
        """Starts tools/trace_run there, with the key; whoever calls it ends it."""
        return self.start_without_key(*words, "--key-file", self.key_file, **options)

    def start_without_key(self, *words, **options) -> subprocess.Popen:
        """The same without it."""
        return subprocess.Popen(self.inside(records.TRACE_RUN, *words, "--path", "peer"), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def socket(self) -> socket.socket:
        """A TCP socket that lives there, though we do not."""
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        there = os.open(f"/proc/{self.holder.pid}/ns/net", os.O_RDONLY)
        try:
            assert LIBC.setns(there, 0) == 0
            return socket.socket()
        finally:
            assert LIBC.setns(home, 0) == 0
            os.close(home)
            os.close(there)


def make_key(secret: bytes = b"") -> Path:
    """A new key that only we can read; whoever calls it removes it."""
    file, name = tempfile.mkstemp(prefix="copyscope-key-")
    os.write(file, secret or base64.b64encode(os.urandom(32)) + b"\n")
    os.close(file)
    return Path(name)


@contextmanager
def two_hosts():
    """Yields the host that will listen and the one that will connect."""
    here = os.stat("/proc/self/ns/net").st_ino
    key_file = make_key()
    holders = [subprocess.Popen(["unshare", "--net", "sleep", "infinity"]) for _ in ADDRESSES]
    try:
        for holder in holders:
            wait_until(lambda pid=holder.pid: os.stat(f"/proc/{pid}/ns/net").st_ino != here)
        hosts = [Host(holder, address, key_file) for holder, address in zip(holders, ADDRESSES)]
        subprocess.run(hosts[0].inside("ip", "link", "add", "tx0", "type", "veth", "peer", "name",
                                       "rx0", "netns", holders[1].pid), check=True)
        for host, device in zip(hosts, ("tx0", "rx0")):
            subprocess.run(host.inside("ip", "-batch", "-"), check=True, text=True,
                           input=f"address add {host.address}/24 dev {device}\n"
                                 f"link set lo up\nlink set {device} up\n")
        yield hosts
    finally:
        for holder in holders:
            holder.kill()
            holder.wait()
        key_file.unlink()


def listen(host: Host, *words, **options) -> subprocess.Popen:
    """Starts the side that waits, and returns once it does."""
    process = host.start("--listen", host.address, *words, **options)
    first = process.stderr.readline()
    assert first.startswith("trace_run: waiting for a partner on"), first
    return process


def run_pair(hosts, *words, listening=(), connecting=()) -> tuple[records.Run, records.Run]:
    """One run: what the listening and the connecting side left. Both print their record."""
    listener = listen(hosts[0], "--json", "-", *listening)
    connector = hosts[1].start(*words, "--connect", hosts[0].address, "--json", "-", *connecting)
    try:
        return records.finish(listener), records.finish(connector)
    finally:
        for process in listener, connector:
            process.kill()
            process.communicate()


def call(host: Host, to: str) -> socket.socket:
    """A connection from a host to the control port of another."""
    connection = host.socket()
    connection.settimeout(10)
    connection.connect((to, CONTROL_PORT))
    return connection
