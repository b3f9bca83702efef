# SPDX-License-Identifier: GPL-2.0
"""Odd programs: how connections end and begin again, and whose they are."""
from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator

from odd import raw
from odd.frame import needed, odd
from odd.sends import file_of
from odd.truth import Child, Truth

PAUSE_S = 0.02
AT_ONCE = struct.pack("ii", 1, 0)


@odd()
def half_close(truth: Truth) -> Iterator[None]:
    """One end is shut down, the other goes on."""
    a, b = truth.pair()
    truth.send(a, 10)
    yield
    truth.send(a, 1234)
    a.shutdown(socket.SHUT_WR)
    truth.drain(b)
    truth.send(b, 99)
    b.close()
    truth.drain(a)
    a.close()


@odd()
def reset_with_unread(truth: Truth) -> Iterator[None]:
    """Both ends hold unread bytes when one closes: a reset, after which the other reads."""
    a, b = truth.pair()
    yield
    truth.send(a, 1000)
    truth.send(b, 2000)
    time.sleep(PAUSE_S)
    b.close()
    time.sleep(PAUSE_S)
    truth.drain(a)
    a.close()


@odd()
def linger_0(truth: Truth) -> Iterator[None]:
    """SO_LINGER of 0 resets; what the other end received before can still be read."""
    a, b = truth.pair()
    truth.send(a, 11)
    yield
    truth.send(a, 5000)
    time.sleep(PAUSE_S)
    a.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    a.close()
    time.sleep(PAUSE_S)
    truth.drain(b)


def reset_by(a: socket.socket) -> None:
    """Closes one end so that the other is reset."""
    a.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    a.close()
    time.sleep(PAUSE_S)


def after_reset(truth: Truth, take: Callable[[socket.socket, int], object]) -> Iterator[None]:
    """What came before a reset is taken in part, then connect(AF_UNSPEC) takes the numbers away that tell so."""
    a, b = truth.pair()
    other = socket.create_server(("127.0.0.1", 0))
    yield
    truth.send(a, 10_000)
    reset_by(a)
    take(b, 4000)
    raw.disconnect(b)
    b.connect(other.getsockname())
    c, _ = other.accept()
    truth.send(c, 500)
    truth.take(b, 500)


@odd()
def read_after_reset(truth: Truth) -> Iterator[None]:
    """By recv."""
    yield from after_reset(truth, truth.take)


@odd()
def spliced_after_reset(truth: Truth) -> Iterator[None]:
    """By splice, of which no tracepoint tells."""
    yield from after_reset(truth, truth.splice_out)


@odd()
def spliced_after_both_ends(truth: Truth) -> Iterator[None]:
    """Both ends have ended before the window with bytes unread; in it they are spliced out, then comes connect(AF_UNSPEC)."""
    a, b = truth.pair()
    truth.send(a, 3000)
    a.shutdown(socket.SHUT_WR)
    b.shutdown(socket.SHUT_WR)
    time.sleep(PAUSE_S)
    yield
    truth.take(b, 1000)
    truth.splice_out(b, 2000)
    raw.disconnect(b)


@odd()
def spliced_when_closed(truth: Truth) -> Iterator[None]:
    """sendfile() after the end of what may be sent, of the connection, and of its numbers: it fails, and moves nothing."""
    a, b = truth.pair()
    file = file_of(3000)

    def fails() -> None:
        with contextlib.suppress(OSError):
            truth.sent("tx_splice", os.sendfile(a.fileno(), file.fileno(), 0, 3000))
    truth.send(a, 1000)
    truth.take(b, 1000)
    yield
    a.shutdown(socket.SHUT_WR)
    fails()
    b.close()
    time.sleep(PAUSE_S)
    fails()
    raw.disconnect(a)
    fails()


@odd()
def reset_while_it_waits(truth: Truth) -> Iterator[None]:
    """MSG_ZEROCOPY waits for room until the other end resets: it moves nothing, and is no send."""
    a, b = truth.pair()
    truth.zero_copy(a, 1000)
    yield
    truth.zero_copy(a, 1000)
    a.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            truth.sent("tx_copy", a.send(bytes(100_000)))
    a.setblocking(True)
    resets = threading.Timer(PAUSE_S, reset_by, [b])
    resets.start()
    with contextlib.suppress(ConnectionError):
        truth.sent("tx_reference", a.send(bytes(1000), raw.MSG_ZEROCOPY))
        truth.sums["sends"] += 1
    resets.join()
    truth.sums["asked"] += 1
    truth.sums["dropped"] = truth.sums["tx_reference"]


