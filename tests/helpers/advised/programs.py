# SPDX-License-Identifier: GPL-2.0
"""The programs: what starts each as it is, and with the change really made."""
from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from helpers import foreign

HERE, ROOT = Path(__file__).resolve().parent, Path(__file__).resolve().parents[3]
ZEROCOPY, FILE, PLAIN, SPLICE = "MSG_ZEROCOPY", "sendfile for read()", "plain", "splice"
HTTP, REDIS, POSTGRES, STREAM, ECHO, DATAGRAMS = "http", "redis", "postgres", "stream", "echo", "datagrams"
RING, GSO = "io_uring SEND", "UDP_SEGMENT"
NOBODY = 65534
NGINX = """daemon off; master_process off; user root; pid {folder}/pid; error_log {folder}/errors crit;
events {{ }}
http {{
  access_log off; sendfile {sendfile}; root {folder}; keepalive_requests 100000000; keepalive_timeout 3600;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{ listen {address}:{port}; }}
}}
"""
HAPROXY = """global
  maxconn 64
  tune.bufsize {buffer}
  nbthread 1
defaults
  mode tcp
  timeout connect 5s
  timeout client 300s
  timeout server 300s
  {option}
listen it
  bind {address}:{port}
  server one {address}:{behind}
"""


@dataclass(frozen=True)
class Place:
    """Where one side of a pair runs."""

    folder: Path                # its own; FILE lies there as "file"
    address: str
    port: int

    @property
    def file(self) -> Path:
        """What it serves."""
        return self.folder / "file"


@dataclass(frozen=True)
class Start:
    """What starts one side: commands, of which the last is the program that is watched."""

    commands: tuple[tuple[str, ...], ...]
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Program:
    """One workload."""

    name: str
    size: int                   # of an answer, or a message
    path: str
    way: str                    # of the model, that the change is
    asks: str                   # how clients ask
    start: Callable[[Place, int, bool], Start]      # changed or not
    from_bytes: int = 4096      # what the change leaves alone lies below


def shim() -> Path:
    """What is preloaded, compiled once."""
    return ROOT / "build/tests/zerocopy_shim.so"


def by_reference(changed: bool) -> dict[str, str]:
    """The environment of a program whose sends go by MSG_ZEROCOPY; as it is it has the same library."""
    return {"LD_PRELOAD": str(shim()), "ZEROCOPY_FROM": "00004096" if changed else "99999999"}


def python(how: str, other: str) -> Callable[[Place, int, bool], Start]:
    """asyncio; the same way twice: by reference."""
    def start(place: Place, _size: int, changed: bool) -> Start:
        command = (sys.executable, str(HERE / "server.py"), place.address, str(place.port), str(place.file),
                   other if changed else how)
        return Start((command,), by_reference(changed and how == other))
    return start


def datagrams(before: str, after: str) -> Callable[[Place, int, bool], Start]:
    """A server of Python that answers by UDP."""
    def start(place: Place, size: int, changed: bool) -> Start:
        return Start(((sys.executable, str(HERE / "datagrams.py"), place.address, str(place.port), str(size),
                       after if changed else before),))
    return start


def node(place: Place, _size: int, changed: bool) -> Start:
    """Node."""
    return Start((("node", str(HERE / "server.js"), place.address, str(place.port), str(place.file)),),
                 by_reference(changed))


def go(place: Place, _size: int, changed: bool) -> Start:
    """Go's net/http."""
    return Start(((str(ROOT / "build/tests/go_server"), f"{place.address}:{place.port}", str(place.file),
                   "sendfile" if changed else "copy"),))


def nginx(reference: bool) -> Callable[[Place, int, bool], Start]:
    """nginx without sendfile, and with it or by reference."""
    def start(place: Place, _size: int, changed: bool) -> Start:
        (place.folder / "conf").write_text(NGINX.format(
            folder=place.folder, address=place.address, port=place.port,
            sendfile="on" if changed and not reference else "off"), encoding="ascii")
        command = (*foreign.words("nginx"), "-c", str(place.folder / "conf"), "-p", str(place.folder))
        return Start((command,), by_reference(changed and reference))
    return start


def redis(place: Place, _size: int, changed: bool) -> Start:
    """redis, whose clients set the value first."""
    command = (*foreign.words("redis-server"), "--port", str(place.port), "--bind", place.address, "--save", "",
               "--dir", str(place.folder), "--protected-mode", "no")
    return Start((command,), by_reference(changed))


def haproxy(place: Place, size: int, changed: bool) -> Start:
    """haproxy before a file server of Python."""
    behind = foreign.free_port()
    (place.folder / "conf").write_text(HAPROXY.format(address=place.address, port=place.port, behind=behind, buffer=65536,
                                                      option="option splice-response" if changed else ""), encoding="ascii")
    server, = python("memory", "memory")(Place(place.folder, place.address, behind), size, False).commands
    return Start((server, (*foreign.words("haproxy"), "-db", "-f", str(place.folder / "conf"))))


