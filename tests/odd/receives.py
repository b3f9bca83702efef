# SPDX-License-Identifier: GPL-2.0
"""Odd programs: every way to receive, and receives that fail."""
from __future__ import annotations

import contextlib
import ctypes
import mmap
import socket
import threading
import time
from collections.abc import Iterator

from odd import raw
from odd.frame import needed, odd
from odd.sends import copied_on_arrival
from odd.truth import Truth

PEEK, TRUNC, OOB = socket.MSG_PEEK, socket.MSG_TRUNC, socket.MSG_OOB
# TX_SOFTWARE, SOFTWARE: what the error queue returns has the payload, as OPT_TSONLY is not asked for.
TX_STAMPS = 2 | 16
NO_PAYLOAD = 1 << 11
PAGES = 8


def peeked(truth: Truth, sock: socket.socket, size: int) -> None:
    """A peek copies, and returns nothing for good."""
    truth.sums["rx_copy"] += len(sock.recv(size, PEEK | socket.MSG_WAITALL))


@odd()
def peek(truth: Truth) -> Iterator[None]:
    """Bytes that are peeked and then received are copied twice."""
    a, b = truth.pair()
    truth.measured |= {"rx_copy", "rx_discard"}
    truth.send(a, 600)
    peeked(truth, b, 600)
    yield
    peeked(truth, b, 600)
    # This one neither copies nor throws away.
    assert b.recv_into(bytearray(600), 600, PEEK | TRUNC) == 600
    truth.take(b, 600)


@odd()
def peek_then_splice(truth: Truth) -> Iterator[None]:
    """As proxies do that read the name of a TLS client first."""
    a, b = truth.pair()
    yield
    truth.send(a, 40_000)
    peeked(truth, b, 40_000)
    truth.splice_out(b, 40_000)


@odd()
def peek_a_little_then_splice(truth: Truth) -> Iterator[None]:
    """The peek is smaller than what is spliced."""
    a, b = truth.pair()
    yield
    truth.send(a, 50_000)
    peeked(truth, b, 517)
    truth.splice_out(b, 50_000)


@odd()
def peek_offset(truth: Truth) -> Iterator[None]:
    """SO_PEEK_OFF: each peek begins where the last one ended (TCP since 6.9)."""
    a, b = truth.pair()
    needed(b.setsockopt, socket.SOL_SOCKET, raw.SO_PEEK_OFF, 0)
    yield
    truth.send(a, 4000)
    for _ in range(4):
        peeked(truth, b, 1000)
    truth.take(b, 4000)


@odd()
def discard(truth: Truth) -> Iterator[None]:
    """MSG_TRUNC: nobody copies these bytes."""
    a, b = truth.pair()
    truth.measured |= {"rx_copy", "rx_discard"}
    yield
    truth.send(a, 9000)
    left = 9000
    while left:
        left -= truth.got("rx_discard", b.recv_into(bytearray(9000), left, TRUNC))
    truth.send(a, 100)
    truth.take(b, 100)


@odd()
def failed_receives(truth: Truth) -> Iterator[None]:
    """Receives into memory that is not there: they copy nothing."""
    a, b = truth.pair()
    truth.measured.add("rx_copy")
    yield
    truth.send(a, 5000)
    for _ in range(100):
        raw.failed_receive(b, 5000)
    truth.take(b, 5000)


@odd()
def failed_receive_then_splice(truth: Truth) -> Iterator[None]:
    """As many bytes are spliced as a receive failed to copy."""
    a, b = truth.pair()
    yield
    truth.send(a, 5000)
    raw.failed_receive(b, 5000)
    truth.splice_out(b, 5000)