@odd()
def disconnect_unsent_references(truth: Truth) -> Iterator[None]:
    """MSG_ZEROCOPY waits unsent when connect(AF_UNSPEC) drops it: its notification comes with the disconnection's error."""
    a, b = truth.pair()
    other = socket.create_server(("127.0.0.1", 0))
    yield
    a.setsockopt(socket.SOL_SOCKET, raw.SO_ZEROCOPY, 1)
    a.setblocking(False)
    truth.sent("tx_reference", a.send(bytes(3_000_000), raw.MSG_ZEROCOPY))
    truth.sums.update({"sends": 1, "asked": 1})
    raw.disconnect(a)
    a.setblocking(True)
    truth.drain(b)
    truth.sums["dropped"] = truth.sums["accepted"] - truth.sums["returned"]
    a.connect(other.getsockname())
    c, _ = other.accept()
    truth.zero_copy(a, 1000)
    truth.take(c, 1000)
    truth.completions(a, 2)


@odd()
def disconnect_unread(truth: Truth) -> Iterator[None]:
    """connect(AF_UNSPEC) with unread bytes, then connected anew: the kernel drops them."""
    a, b = truth.pair()
    other = socket.create_server(("127.0.0.1", 0))
    truth.send(b, 77)
    truth.take(a, 77)
    yield
    truth.send(a, 300)
    truth.take(b, 300)
    truth.send(b, 400)
    time.sleep(PAUSE_S)
    raw.disconnect(a)
    a.connect(other.getsockname())
    c, _ = other.accept()
    truth.send(a, 1000)
    truth.take(c, 1000)
    truth.send(c, 55)
    truth.take(a, 55)


@odd()
def disconnected_before(truth: Truth) -> Iterator[None]:
    """connect(AF_UNSPEC) before the window, after sends by reference: the numbers of notifications go on."""
    a, b = truth.pair()
    truth.zero_copy(a, 1000, 8)
    truth.take(b, 8000)
    truth.completions(a, 8)
    other = socket.create_server(("127.0.0.1", 0))
    raw.disconnect(a)
    yield
    a.connect(other.getsockname())
    c, _ = other.accept()
    truth.zero_copy(a, 1000)
    truth.take(c, 1000)
    truth.completions(a, 1)


@odd()
def disconnected_out_of_order(truth: Truth) -> Iterator[None]:
    """connect(AF_UNSPEC) before the window drops a send by reference that is unsent, and then one that is not acknowledged."""
    a, b = truth.pair()
    other = socket.create_server(("127.0.0.1", 0))
    b.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
    truth.zero_copy(a, 1000)
    truth.sent("tx_reference", a.send(bytes(500), raw.MSG_ZEROCOPY | raw.MSG_MORE))
    truth.sums.update({"sends": 1, "asked": 1})
    raw.disconnect(a)
    yield
    a.connect(other.getsockname())
    c, _ = other.accept()
    truth.zero_copy(a, 1000)
    truth.take(c, 1000)


@odd()
def reset_with_unread_completion(truth: Truth) -> Iterator[None]:
    """A socket that is reset holds notifications: the reset tells of them a second time."""
    a, b = truth.pair()
    truth.zero_copy(a, 5000, 3)
    truth.take(b, 15_000)
    b.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    b.close()
    time.sleep(PAUSE_S)
    yield
    truth.completions(a, 3)


@odd()
def disconnect_unsent(truth: Truth) -> Iterator[None]:
    """connect(AF_UNSPEC) while bytes wait to be sent, then connected anew."""
    a, b = truth.pair()
    other = socket.create_server(("127.0.0.1", 0))
    yield
    truth.send(a, 123, raw.MSG_MORE)
    raw.disconnect(a)
    a.connect(other.getsockname())
    c, _ = other.accept()
    truth.send(a, 1000)
    truth.take(c, 1000)
    b.close()


