# SPDX-License-Identifier: GPL-2.0
"""Answers scrapers over HTTP from one thread, whoever else connects: so many clients at a time, and
so long for each from its first byte to its last.
"""

from __future__ import annotations

import re
import selectors
import socket
import time
from dataclasses import dataclass, field
from threading import Thread

from prometheus_client import CollectorRegistry

from copyscope.common.errors import Refused, Unusable

from .kept import Complaints
from .scrape import Answers, answers_of, is_whole

LOOPBACK = "127.0.0.1"
PLACE = re.compile(r"(?:(?P<address>[0-9.]+|\[[0-9a-fA-F:.]+\]|[\w.-]+):)?(?P<port>[0-9]{1,5})")
# For a request and its answer. A limit of each read would be none: a client that sends a byte now
# and then would stay.
PATIENCE_S = 10
# Where one more comes, the oldest is let go: who scrapes has asked by then.
MOST_CLIENTS = 32
# How long no client is taken where the system has no descriptor or memory for it: it stays at the
# door, and asking again at once would take a processor.
BACKOFF_S = 1.0
PIECE = 1 << 16
NO_REQUEST = f"it sent no whole request within {PATIENCE_S} s"
NO_READER = f"it did not read its answer within {PATIENCE_S} s"


@dataclass(eq=False)
class Client:
    """Who has connected."""

    stream: socket.socket
    until_s: float
    asked: bytearray = field(default_factory=bytearray)
    left: memoryview | None = None  # of the answer


class Server:
    """Answers several at a time."""

    def __init__(self, door: socket.socket, answers: Answers, complaints: Complaints) -> None:
        self.door, self.answers, self.complaints = door, answers, complaints
        self.clients: dict[Client, None] = {}  # the oldest first
        self.selector = selectors.DefaultSelector()
        self.closed_until_s: float | None = None
        door.setblocking(False)
        self.selector.register(door, selectors.EVENT_READ)

    def _tell(self, why: str) -> None:
        """Tell what clients do, once a minute for all of them: they may be anybody."""
        self.complaints.tell("clients", f"--serve: let a client go: {why} (others may be, too)")

    def _let_go(self, client: Client) -> None:
        """End a connection."""
        self.clients.pop(client)
        self.selector.unregister(client.stream)
        client.stream.close()

    def _take(self, now_s: float) -> None:
        """Take one client: those that are there get a turn before the next one."""
        try:
            stream, _ = self.door.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:
            self.complaints.tell(
                "door", f"--serve: no client is taken for {BACKOFF_S:.0f} s: {error.strerror}"
            )
            self.selector.unregister(self.door)
            self.closed_until_s = now_s + BACKOFF_S
            return
        stream.setblocking(False)
        if len(self.clients) >= MOST_CLIENTS:
            self._let_go(next(iter(self.clients)))
            self._tell(f"{MOST_CLIENTS} are served at a time, and it was the oldest")
        client = Client(stream, now_s + PATIENCE_S)
        self.clients[client] = None
        self.selector.register(stream, selectors.EVENT_READ, client)

    def _read(self, client: Client) -> None:
        """Read on, and make the answer once the request is whole."""
        piece = client.stream.recv(PIECE)
        if not piece:
            # One that only looks whether the port is open, as monitors do, is no news.
            self._let_go(client)
            return
        client.asked += piece
        if is_whole(client.asked):
            client.left = memoryview(self.answers(bytes(client.asked)))
            self.selector.modify(client.stream, selectors.EVENT_WRITE, client)

    def _write(self, client: Client, left: memoryview) -> None:
        """Send on; the connection ends with the answer."""
        client.left = left[client.stream.send(left) :]
        if not client.left:
            client.stream.shutdown(socket.SHUT_WR)
            self._let_go(client)

    def _serve(self, client: Client) -> None:
        """Go on with one client, whatever becomes of it."""
        try:
            if client.left is None:
                self._read(client)
            else:
                self._write(client, client.left)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._let_go(client)
            self._tell(error.strerror or type(error).__name__)
        # Nothing that one client asks for may end the thread that serves all.
        except Exception as error:  # pylint: disable=broad-exception-caught
            self._let_go(client)
            self._tell(f"no answer could be made: {type(error).__name__}: {error}")

    def _late(self, now_s: float) -> None:
        """Let those go that took too long, and open the door again."""
        for client in [each for each in self.clients if each.until_s <= now_s]:
            self._let_go(client)
            self._tell(NO_REQUEST if client.left is None else NO_READER)
        if self.closed_until_s is not None and self.closed_until_s <= now_s:
            self.closed_until_s = None
            self.selector.register(self.door, selectors.EVENT_READ)

    def _wait_s(self, now_s: float) -> float | None:
        """How long nothing has to be done unless a client does something."""
        times = [each.until_s for each in self.clients][:1]
        if self.closed_until_s is not None:
            times.append(self.closed_until_s)
        return max(min(times) - now_s, 0) if times else None

    def step(self) -> None:
        """Wait until something is to be done, and do it."""
        ready = self.selector.select(self._wait_s(time.monotonic()))
        now_s = time.monotonic()
        self._late(now_s)
        for key, _ in ready:
            if key.data in self.clients:
                self._serve(key.data)
        if any(key.data is None for key, _ in ready):
            self._take(now_s)

    def serve(self) -> None:
        """Answer for ever."""
        while True:
            self.step()


def place_of(text: str) -> tuple[str, int]:
    """Address and port."""
    found = PLACE.fullmatch(text)
    if not found or not 1 <= int(found["port"]) <= 65535:
        raise Unusable(f"--serve {text!r} is no [ADDRESS:]PORT, such as 9435 or [::1]:9435")
    return (found["address"] or LOOPBACK).strip("[]"), int(found["port"])


def listen(text: str, registry: CollectorRegistry, complaints: Complaints) -> Server:
    """Open the port; nobody is answered yet."""
    address, port = place_of(text)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    door = socket.socket(family)
    try:
        # What ended a moment ago is no reason to wait.
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind((address, port))
        door.listen(socket.SOMAXCONN)
    except (OSError, UnicodeError) as error:
        door.close()
        why = getattr(error, "strerror", None) or str(error)
        raise Refused(f"--serve: cannot listen on {address} port {port}: {why}") from None
    return Server(door, answers_of(registry), complaints)


def answer(server: Server) -> None:
    """Answer from now on, in a thread."""
    Thread(target=server.serve, daemon=True).start()
