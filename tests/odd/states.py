# SPDX-License-Identifier: GPL-2.0
"""Odd program: when the window opens there is a socket in each state of TCP that a program can hold it in.

The table by state of what a field means is in bpf/include/book.bpf.h: each of these sockets holds it to the bytes. Fast
Open has one of SYN_RECV (fastopen.py).
"""
from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

from odd import raw
from odd.frame import odd
from odd.lives import reset_by
from odd.truth import LOCAL, WAIT_S, Truth

STATES = ("ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT", "CLOSE", "CLOSE_WAIT", "LAST_ACK",
          "LISTEN", "CLOSING")
ROOM_BYTES = 1 << 19
# Of SYNs, before a connection is given up.
MOST_TRIES = 127


def state_of(sock: socket.socket) -> str:
    """The state by TCP_INFO. A socket whose connection is in TIME_WAIT is in CLOSE itself."""
    return STATES[sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] - 1]


def comes_to(sock: socket.socket, state: str) -> socket.socket:
    """Waits until the kernel has brought it there."""
    until = time.monotonic() + WAIT_S
    while state_of(sock) != state:
        assert time.monotonic() < until, f"{state_of(sock)} in place of {state}"
        time.sleep(0.002)
    return sock


def fill(truth: Truth, sock: socket.socket, other: socket.socket) -> None:
    """Sends more than the other end has room for, far more: what is sent then, as a FIN, waits until somebody reads."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ROOM_BYTES)
    other.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM_BYTES // 16)
    sock.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            truth.sent("tx_copy", sock.send(b"f" * 10_007))
    sock.setblocking(True)


def used_pair(truth: Truth) -> tuple[socket.socket, socket.socket]:
    """A connection over which each end has sent."""
    a, b = truth.pair()
    truth.send(a, 211)
    truth.take(b, 211)
    truth.send(b, 101)
    truth.take(a, 101)
    return a, b


def established(truth: Truth) -> Iterator[None]:
    """Bytes wait in both directions."""
    a, b = used_pair(truth)
    truth.send(a, 500)
    truth.send(b, 300)
    yield
    comes_to(a, "ESTABLISHED")
    truth.take(b, 500)
    truth.take(a, 300)
    truth.send(a, 7)


def closed_by_one(truth: Truth) -> Iterator[None]:
    """FIN_WAIT2 and CLOSE_WAIT: one end has ended, the other goes on."""
    a, b = used_pair(truth)
    truth.send(a, 400)
    a.shutdown(socket.SHUT_WR)
    truth.send(b, 600)
    comes_to(a, "FIN_WAIT2")
    comes_to(b, "CLOSE_WAIT")
    yield
    truth.drain(b)
    truth.send(b, 900)
    b.shutdown(socket.SHUT_WR)
    truth.drain(a)


def closed_while_full(truth: Truth) -> Iterator[None]:
    """FIN_WAIT1: the FIN waits behind bytes that have no room."""
    a, b = used_pair(truth)
    fill(truth, a, b)
    a.shutdown(socket.SHUT_WR)
    comes_to(a, "FIN_WAIT1")
    yield
    truth.drain(b)
    truth.send(b, 700)
    truth.take(a, 700)


def last_while_full(truth: Truth) -> Iterator[None]:
    """LAST_ACK: the end that has ended first does not read."""
    a, b = used_pair(truth)
    a.shutdown(socket.SHUT_WR)
    comes_to(b, "CLOSE_WAIT")
    fill(truth, b, a)
    b.shutdown(socket.SHUT_WR)
    comes_to(b, "LAST_ACK")
    yield
    truth.drain(a)


def both_while_full(truth: Truth) -> Iterator[None]:
    """CLOSING: both ends have ended, and one has read so."""
    a, b = used_pair(truth)
    fill(truth, a, b)
    fill(truth, b, a)
    for each in (a, b):
        each.shutdown(socket.SHUT_WR)
    truth.drain(a)
    comes_to(a, "CLOSING")
    yield
    truth.drain(b)


def closed_with_unread(truth: Truth) -> Iterator[None]:
    """CLOSE: both ends have ended with bytes unread, one of them in TIME_WAIT."""
    a, b = used_pair(truth)
    truth.send(b, 800)
    a.shutdown(socket.SHUT_WR)
    b.shutdown(socket.SHUT_WR)
    comes_to(a, "CLOSE")
    yield
    truth.take(a, 300)
    truth.drain(a)


def reset_with_unread(truth: Truth) -> Iterator[None]:
    """CLOSE by a reset: what came before it can be read."""
    a, b = used_pair(truth)
    truth.send(a, 350)
    reset_by(a)
    comes_to(b, "CLOSE")
    yield
    truth.drain(b)


def disconnected(truth: Truth) -> Iterator[None]:
    """CLOSE by connect(AF_UNSPEC): its numbers are those of nothing, then of another connection."""
    a, b = used_pair(truth)
    truth.send(b, 450)
    raw.disconnect(a)
    comes_to(a, "CLOSE")
    yield
    other = socket.create_server((LOCAL, 0))
    a.connect(other.getsockname())
    c, _ = other.accept()
    truth.kept += other, c
    truth.send(c, 550)
    truth.take(a, 550)


def connecting(truth: Truth) -> Iterator[None]:
    """SYN_SENT: nobody takes connections of a listener whose queue is full."""
    listener = socket.create_server((LOCAL, 0), backlog=0)
    waiting = [socket.socket() for _ in range(3)]
    for each in waiting:
        each.setblocking(False)
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, MOST_TRIES)
        each.connect_ex(listener.getsockname())
    truth.kept += listener, *waiting
    comes_to(waiting[-1], "SYN_SENT")
    comes_to(listener, "LISTEN")
    yield
    with contextlib.suppress(BlockingIOError):
        truth.sent("tx_copy", waiting[-1].send(b"n" * 50))
    waiting[-1].close()


@odd()
def each_state(truth: Truth) -> Iterator[None]:
    """A socket in each state moves what that state lets it move."""
    steps = [each(truth) for each in (established, closed_by_one, closed_while_full, last_while_full, both_while_full,
                                      closed_with_unread, reset_with_unread, disconnected, connecting)]
    for each in steps:
        next(each)
    yield
    for each in steps:
        next(each, None)