@odd()
def time_stamps(truth: Truth) -> Iterator[None]:
    """Time stamps of sends, whose payload the error queue returns: this is no receive of the stream."""
    a, b = truth.pair()
    yield
    a.setsockopt(socket.SOL_SOCKET, raw.SO_TIMESTAMPING, TX_STAMPS)
    for _ in range(20):
        truth.send(a, 1000)
        truth.take(b, 1000)
        for _ in range(1000):
            try:
                a.recvmsg(4096, 512, raw.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
                break
            except BlockingIOError:
                time.sleep(0.001)


@odd()
def time_stamps_of_references(truth: Truth) -> Iterator[None]:
    """Time stamps lie between notifications in the error queue, and each read of it tells of what is still there."""
    a, b = truth.pair()
    yield
    a.setsockopt(socket.SOL_SOCKET, raw.SO_TIMESTAMPING, TX_STAMPS | NO_PAYLOAD)
    for _ in range(10):
        truth.zero_copy(a, 20_000)
        truth.take(b, 20_000)
    truth.completions(a, 10)
    copied_on_arrival(truth)


def send_with_urgent(truth: Truth, a: socket.socket) -> None:
    """A hundred bytes, an urgent one, and fifty."""
    truth.send(a, 100)
    truth.send(a, 1, OOB)
    truth.send(a, 50)


@odd()
def urgent(truth: Truth) -> Iterator[None]:
    """An urgent byte that is received by MSG_OOB."""
    a, b = truth.pair()
    yield
    send_with_urgent(truth, a)
    time.sleep(0.02)
    truth.got("rx_copy", len(b.recv(1, OOB)))
    truth.take(b, 150)


@odd()
def urgent_inline(truth: Truth) -> Iterator[None]:
    """An urgent byte in line is a byte as any other."""
    a, b = truth.pair()
    b.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
    yield
    send_with_urgent(truth, a)
    truth.take(b, 151)


@odd()
def urgent_bytes_of_all_ways(truth: Truth) -> Iterator[None]:
    """One before the window; one that is peeked, then read; one thrown away; one that comes while another is next."""
    a, b = truth.pair()
    truth.send(a, 7, OOB)
    time.sleep(0.02)
    yield
    truth.take(b, 6)
    truth.send(a, 11, OOB)
    time.sleep(0.02)
    truth.sums["rx_copy"] += len(b.recv(1, OOB | PEEK))
    truth.got("rx_copy", len(b.recv(1, OOB)))
    truth.take(b, 10)
    truth.send(a, 1, OOB)
    time.sleep(0.02)
    truth.got("rx_discard", b.recv_into(bytearray(1), 1, OOB | TRUNC))
    truth.send(a, 1, OOB)
    truth.send(a, 13)
    truth.take(b, 13)
    truth.unknown.add("returned")
    # Each of the four left; calls returned two.
    truth.limits["returned"] = (31, 33)


@odd()
def urgent_never_read(truth: Truth) -> Iterator[None]:
    """TCP skips an urgent byte that nobody receives: it may count as returned, but not at a site."""
    a, b = truth.pair()
    yield
    send_with_urgent(truth, a)
    truth.take(b, 150)
    truth.unknown.add("returned")
    truth.limits["returned"] = (150, 151)


@odd()
def urgent_way_changes_within_a_receive(truth: Truth) -> Iterator[None]:
    """A receive has skipped the byte and waits for more: that SO_OOBINLINE is set then does not bring it back."""
    def change() -> None:
        b.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
        truth.send(a, 50)
    a, b = truth.pair()
    yield
    send_with_urgent(truth, a)
    time.sleep(0.02)
    truth.take(b, 100)
    changes = threading.Timer(0.1, change)
    changes.start()
    truth.got("rx_copy", len(b.recv(100, socket.MSG_WAITALL)))
    changes.join()
    truth.unknown.add("returned")
    truth.limits["returned"] = (200, 201)


def waiting_pages(truth: Truth, a: socket.socket, count: int = PAGES, flags: int = 0) -> None:
    """Whole pages wait in the receiver's queue, in copies that were made on arrival."""
    pages = mmap.mmap(-1, count * mmap.PAGESIZE)
    pages.write(b"p" * len(pages))
    a.setsockopt(socket.SOL_SOCKET, raw.SO_ZEROCOPY, 1)
    truth.sent("tx_reference", a.send(pages, raw.MSG_ZEROCOPY | flags))
    truth.sums.update({"sends": 1, "asked": 1})
    truth.completions(a, 1)
    copied_on_arrival(truth)


def take_by_map(truth: Truth, b: socket.socket, size: int,
                copybuf: ctypes.Array | None = None) -> None:
    """TCP_ZEROCOPY_RECEIVE, and recv for what it does not map."""
    area = needed(mmap_of_socket, b, PAGES * mmap.PAGESIZE)
    left = size
    while left:
        mapped, skip, copied = raw.map_received(b, area, PAGES * mmap.PAGESIZE, copybuf)
        truth.got("rx_map", mapped)
        truth.got("rx_copy", copied)
        left -= mapped + copied
        if left and not mapped + copied:
            part = min(left, skip or left)
            truth.take(b, part)
            left -= part


def map_what_came(truth: Truth, a: socket.socket, b: socket.socket, size: int,
                  room: ctypes.Array | None = None) -> None:
    """Sends, and takes it by map once it is there."""
    truth.send(a, size)
    time.sleep(0.02)
    take_by_map(truth, b, size, room)


def mmap_of_socket(sock: socket.socket, size: int) -> int:
    """Address space that a socket maps pages into."""
    raw.LIBC.mmap.restype = ctypes.c_void_p
    found = raw.LIBC.mmap(None, ctypes.c_size_t(size), mmap.PROT_READ, mmap.MAP_SHARED,
                          sock.fileno(), ctypes.c_long(0))
    return raw.checked(-1 if found in (None, ctypes.c_void_p(-1).value) else found, "mmap of a socket")


@odd()
def mapped(truth: Truth) -> Iterator[None]:
    """TCP_ZEROCOPY_RECEIVE of whole pages."""
    a, b = truth.pair()
    yield
    for _ in range(3):
        waiting_pages(truth, a)
        take_by_map(truth, b, PAGES * mmap.PAGESIZE)


@odd()
def mapped_with_urgent_byte(truth: Truth) -> Iterator[None]:
    """The last byte of the first page is urgent, and in line while it is mapped alone: no receive skips it."""
    a, b = truth.pair()
    yield
    waiting_pages(truth, a, 1, OOB)
    waiting_pages(truth, a)
    b.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
    area = needed(mmap_of_socket, b, (1 + PAGES) * mmap.PAGESIZE)
    mapped, _, _ = raw.map_received(b, area, (1 + PAGES) * mmap.PAGESIZE)
    truth.got("rx_map", mapped)
    b.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 0)
    truth.take(b, (1 + PAGES) * mmap.PAGESIZE - mapped)


