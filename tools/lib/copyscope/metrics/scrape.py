# SPDX-License-Identifier: GPL-2.0
"""One request of a scraper and its answer, as bytes: the text format, or OpenMetrics to those that
ask for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from prometheus_client import CollectorRegistry, make_wsgi_app

# Prometheus asks in some 400 bytes.
MOST_ASKED_BYTES = 16 << 10
FIRST_LINE = re.compile(rb"(GET|HEAD) (/[!-~]*) HTTP/1\.[0-9]")
END = re.compile(rb"\r?\n\r?\n")
BAD = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
Answers = Callable[[bytes], bytes]


def is_whole(asked: bytes | bytearray) -> bool:
    """Whether a request has come to its end, or can have none."""
    return len(asked) > MOST_ASKED_BYTES or bool(END.search(asked))


def environ_of(asked: bytes) -> dict[str, Any] | None:
    """The request as WSGI has it; None if it is none that is answered."""
    first, *lines = asked.splitlines()
    found = FIRST_LINE.fullmatch(first)
    if not found or len(asked) > MOST_ASKED_BYTES:
        return None
    path, _, query = found[2].decode("ascii").partition("?")
    environ = {
        "REQUEST_METHOD": found[1].decode("ascii"),
        "PATH_INFO": path,
        "QUERY_STRING": query,
    }
    for line in lines:
        name, _, value = line.decode("latin-1").partition(":")
        if name.lower() in ("accept", "accept-encoding"):
            environ["HTTP_" + name.upper().replace("-", "_")] = value.strip()
    return environ


def answers_of(registry: CollectorRegistry) -> Answers:
    """What makes an answer of a whole request."""
    app = make_wsgi_app(registry)

    def answer(asked: bytes) -> bytes:
        """The answer with its head."""
        environ = environ_of(asked)
        if environ is None:
            return BAD
        head = [""]

        def start(status: str, headers: Iterable[tuple[str, str]], *_: object) -> None:
            """Keep what WSGI tells first."""
            told = [f"{name}: {value}" for name, value in headers if name]
            head[:] = [f"HTTP/1.1 {status}", *told]

        body = b"".join(app(environ, start))
        head.extend([f"Content-Length: {len(body)}", "Connection: close", "", ""])
        return "\r\n".join(head).encode("latin-1") + (
            b"" if environ["REQUEST_METHOD"] == "HEAD" else body
        )

    return answer