@odd()
def disconnect_after_fin(truth: Truth) -> Iterator[None]:
    """A socket whose FIN had left before, disconnected and connected anew."""
    a, b = truth.pair()
    other = socket.create_server(("127.0.0.1", 0))
    truth.send(a, 10)
    a.shutdown(socket.SHUT_WR)
    time.sleep(PAUSE_S)
    yield
    raw.disconnect(a)
    a.connect(other.getsockname())
    c, _ = other.accept()
    truth.send(a, 1000)
    truth.take(c, 1000)
    b.close()


@odd()
def repair(truth: Truth) -> Iterator[None]:
    """TCP_REPAIR sets sequence numbers: no bytes are moved by that."""
    a, b = truth.pair()
    c, d = truth.pair()
    yield
    truth.send(a, 1000)
    truth.take(b, 1000)
    repaired = socket.socket()
    needed(repaired.setsockopt, socket.IPPROTO_TCP, raw.TCP_REPAIR, 1)
    for queue, number in ((2, 1_000_000), (1, 2_000_000)):
        repaired.setsockopt(socket.IPPROTO_TCP, raw.TCP_REPAIR_QUEUE, queue)
        repaired.setsockopt(socket.IPPROTO_TCP, raw.TCP_QUEUE_SEQ, number)
    repaired.bind(("127.0.0.1", 0))
    repaired.connect(truth.listener.getsockname())
    repaired.setsockopt(socket.IPPROTO_TCP, raw.TCP_REPAIR, 0)
    repaired.close()
    # One that lived before, and is taken out of TCP without a word to the other end.
    c.setsockopt(socket.IPPROTO_TCP, raw.TCP_REPAIR, 1)
    c.close()
    d.close()


@odd()
def self_connected(truth: Truth) -> Iterator[None]:
    """A socket that is connected to itself."""
    one = socket.socket()
    one.bind(("127.0.0.1", 0))
    one.connect(one.getsockname())
    yield
    truth.send(one, 7000)
    truth.take(one, 7000)


@odd()
def never_accepted(truth: Truth) -> Iterator[None]:
    """A connection that nobody accepts."""
    server = socket.create_server(("127.0.0.1", 0))
    yield
    a = socket.create_connection(server.getsockname())
    truth.send(a, 77)
    a.close()
    time.sleep(PAUSE_S)


@odd()
def refused(truth: Truth) -> Iterator[None]:
    """Connections that are refused move nothing."""
    free = socket.socket()
    free.bind(("127.0.0.1", 0))
    yield
    for _ in range(10):
        try:
            socket.create_connection(free.getsockname())
        except ConnectionRefusedError:
            continue
        raise AssertionError("somebody listens")


@odd()
def handed_over(truth: Truth) -> Iterator[None]:
    """SCM_RIGHTS: another process goes on with the socket."""
    a, b = truth.pair()
    ours, theirs = socket.socketpair()
    yield

    def goes_on(own: Truth, line: Child) -> None:
        _, handles, _, _ = socket.recv_fds(theirs, 1, 1)
        taken = socket.socket(fileno=handles[0])
        line.hear()
        own.send(taken, 1000)
        taken.close()
    child = truth.child(goes_on)
    truth.send(a, 500)
    socket.send_fds(ours, [b"x"], [a.fileno()])
    a.close()
    child.tell()
    truth.take(b, 1500)
    truth.join(child)


@odd()
def shared(truth: Truth) -> Iterator[None]:
    """Two processes send on one socket, in turns and by different ways."""
    a, b = truth.pair()
    yield

    def sends_too(own: Truth, line: Child) -> None:
        for _ in range(5):
            line.hear()
            own.send(a, 700)
            line.tell("sent")
    child = truth.child(sends_too)
    for _ in range(5):
        truth.zero_copy(a, 9000)
        child.tell()
        child.hear()
        truth.take(b, 9700)
    truth.join(child)
    truth.completions(a, 5)


@odd()
def zombies(truth: Truth) -> Iterator[None]:
    """Processes that have ended and that nobody has awaited yet."""
    a, b = truth.pair()
    yield
    ended = []
    for _ in range(10):
        pid = os.fork()
        if not pid:
            a.send(bytes(321))
            os._exit(0)
        ended.append(pid)
        truth.pids.append(pid)
        truth.sent("tx_copy", 321)
    truth.take(b, 3210)
    # They stay until this process ends.
    for pid in ended:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