@odd()
def mapped_past_urgent_byte(truth: Truth) -> Iterator[None]:
    """The last byte of two pages is urgent. One page is mapped, and the other copied into the buffer, past the byte."""
    a, b = truth.pair()
    room = ctypes.create_string_buffer(mmap.PAGESIZE)
    yield
    waiting_pages(truth, a, 2, OOB)
    take_by_map(truth, b, 2 * mmap.PAGESIZE, room)
    truth.send(a, 1900)
    truth.take(b, 1900)


@odd()
def mapped_nothing(truth: Truth) -> Iterator[None]:
    """TCP_ZEROCOPY_RECEIVE of bytes that lie in no page of their own: recv copies all."""
    a, b = truth.pair()
    yield
    map_what_came(truth, a, b, 3000)


@odd()
def mapped_with_buffer(truth: Truth) -> Iterator[None]:
    """TCP_ZEROCOPY_RECEIVE with a buffer into which it copies what it cannot map (5.11)."""
    a, b = truth.pair()
    room = ctypes.create_string_buffer(8192)
    yield
    map_what_came(truth, a, b, 1700, room)


@odd()
def mapped_with_buffer_and_error_queue(truth: Truth) -> Iterator[None]:
    """The same, by a program that reads its error queue in between: what was copied stays copied."""
    a, b = truth.pair()
    room = ctypes.create_string_buffer(8192)
    yield
    for _ in range(5):
        map_what_came(truth, a, b, 1700, room)
        with contextlib.suppress(BlockingIOError):
            b.recvmsg(0, 512, raw.MSG_ERRQUEUE | socket.MSG_DONTWAIT)


@odd()
def mapped_with_buffer_and_failed_receive(truth: Truth) -> Iterator[None]:
    """The same, before a receive into memory that is not there."""
    a, b = truth.pair()
    room = ctypes.create_string_buffer(8192)
    yield
    map_what_came(truth, a, b, 1700, room)
    truth.send(a, 900)
    time.sleep(0.02)
    raw.failed_receive(b, 900)
    truth.take(b, 900)
