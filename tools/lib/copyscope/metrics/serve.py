# SPDX-License-Identifier: GPL-2.0
"""Answers scrapers over HTTP: the text format, or OpenMetrics to those that ask for it."""

from __future__ import annotations

import re
import socket
from socketserver import ThreadingMixIn
from threading import Thread
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

from copyscope.common.errors import Refused, Unusable

LOOPBACK = "127.0.0.1"
PLACE = re.compile(r"(?:(?P<address>[0-9.]+|\[[0-9a-fA-F:.]+\]|[\w.-]+):)?(?P<port>[0-9]{1,5})")


class Handler(WSGIRequestHandler):
    """One request; who sends none is not waited for."""

    timeout = 10

    def log_message(self, *_: object) -> None:
        """Scrapes are no news."""


class Server(ThreadingMixIn, WSGIServer):
    """Answers several at a time."""

    daemon_threads = True


class Server6(Server):
    """The same by IPv6."""

    address_family = socket.AF_INET6


def place_of(text: str) -> tuple[str, int]:
    """Address and port."""
    found = PLACE.fullmatch(text)
    if not found or not 1 <= int(found["port"]) <= 65535:
        raise Unusable(f"--serve {text!r} is no [ADDRESS:]PORT, such as 9435 or [::1]:9435")
    return (found["address"] or LOOPBACK).strip("[]"), int(found["port"])


def listen(text: str, registry: CollectorRegistry) -> Server:
    """Open the port; nobody is answered yet."""
    address, port = place_of(text)
    kind = Server6 if ":" in address else Server
    try:
        return make_server(address, port, make_wsgi_app(registry), kind, Handler)
    except OSError as error:
        raise Refused(
            f"--serve: cannot listen on {address} port {port}: {error.strerror}"
        ) from None


def answer(server: Server) -> None:
    """Answer from now on, in a thread."""
    Thread(target=server.serve_forever, daemon=True).start()
