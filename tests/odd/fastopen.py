# SPDX-License-Identifier: GPL-2.0
"""Odd programs: TCP Fast Open, where bytes travel before a connection is there."""
from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator

from odd import raw
from odd.frame import odd
from odd.network import (
    OURS,
    PORT,
    THEIRS,
    bring_up,
    connected,
    elsewhere,
    forward,
    own_network,
    setting,
)
from odd.sends import copied_on_arrival, file_of
from odd.truth import Child, Truth

# Client and server, neither of which wants a cookie, on every socket that listens.
WITHOUT_COOKIES = 0x1 | 0x2 | 0x4 | 0x200 | 0x400
HELD_S = 0.2
SYN, ACK = 0x02, 0x10
SYN_HAD_BYTES = 32


def server_here() -> socket.socket:
    """A namespace of its own that has Fast Open, and a server in it."""
    own_network()
    setting("ipv4/tcp_fastopen", WITHOUT_COOKIES)
    server = socket.create_server(("127.0.0.1", 0))
    server.setsockopt(socket.IPPROTO_TCP, raw.TCP_FASTOPEN, 16)
    return server


def opened(truth: Truth, server: socket.socket, size: int) -> tuple[socket.socket, socket.socket]:
    """Both ends of a connection whose SYN had bytes, sent plainly."""
    client = socket.socket()
    truth.sent("tx_copy", client.sendto(b"o" * size, raw.MSG_FASTOPEN, server.getsockname()))
    return client, server.accept()[0]


@odd()
def fast_open(truth: Truth) -> Iterator[None]:
    """Bytes in the SYN."""
    server = server_here()
    _, first = opened(truth, server, 300)
    truth.take(first, 300)
    yield
    for size in (1, 400, 5000):
        client, other = opened(truth, server, size)
        truth.take(other, size)
        truth.send(client, 1000)
        truth.take(other, 1000)
        client.close()
        truth.drain(other)


def deferred(server: socket.socket) -> socket.socket:
    """Its connect() has returned, and the first send will send the SYN."""
    client = socket.socket()
    client.setsockopt(socket.IPPROTO_TCP, raw.TCP_FASTOPEN_CONNECT, 1)
    client.connect(server.getsockname())
    return client


@odd()
def fast_open_deferred(truth: Truth) -> Iterator[None]:
    """TCP_FASTOPEN_CONNECT before the window, and in it: until its first send a socket has a sequence number and no SYN."""
    server = server_here()
    early, idle = deferred(server), deferred(server)
    yield
    late, never = deferred(server), deferred(server)
    for client, size in ((early, 100), (late, 300)):
        truth.send(client, size)
        truth.take(server.accept()[0], size)
    # The window is read while they wait.
    truth.kept += [idle, never]


@odd()
def fast_open_after_sendfile(truth: Truth) -> Iterator[None]:
    """A socket that spliced last is disconnected, and sends in its next SYN: that is copied."""
    server = server_here()
    yield
    client, other = opened(truth, server, 700)
    truth.take(other, 700)
    with file_of(3000) as file:
        truth.take(other, truth.sent("tx_splice", os.sendfile(client.fileno(), file.fileno(), 0, 3000)))
    raw.disconnect(client)
    truth.sent("tx_copy", client.sendto(b"o" * 400, raw.MSG_FASTOPEN, server.getsockname()))
    again, _ = server.accept()
    truth.take(again, 400)
    truth.send(client, 50)
    truth.take(again, 50)


@odd()
def fast_open_by_reference(truth: Truth) -> Iterator[None]:
    """MSG_ZEROCOPY with MSG_FASTOPEN: what the SYN has is copied by send, the rest is referenced."""
    server = server_here()
    client, other = opened(truth, server, 300)
    truth.take(other, 300)
    client.close()
    yield
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, raw.SO_ZEROCOPY, 1)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # Small enough for a SYN, however small packets were before.
    truth.sent("tx_copy", client.sendto(b"z" * 400, raw.MSG_ZEROCOPY | raw.MSG_FASTOPEN,
                                        server.getsockname()))
    other, _ = server.accept()
    truth.take(other, 400)
    for _ in range(5):
        truth.zero_copy(client, 4000)
        truth.take(other, 4000)
    # The SYN has a notification, too: the kernel copies its bytes again when they arrive.
    truth.completions(client, 6)
    truth.sums.update({"sends": 1, "asked": 1})
    truth.unknown.add("late_copy")
    truth.limits["late_copy"] = (20_000, 20_400)
    assert client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)[5] & SYN_HAD_BYTES


@odd()
def fast_open_server_answers_at_once(truth: Truth) -> Iterator[None]:
    """A server reads the SYN's bytes and answers by MSG_ZEROCOPY before the client's ACK is there."""
    own_network()
    setting("ipv4/tcp_fastopen", WITHOUT_COOKIES)
    ours = raw.tun("t0")

    def asks(own: Truth, line: Child) -> None:
        setting("ipv4/tcp_fastopen", WITHOUT_COOKIES)
        theirs = raw.tun("t1")
        threading.Thread(target=forward, args=(ours, theirs, held_back), daemon=True).start()
        bring_up("t1", THEIRS)
        # It keeps the size of packets for later connections.
        line.hear()
        connected(OURS).close()
        line.hear()
        client = socket.socket()
        own.sent("tx_copy", client.sendto(b"q" * 500, raw.MSG_FASTOPEN, (OURS, PORT)))
        own.take(client, 1000)
        client.close()
        # Until then it hands packets on.
        line.hear()
    child = elsewhere(truth, asks)
    bring_up("t0", OURS)
    server = socket.create_server((OURS, PORT))
    server.setsockopt(socket.IPPROTO_TCP, raw.TCP_FASTOPEN, 16)
    child.tell("connect")
    first, _ = server.accept()
    truth.drain(first)
    yield
    child.tell("ask")
    other, _ = server.accept()
    other.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    truth.take(other, 500)
    truth.zero_copy(other, 1000)
    truth.completions(other, 1)
    truth.drain(other)
    child.tell("end")
    truth.join(child)


def held_back(packet: bytes) -> float:
    """A server's answer to a SYN comes late, so the client's ACK does, too."""
    flags = packet[(packet[0] & 15) * 4 + 13]
    return HELD_S if packet[0] >> 4 == 4 and flags & (SYN | ACK) == SYN | ACK else 0


@odd()
def fast_open_refused(truth: Truth) -> Iterator[None]:
    """Nobody listens: the bytes of the SYN were accepted, and then dropped."""
    server = server_here()
    address = server.getsockname()
    server.close()
    yield
    client = socket.socket()
    with contextlib.suppress(ConnectionRefusedError):
        client.sendto(b"o" * 100, raw.MSG_FASTOPEN, address)
    time.sleep(0.02)
    for sum_of in ("accepted", "tx_copy"):
        truth.unknown.add(sum_of)
        truth.limits[sum_of] = (0, 100)


@odd()
def fast_open_copied(truth: Truth) -> Iterator[None]:
    """Fast Open first, and sends by reference once the connection is there."""
    server = server_here()
    yield
    client, other = opened(truth, server, 200)
    truth.take(other, 200)
    for _ in range(5):
        truth.zero_copy(client, 6000)
        truth.take(other, 6000)
    truth.completions(client, 5)
    copied_on_arrival(truth)
