# SPDX-License-Identifier: GPL-2.0
"""Servers whose master forks: watch -p MASTER tells the bytes that its children moved, as strace lists their calls."""
from __future__ import annotations

import contextlib
import os
import shutil
import socket
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helpers import strace
from helpers.foreign import free_port, listens, words
from helpers.processes import descendants, wait_until
from helpers.records import needs_root
from helpers.windows import Watching, unbalanced
from host.test_watch_servers import NGINX, fetched

pytestmark = [needs_root, pytest.mark.skipif(not shutil.which("strace"), reason="no strace is on this machine")]
BODY = 300_001
START_S = 60
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
APP = f"""
def app(environ, start):
    start("200 OK", [("Content-Length", "{BODY}")])
    return [bytes({BODY})]
"""
FPM = """
[global]
error_log = {folder}/errors
daemonize = no
[www]
user = nobody
listen = 127.0.0.1:{port}
pm = static
pm.max_children = 2
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Workers of another user read what lies there, which pytest's folders do not allow."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        yield Path(place)


def program(name: str, *places: str) -> str:
    """Where it is; a test whose server is not installed is skipped."""
    found = shutil.which(name) or next((str(path) for place in places for path in sorted(Path("/").glob(place))), None)
    return found or pytest.skip(f"no {name} is on this machine")


def gunicorn(folder: Path, port: int) -> list[object]:
    """Two workers of a WSGI application."""
    (folder / "app.py").write_text(APP)
    return [program("gunicorn"), "-w", 2, "-b", f"127.0.0.1:{port}", "--chdir", folder, "app:app"]


def php_fpm(folder: Path, port: int) -> list[object]:
    """Two workers that are asked over TCP."""
    (folder / "conf").write_text(FPM.format(folder=folder, port=port))
    (folder / "page.php").write_text(f"<?php echo str_repeat('x', {BODY});")
    return [program("php-fpm", "usr/sbin/php-fpm*"), "--fpm-config", folder / "conf"]


def postgres(folder: Path, port: int) -> list[object]:
    """A server that forks a process for each connection."""
    server = program("postgres", "usr/lib/postgresql/*/bin/postgres")
    data = folder / "data"
    data.mkdir()
    os.chown(data, 65534, 65534)
    subprocess.run([*NOBODY, Path(server).resolve().with_name("initdb"), "-N", "-A", "trust", "-U", "me", data],
                   check=True, capture_output=True, cwd="/")
    return [*NOBODY, server, "-D", data, "-p", port, "-h", "127.0.0.1", "-k", ""]


def ask_http(folder: Path, port: int) -> int:
    """Bytes of an answer."""
    with socket.create_connection(("127.0.0.1", port)) as one:
        one.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return whole(one)


def whole(one: socket.socket) -> int:
    """Bytes until it closes."""
    return sum(len(part) for part in iter(lambda: one.recv(1 << 16), b""))


def nginx(folder: Path, port: int) -> list[object]:
    """Two workers that send a file by send, as by sendfile no call has its bytes as sent."""
    (folder / "file").write_bytes(bytes(BODY))
    (folder / "conf").write_text(NGINX.format(folder=folder, sendfile="off", port=port))
    return [*words("nginx"), "-c", folder / "conf", "-p", folder]


def ask_nginx(_folder: Path, port: int) -> int:
    """Bytes of a file."""
    return fetched(port, b"GET /file HTTP/1.0\r\n\r\n")


def ask_fastcgi(folder: Path, port: int) -> int:
    """Bytes of an answer to one request in FastCGI's records."""
    def record(kind: int, body: bytes) -> bytes:
        return struct.pack(">BBHHBB", 1, kind, 1, len(body), 0, 0) + body

    params = {"SCRIPT_FILENAME": f"{folder}/page.php", "REQUEST_METHOD": "GET"}
    told = b"".join(bytes([len(name), len(value)]) + name.encode() + value.encode() for name, value in params.items())
    with socket.create_connection(("127.0.0.1", port)) as one:
        one.sendall(record(1, struct.pack(">HB5x", 1, 0)) + record(4, told) + record(4, b"") + record(5, b""))
        return whole(one)


def ask_sql(folder: Path, port: int) -> int:
    """Bytes of a row."""
    done = subprocess.run([program("psql"), "-h", "127.0.0.1", "-p", str(port), "-U", "me", "-Atc", f"select repeat('x', {BODY})",
                           "postgres"], check=True, capture_output=True, env={**os.environ, "PGSSLMODE": "disable"})
    return len(done.stdout)


@contextlib.contextmanager
def traced(port: int, prefix: Path, command: list[object]) -> Iterator[int]:
    """A server that strace started, so that no call of its children is missed; its master."""
    with subprocess.Popen([*strace.WORDS, "-o", str(prefix), *map(str, command)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/") as tracer:
        try:
            wait_until(lambda: listens(port) or tracer.poll() is not None, START_S)
            assert tracer.poll() is None, command
            children = Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text().split()
            yield int(children[0])
        finally:
            if tracer.poll() is None:
                # strace hands on no signal.
                os.kill(int(children[0]), 15)


def sockets_of(master: int) -> set[str]:
    """Sockets that it and its children have open."""
    found = set()
    for pid in {master} | descendants(master):
        files: list[str] = []
        with contextlib.suppress(OSError):
            files = os.listdir(f"/proc/{pid}/fd")
        for each in files:
            with contextlib.suppress(OSError):
                found.add(os.readlink(f"/proc/{pid}/fd/{each}"))
    return {target for target in found if target.startswith("socket:")}


@pytest.mark.parametrize("server, ask", [(nginx, ask_nginx), (gunicorn, ask_http), (php_fpm, ask_fastcgi), (postgres, ask_sql)])
def test_the_row_of_a_master_is_what_its_children_moved(folder, server: Callable, ask: Callable):
    port = free_port()
    with traced(port, folder / "calls", server(folder, port)) as master:
        idle = sockets_of(master)
        watching = Watching("-p", master)
        assert all(ask(folder, port) >= BODY for _ in range(5))
        # A child may read what its client said last after that has gone.
        wait_until(lambda: sockets_of(master) <= idle)
        record = watching.close()
    assert not unbalanced(record), unbalanced(record)
    called = strace.listed(folder / "calls")
    sent, received = (sum(count for (direction, _), sizes in called.items() if direction == way
                          for (_, what), count in sizes.items() if what == "bytes") for way in ("send", "recv"))
    counts = record["total"]["counts"]
    assert (counts["accepted_bytes"], counts["returned_bytes"]) == (sent, received) and sent >= 5 * BODY
    own, = (each["sum"]["counts"] for each in record["processes"] if each["pid"] == master)
    assert (own["accepted_bytes"], own["returned_bytes"]) == (0, 0)
