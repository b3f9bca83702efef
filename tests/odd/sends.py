# SPDX-License-Identifier: GPL-2.0
"""Odd programs: every way to send over loopback, where zero copy is copied on arrival."""
from __future__ import annotations

import ctypes
import mmap
import os
import socket
import struct
import tempfile
from collections.abc import Iterator
from typing import IO

from odd import raw
from odd.frame import odd
from odd.truth import Truth

TCP_CORK, TOTAL_RETRANS = 3, 100
SPLICE_F_MORE = 4


def copied_on_arrival(truth: Truth) -> None:
    """Each byte that was sent by reference, and nothing else, was copied when it arrived here."""
    truth.sums["late_copy"] = truth.sums["tx_reference"]
    if any(sent_again(each) for each in truth.kept):
        truth.unknown.add("late_copy")
        truth.limits["late_copy"] = (truth.sums["tx_reference"], 1 << 40)


def sent_again(sock: socket.socket) -> int:
    """Packets that TCP retransmitted, which a busy machine makes it do."""
    return sock.fileno() >= 0 and struct.unpack_from(
        "I", sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), TOTAL_RETRANS)[0]


def file_of(size: int):
    """A file with so many bytes."""
    file = tempfile.TemporaryFile()
    file.write(b"f" * size)
    file.flush()
    return file


def send_file(truth: Truth, sock: socket.socket, file: IO, size: int) -> None:
    """sendfile() of the first bytes of a file."""
    left = size
    while left:
        left -= truth.sent("tx_splice", os.sendfile(sock.fileno(), file.fileno(), size - left, left))


@odd()
def plain(truth: Truth) -> Iterator[None]:
    """Nothing odd: the others are held against it."""
    a, b = truth.pair()
    truth.measured |= {"tx_copy", "rx_copy"}
    truth.send(a, 4321)
    truth.take(b, 4000)
    yield
    truth.send(a, 30_000)
    truth.take(b, 30_321)


@odd()
def zero_copy(truth: Truth) -> Iterator[None]:
    """MSG_ZEROCOPY, in the middle of such sends."""
    a, b = truth.pair()
    truth.measured |= {"tx_copy", "tx_reference"}
    for times in (2, 10):
        for _ in range(times):
            truth.zero_copy(a, 20_000)
            truth.take(b, 20_000)
            truth.completions(a, 1)
        copied_on_arrival(truth)
        if times == 2:
            yield


@odd()
def zero_copy_begins(truth: Truth) -> Iterator[None]:
    """The first MSG_ZEROCOPY of a process comes in the window."""
    a, b = truth.pair()
    truth.send(a, 7)
    truth.take(b, 7)
    yield
    truth.zero_copy(a, 50_000, 3)
    truth.take(b, 150_000)
    truth.completions(a, 3)
    copied_on_arrival(truth)


def fault_halfway(truth: Truth, a: socket.socket, b: socket.socket, pages: int) -> None:
    """A send by reference whose packets of before the fault are sent, if there are any, and a plain one."""
    memory, there = raw.half_mapped(pages)
    sent = raw.LIBC.send(a.fileno(), ctypes.c_void_p(memory), ctypes.c_size_t(pages * mmap.PAGESIZE), raw.MSG_ZEROCOPY)
    assert sent <= there
    if sent > 0:
        truth.sent("tx_reference", sent)
        truth.sums.update({"sends": 1, "asked": 1})
        truth.take(b, sent)
        truth.completions(a, 1)
    truth.send(a, 100)
    truth.take(b, 100)


@odd()
def zero_copy_faults(truth: Truth) -> Iterator[None]:
    """MSG_ZEROCOPY of memory whose second half is not there: what came before the packet that faults is sent."""
    a, b = truth.pair()
    a.setsockopt(socket.SOL_SOCKET, raw.SO_ZEROCOPY, 1)
    for again in (False, True):
        for pages in (64, 8):
            fault_halfway(truth, a, b, pages)
        copied_on_arrival(truth)
        if not again:
            yield