def workload(before: str, after: str) -> Callable[[Place, int, bool], Start]:
    """A sender in C."""
    def start(place: Place, size: int, changed: bool) -> Start:
        return Start(((str(ROOT / "build/workload"), "server", after if changed else before, str(size), "--listen",
                       place.address, "--port", str(place.port), "--check", "none", "--seconds", "600"),))
    return start


def echo(before: str, after: str) -> Callable[[Place, int, bool], Start]:
    """A server in C that answers each message by one as long."""
    def start(place: Place, size: int, changed: bool) -> Start:
        return Start(((str(ROOT / "build/workload"), "server", after if changed else before, str(size), "--listen",
                       place.address, "--port", str(place.port), "--check", "none", "--pattern", "rr"),))
    return start


def postgres(place: Place, _size: int, changed: bool) -> Start:
    """PostgreSQL, one backend a connection."""
    data = place.folder / "data"
    drop = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    os.chown(place.folder, NOBODY, NOBODY)
    init = (*drop, "initdb", "-D", str(data), "-A", "trust", "-U", "postgres", "--no-sync")
    return Start((init, (*drop, str(shutil.which("postgres")), "-D", str(data), "-p", str(place.port), "-h", place.address,
                         "-k", str(place.folder), "-c", "fsync=off")), by_reference(changed))


K, M = 1 << 10, 1 << 20
ALL = (
    Program("nginx, sendfile on", M, "lo", FILE, HTTP, nginx(False)),
    Program("nginx, sendfile on", M, "veth", FILE, HTTP, nginx(False)),
    Program("nginx, sendfile on", 64 * K, "lo", FILE, HTTP, nginx(False)),
    Program("nginx, sendfile on", 16 * K, "veth", FILE, HTTP, nginx(False)),
    Program("nginx, MSG_ZEROCOPY", M, "lo", ZEROCOPY, HTTP, nginx(True)),
    Program("Go FileServer, sendfile", M, "lo", FILE, HTTP, go),
    Program("Go FileServer, sendfile", M, "veth", FILE, HTTP, go),
    Program("Go FileServer, sendfile", 64 * K, "lo", FILE, HTTP, go),
    Program("asyncio, sendfile", M, "lo", FILE, HTTP, python("read", "sendfile")),
    Program("asyncio, sendfile", 256 * K, "veth", FILE, HTTP, python("read", "sendfile")),
    Program("asyncio, MSG_ZEROCOPY", 200_000, "lo", ZEROCOPY, HTTP, python("memory", "memory")),
    Program("asyncio, MSG_ZEROCOPY", M, "veth", ZEROCOPY, HTTP, python("memory", "memory")),
    Program("Node, MSG_ZEROCOPY", 256 * K, "lo", ZEROCOPY, HTTP, node),
    Program("Node, MSG_ZEROCOPY", M, "veth", ZEROCOPY, HTTP, node),
    Program("redis GET, MSG_ZEROCOPY", M, "lo", ZEROCOPY, REDIS, redis),
    Program("redis GET, MSG_ZEROCOPY", 100_000, "veth", ZEROCOPY, REDIS, redis),
    Program("redis GET, MSG_ZEROCOPY", 8 * K, "lo", ZEROCOPY, REDIS, redis),
    Program("PostgreSQL, MSG_ZEROCOPY", M, "lo", ZEROCOPY, POSTGRES, postgres),
    Program("haproxy, splice", M, "lo", SPLICE, HTTP, haproxy),
    Program("C by MSG_ZEROCOPY, plain", 16 * K, "lo", PLAIN, STREAM, workload("A3-whole", "A1-plain")),
    Program("C by MSG_ZEROCOPY, plain", 64 * K, "veth", PLAIN, STREAM, workload("A3-whole", "A1-plain")),
    Program("C by MSG_ZEROCOPY, plain", M, "lo", PLAIN, STREAM, workload("A3-whole", "A1-plain")),
    Program("io_uring SEND_ZC, SEND", 16 * K, "lo", PLAIN, STREAM, workload("uring-zc", "uring")),
    Program("io_uring SEND_ZC, SEND", 64 * K, "veth", PLAIN, STREAM, workload("uring-zc", "uring")),
    Program("echo, io_uring SEND", 4 * K, "lo", RING, ECHO, echo("A1-plain", "uring")),
    Program("echo, io_uring SEND", 64 * K, "veth", RING, ECHO, echo("A1-plain", "uring")),
    Program("UDP, UDP_SEGMENT", 56_000, "lo", GSO, DATAGRAMS, datagrams("each", "gso")),
    Program("UDP by UDP_SEGMENT, MSG_ZEROCOPY", 56_000, "veth", ZEROCOPY, DATAGRAMS, datagrams("gso", "zerocopy")),
    Program("io_uring echo by SEND_ZC, SEND", 64 * K, "lo", PLAIN, ECHO, echo("uring-zc", "uring")),
)
