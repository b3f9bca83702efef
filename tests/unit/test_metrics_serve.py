# SPDX-License-Identifier: GPL-2.0
"""Scrapes of --serve are answered whoever else connects, in bounds of time, threads, descriptors and log lines."""
from __future__ import annotations

import contextlib
import errno
import os
import socket
import struct
import threading
import time
import urllib.request
from collections.abc import Iterator
from random import Random

import pytest

from copyscope.metrics import kept, scrape, serve
from copyscope.metrics.families import Published
from helpers import foreign

ASKED = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"


@contextlib.contextmanager
def serving() -> Iterator[tuple[serve.Server, int]]:
    """A server and its port."""
    port = foreign.free_port()
    server = serve.listen(str(port), Published().registry, kept.Complaints())
    serve.answer(server)
    yield server, port


def scraped(port: int) -> bool:
    """Whether a scrape is answered within the time that Prometheus gives it at least."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        return answer.status == 200 and answer.headers["Content-Type"].startswith("text/plain")


def connected(port: int) -> socket.socket:
    """A client."""
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def test_scrapes_are_answered_while_clients_drip(capfd):
    with serving() as (server, port), contextlib.ExitStack() as held:
        threads, descriptors = threading.active_count(), len(os.listdir("/proc/self/fd"))
        clients = [held.enter_context(connected(port)) for _ in range(80)]
        assert all(scraped(port) for _ in range(10))
        for each in clients:
            with contextlib.suppress(OSError):
                each.sendall(b"G")
        assert all(scraped(port) for _ in range(10))
        assert threading.active_count() == threads and len(server.clients) <= serve.MOST_CLIENTS
        assert len(os.listdir("/proc/self/fd")) <= descriptors + 80 + serve.MOST_CLIENTS
    assert capfd.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("begin, drop", [(b"", b"G"), (b"GET / HTTP/1.1\r\n", b"X: y\r\n")], ids=["first line", "head"])
def test_a_client_that_drips_is_let_go_in_time(begin, drop, monkeypatch, capfd):
    monkeypatch.setattr(serve, "PATIENCE_S", 1)
    with serving() as (_, port), connected(port) as client:
        client.sendall(begin)
        since = time.monotonic()
        with contextlib.suppress(OSError):
            while time.monotonic() - since < 9:
                client.sendall(drop)
                time.sleep(0.1)
        assert time.monotonic() - since < 5 and scraped(port)
    assert capfd.readouterr().err.count("\n") == 1


def test_a_client_that_does_not_read_is_let_go_in_time(monkeypatch, capfd):
    monkeypatch.setattr(serve, "PATIENCE_S", 1)
    with serving() as (server, port), connected(port) as client:
        server.answers = lambda _: bytes(64 << 20)
        client.sendall(ASKED)
        since = time.monotonic()
        while not server.clients:
            time.sleep(0.01)
        while server.clients:
            assert time.monotonic() - since < 9
            time.sleep(0.1)
    assert "did not read" in capfd.readouterr().err


def test_clients_that_reset_or_leave_are_one_line_a_minute(capfd):
    with serving() as (_, port):
        for number in range(60):
            with connected(port) as client:
                client.sendall((b"", b"GET", ASKED)[number % 3])
                if number % 2:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert scraped(port)
    said = capfd.readouterr().err
    assert said.count("\n") <= 1 and "Traceback" not in said


class Door:
    """A door behind which there is no descriptor, as long as `full`."""

    def __init__(self, door: socket.socket) -> None:
        self.door, self.full, self.tried = door, True, 0

    def fileno(self) -> int:
        """Its number."""
        return self.door.fileno()

    def setblocking(self, flag: bool) -> None:
        """As a socket does."""
        self.door.setblocking(flag)

    def accept(self) -> tuple[socket.socket, object]:
        """Take a client, or fail."""
        self.tried += 1
        if self.full:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return self.door.accept()


def test_full_descriptors_are_waited_for_and_one_line(monkeypatch, capfd):
    monkeypatch.setattr(serve, "BACKOFF_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        door = Door(listening)
        server = serve.Server(door, scrape.answers_of(Published().registry), kept.Complaints())
        serve.answer(server)
        port = listening.getsockname()[1]
        with connected(port) as client:
            time.sleep(2)
            assert 1 <= door.tried <= 6
            door.full = False
            client.sendall(ASKED)
            assert client.recv(12) == b"HTTP/1.1 200"
    said = capfd.readouterr().err
    assert said.count("\n") == 1 and "Too many open files" in said


def test_no_answer_ends_the_thread(capfd):
    with serving() as (server, port):
        fine = server.answers
        server.answers = lambda _: 1 // 0
        with connected(port) as client:
            client.sendall(ASKED)
            assert client.recv(1) == b""
        server.answers = fine
        assert scraped(port)
    said = capfd.readouterr().err
    assert said.count("\n") == 1 and "ZeroDivisionError" in said


def test_any_request_has_an_answer_that_is_whole():
    answers = scrape.answers_of(Published().registry)
    parts = [b"GET ", b"HEAD ", b"POST ", b"/metrics", b"/favicon.ico", b"?name[]=x", b"?" + b"&" * 999, b" HTTP/1.1", b"\r\n", b"\n",
             b"Accept: ", b"application/openmetrics-text; version=1.0.0", b"Accept-Encoding: gzip", b":", b"\xff\0", b"A" * 9000, b"q=", b";,"]
    for seed in range(500):
        dice = Random(seed)
        asked = (ASKED if seed % 2 else b"") + b"".join(dice.choices(parts, k=dice.randrange(20))) + b"\r\n\r\n"
        if seed % 2:
            at = dice.randrange(len(ASKED))
            asked = ASKED[:at] + dice.choice(parts) + ASKED[at:] + asked
        assert scrape.is_whole(asked)
        head, _, body = answers(asked).partition(b"\r\n\r\n")
        size = next(int(each.split()[1]) for each in head.split(b"\r\n") if each.startswith(b"Content-Length"))
        assert head.startswith(b"HTTP/1.1 ") and (size == len(body) or asked.lstrip().startswith(b"HEAD")), asked
    assert answers(b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 4000 + b"\r\n") == scrape.BAD
    assert b"openmetrics" in answers(b"GET /metrics HTTP/1.1\r\naccept: application/openmetrics-text\r\n\r\n")
    assert not answers(b"HEAD /metrics HTTP/1.0\r\n\r\n").partition(b"\r\n\r\n")[2]