@odd()
def zero_copy_unset(truth: Truth) -> Iterator[None]:
    """MSG_ZEROCOPY without SO_ZEROCOPY: the kernel ignores it."""
    a, b = truth.pair()
    yield
    for _ in range(10):
        truth.send(a, 20_000, raw.MSG_ZEROCOPY)
        truth.sums["asked"] += 1
        truth.take(b, 20_000)


@odd()
def zero_copy_mixed(truth: Truth) -> Iterator[None]:
    """Plain sends and MSG_ZEROCOPY in turns, merged in packets: late_copy may be more."""
    a, b = truth.pair()
    truth.zero_copy(a, 10_000)
    truth.take(b, 10_000)
    truth.completions(a, 1)
    yield
    for _ in range(20):
        truth.send(a, 3000)
        truth.zero_copy(a, 10_000)
        truth.take(b, 13_000)
    truth.completions(a, 20)


@odd()
def zero_copy_of_zeros(truth: Truth) -> Iterator[None]:
    """MSG_ZEROCOPY of memory that was never written, behind copied bytes in one packet: the kernel's page of zeros."""
    a, b = truth.pair()
    truth.zero_copy(a, 1000)
    truth.take(b, 1000)
    truth.completions(a, 1)
    yield
    truth.send(a, 100, raw.MSG_MORE)
    truth.sent("tx_reference", a.send(mmap.mmap(-1, 20_000, mmap.MAP_PRIVATE), raw.MSG_ZEROCOPY))
    truth.sums.update({"sends": 1, "asked": 1})
    truth.take(b, 20_100)
    truth.completions(a, 1)


@odd()
def zero_copy_piles_up(truth: Truth) -> Iterator[None]:
    """Of notifications the first is read: the kernel adds each later one to the second, which is never read."""
    a, b = truth.pair()
    truth.measured.add("tx_reference")
    yield
    for sends in range(6):
        truth.zero_copy(a, 20_000)
        truth.take(b, 20_000)
        truth.completions(a, sends == 0)


@odd()
def zero_copy_waits(truth: Truth) -> Iterator[None]:
    """User pages wait in the queue when the window opens: nobody receives until then."""
    # As much of it as leaves in the window.
    truth.unknown.add("late_copy")
    a, b = truth.pair()
    a.setsockopt(socket.SOL_SOCKET, raw.SO_SNDBUFFORCE, 4 << 20)
    truth.zero_copy(a, 50_000, 10)
    yield
    truth.take(b, 500_000)


@odd()
def zero_copy_corked(truth: Truth) -> Iterator[None]:
    """TCP_CORK and MSG_MORE around MSG_ZEROCOPY: packets of both kinds of bytes."""
    a, b = truth.pair()
    yield
    a.setsockopt(socket.IPPROTO_TCP, TCP_CORK, 1)
    truth.send(a, 100)
    truth.zero_copy(a, 20_000)
    truth.send(a, 50, raw.MSG_MORE)
    a.setsockopt(socket.IPPROTO_TCP, TCP_CORK, 0)
    truth.take(b, 20_150)
    truth.completions(a, 1)


@odd()
def more(truth: Truth) -> Iterator[None]:
    """MSG_MORE holds bytes back in the socket when the window opens and closes."""
    a, b = truth.pair()
    truth.send(a, 100, raw.MSG_MORE)
    yield
    truth.send(a, 200)
    truth.take(b, 300)
    truth.send(a, 123, raw.MSG_MORE)


@odd()
def sendfile(truth: Truth) -> Iterator[None]:
    """sendfile of a file."""
    a, b = truth.pair()
    file = file_of(60_001)
    yield
    send_file(truth, a, file, 60_001)
    truth.take(b, 60_001)


@odd()
def splice_in(truth: Truth) -> Iterator[None]:
    """From a pipe, to which bytes were written, and from a file through that pipe."""
    a, b = truth.pair()
    source, sink = os.pipe()
    file = file_of(9000)
    yield
    for fill in (lambda: os.write(sink, bytes(10_000)),
                 lambda: os.splice(file.fileno(), sink, 9000, offset_src=0)):
        left = fill()
        while left:
            done = truth.sent("tx_splice", os.splice(source, a.fileno(), left))
            truth.take(b, done)
            left -= done


@odd()
def gift(truth: Truth) -> Iterator[None]:
    """vmsplice with SPLICE_F_GIFT, and then splice: pages of the user, but not by MSG_ZEROCOPY."""
    a, b = truth.pair()
    source, sink = os.pipe()
    pages = mmap.mmap(-1, 8 * mmap.PAGESIZE)
    pages.write(b"g" * len(pages))
    memory = (ctypes.c_char * len(pages)).from_buffer(pages)
    yield
    left = raw.vmsplice(sink, memory, raw.SPLICE_F_GIFT)
    while left:
        done = truth.sent("tx_splice", os.splice(source, a.fileno(), left))
        truth.take(b, done)
        left -= done


@odd()
def gift_and_zero_copy(truth: Truth) -> Iterator[None]:
    """vmsplice and splice with SPLICE_F_MORE, then MSG_ZEROCOPY: one packet has pages of the process by both ways."""
    a, b = truth.pair()
    source, sink = os.pipe()
    memory = ctypes.create_string_buffer(2804)
    yield
    raw.vmsplice(sink, memory, 0)
    truth.sent("tx_splice", os.splice(source, a.fileno(), 2804, flags=SPLICE_F_MORE))
    truth.zero_copy(a, 64)
    truth.take(b, 2868)
    truth.completions(a, 1)


def gift_waits(truth: Truth, gift_first: bool) -> Iterator[None]:
    """Where nobody receives, bytes by vmsplice and then by MSG_ZEROCOPY wait in one packet: before the window, and in it."""
    a, b = truth.pair()
    truth.zero_copy(a, 1000)
    truth.take(b, 1000)
    truth.completions(a, 1)
    a.setsockopt(socket.SOL_SOCKET, raw.SO_SNDBUFFORCE, 16 << 20)
    source, sink = os.pipe()
    memory = ctypes.create_string_buffer(b"g" * 2804)
    truth.send(a, 8_000_000)
    if not gift_first:
        yield
    raw.vmsplice(sink, memory, 0)
    truth.sent("tx_splice", os.splice(source, a.fileno(), len(memory), flags=SPLICE_F_MORE))
    if gift_first:
        yield
    truth.zero_copy(a, 64)


@odd()
def gift_waits_before(truth: Truth) -> Iterator[None]:
    """The window begins between these two sends."""
    yield from gift_waits(truth, gift_first=True)


@odd()
def gift_waits_in(truth: Truth) -> Iterator[None]:
    """Both sends are in the window."""
    yield from gift_waits(truth, gift_first=False)


@odd()
def many_messages(truth: Truth) -> Iterator[None]:
    """sendmmsg and recvmmsg."""
    a, b = truth.pair()
    parts = [ctypes.create_string_buffer(size) for size in (1, 777, 4096, 12_000)]
    yield
    sent = sum(truth.sent("tx_copy", size) for size in raw.many_messages(a, parts, True))
    taken = sum(truth.got("rx_copy", size) for size in raw.many_messages(b, parts, False))
    truth.take(b, sent - taken)


@odd()
def every_way_in_turns(truth: Truth) -> Iterator[None]:
    """Plain, referenced and spliced on one socket; plain, discarded and spliced on the other."""
    a, b = truth.pair()
    file = file_of(8000)
    yield
    for turn in range(12):
        size = 1000 + turn
        truth.send(a, size)
        truth.zero_copy(a, size)
        size += truth.sent("tx_splice", os.sendfile(a.fileno(), file.fileno(), 0, 5000)) + size
        if turn % 3:
            truth.take(b, size)
        else:
            truth.splice_out(b, size)
    truth.completions(a, 12)


@odd()
def full_pipe(truth: Truth) -> Iterator[None]:
    """A sender that does not block fills the socket; the window opens and closes over full queues."""
    a, b = truth.pair()
    a.setblocking(False)

    def fill() -> None:
        try:
            while True:
                truth.sent("tx_copy", a.send(bytes(100_000)))
        except BlockingIOError:
            pass
    fill()
    yield
    truth.take(b, 500_000)
    fill()
