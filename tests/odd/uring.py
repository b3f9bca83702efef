# SPDX-License-Identifier: GPL-2.0
"""Odd programs: sends of io_uring, whose notifications pass no error queue."""
from __future__ import annotations

import ctypes
import mmap
import socket
import struct
import threading
from collections.abc import Iterator

from odd import raw
from odd.frame import CannotRun, needed, odd
from odd.sends import copied_on_arrival
from odd.truth import Truth

SETUP, ENTER, REGISTER = 425, 426, 427
SEND, SEND_ZC = 26, 47
LINK, FIXED, REPORT_USAGE = 4, 4, 8
GETEVENTS, REGISTER_BUFFERS = 1, 0
HAS_MORE, IS_NOTIFICATION, USAGE_COPIED = 2, 8, 1 << 31
SINGLE_MMAP = 1
ENTRIES, ENTRY_BYTES = 16, 64
OFFSET_OF_ENTRIES = 0x10000000
SIZE = 20_000
# Sends that leave together: their notifications find room.
HELD = 2 * ENTRIES


class Ring:
    """A ring of io_uring, and memory to send."""

    def __init__(self) -> None:
        told = ctypes.create_string_buffer(120)
        self.file = needed(raw.syscall, SETUP, ENTRIES, told)
        head, tail, mask, _, _, _, array = struct.unpack_from("7I", told, 40)
        self.sent = {"head": head, "tail": tail, "mask": mask, "array": array}
        head, tail, mask, entries, _, cqes = struct.unpack_from("6I", told, 80)
        self.done = {"head": head, "tail": tail, "mask": mask, "entries": cqes}
        if not struct.unpack_from("I", told, 20)[0] & SINGLE_MMAP:
            raise CannotRun("io_uring maps its rings apart")
        size = max(array + ENTRIES * 4, cqes + entries * 16)
        self.rings = mmap.mmap(self.file, size, mmap.MAP_SHARED)
        self.entries = mmap.mmap(self.file, ENTRIES * ENTRY_BYTES, mmap.MAP_SHARED,
                                 offset=OFFSET_OF_ENTRIES)
        self.memory = ctypes.create_string_buffer(b"u" * SIZE, SIZE)

    def number(self, at: int) -> int:
        """A number of the rings."""
        return struct.unpack_from("I", self.rings, at)[0]

    def register(self) -> None:
        """Makes the memory a fixed buffer."""
        vector = struct.pack("PN", ctypes.addressof(self.memory), SIZE)
        needed(raw.syscall, REGISTER, self.file, REGISTER_BUFFERS, vector, 1)

    def prepare(self, sock: socket.socket, code: int, size: int, flags: int = 0, options: int = 0,
                how: int = 0) -> None:
        """Puts one send into the ring."""
        tail = self.number(self.sent["tail"])
        slot = tail & self.number(self.sent["mask"])
        struct.pack_into("BBHiQQII24x", self.entries, slot * ENTRY_BYTES, code, flags, options,
                         sock.fileno(), 0, ctypes.addressof(self.memory), size, how)
        struct.pack_into("I", self.rings, self.sent["array"] + 4 * slot, slot)
        struct.pack_into("I", self.rings, self.sent["tail"], tail + 1 & 0xFFFFFFFF)

    def enter(self, count: int, awaited: int) -> None:
        """Submits so many, and waits for so many completions to be there."""
        raw.syscall(ENTER, self.file, count, awaited, GETEVENTS if awaited else 0, 0, 0)

    def completions(self) -> Iterator[tuple[int, int]]:
        """Result and flags of each that is there."""
        while (head := self.number(self.done["head"])) != self.number(self.done["tail"]):
            at = self.done["entries"] + 16 * (head & self.number(self.done["mask"]))
            _, result, flags = struct.unpack_from("QiI", self.rings, at)
            struct.pack_into("I", self.rings, self.done["head"], head + 1 & 0xFFFFFFFF)
            yield result, flags


def sends(truth: Truth, ring: Ring, a: socket.socket, b: socket.socket, times: int, flags: int = 0,
          options: int = 0) -> None:
    """So many SEND_ZC in one call, received and notified."""
    for left in reversed(range(times)):
        ring.prepare(a, SEND_ZC, SIZE, flags if left else 0, options)
    ring.enter(times, 0)
    awaited = notified = results = 0
    while results < times or notified < awaited:
        for result, said in ring.completions():
            if said & IS_NOTIFICATION:
                notified += 1
                # Without REPORT_USAGE the kernel says nothing of copies.
                if options & REPORT_USAGE:
                    truth.completed(1, bool(result & 0xFFFFFFFF & USAGE_COPIED))
                continue
            results += 1
            if result < 0:
                raise CannotRun(f"SEND_ZC with options {options}: error {-result}")
            awaited += bool(said & HAS_MORE)
            truth.sent("tx_reference", result)
            truth.sums.update({"sends": 1, "asked": 1})
            truth.take(b, result)
        if results < times or notified < awaited:
            ring.enter(0, 1)
    copied_on_arrival(truth)


@odd()
def uring_send(truth: Truth) -> Iterator[None]:
    """A plain send of io_uring."""
    (a, b), ring = truth.pair(), Ring()
    yield
    for _ in range(5):
        ring.prepare(a, SEND, SIZE)
        ring.enter(1, 1)
        for result, _ in ring.completions():
            truth.take(b, truth.sent("tx_copy", result))


@odd()
def uring_zero_copy(truth: Truth) -> Iterator[None]:
    """SEND_ZC, of a socket that had used it before, too."""
    (a, b), ring = truth.pair(), Ring()
    sends(truth, ring, a, b, 2)
    yield
    for _ in range(5):
        sends(truth, ring, a, b, 1)


@odd()
def uring_zero_copy_reports(truth: Truth) -> Iterator[None]:
    """SEND_ZC that asks if its bytes were copied (6.2)."""
    (a, b), ring = truth.pair(), Ring()
    yield
    for _ in range(5):
        sends(truth, ring, a, b, 1, options=REPORT_USAGE)


@odd()
def uring_zero_copy_fixed(truth: Truth) -> Iterator[None]:
    """SEND_ZC of a registered buffer."""
    (a, b), ring = truth.pair(), Ring()
    ring.register()
    yield
    for _ in range(5):
        sends(truth, ring, a, b, 1, options=FIXED)


@odd()
def uring_zero_copy_linked(truth: Truth) -> Iterator[None]:
    """SEND_ZC that are linked: one after the other in one call."""
    (a, b), ring = truth.pair(), Ring()
    yield
    sends(truth, ring, a, b, 4, flags=LINK)


def sent_at_once(ring: Ring, sock: socket.socket, size: int = SIZE) -> tuple[int, int]:
    """One SEND_ZC that does not wait: what it returned, and how many notifications more are due."""
    ring.prepare(sock, SEND_ZC, size, how=socket.MSG_DONTWAIT)
    ring.enter(1, 1)
    returned, due = None, 0
    while returned is None:
        for result, said in ring.completions():
            due += bool(said & HAS_MORE) - bool(said & IS_NOTIFICATION)
            if not said & IS_NOTIFICATION:
                returned = result
    return returned, due


def notified(ring: Ring, due: int) -> None:
    """Reads so many notifications."""
    while due:
        due -= sum(bool(said & IS_NOTIFICATION) for _, said in ring.completions())
        if due:
            ring.enter(0, 1)


@odd()
def uring_zero_copy_fails(truth: Truth) -> Iterator[None]:
    """SEND_ZC that fails, before its first turn and in it: it is no send, and has a notification all the same."""
    (a, b), (c, _), ring = truth.pair(), truth.pair(), Ring()
    c.shutdown(socket.SHUT_WR)
    a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 100_000)
    yield
    due = 0
    for sock, rounds in ((a, 1), (c, 2), (a, 50), (c, 2)):
        for _ in range(rounds):
            returned, more = sent_at_once(ring, sock)
            due += more
            if returned > 0:
                truth.sent("tx_reference", returned)
                truth.sums.update({"sends": 1, "asked": 1})
            elif sock is a:
                break
    truth.take(b, truth.sums["accepted"])
    notified(ring, due)
    copied_on_arrival(truth)


@odd()
def uring_ring_overflows(truth: Truth) -> Iterator[None]:
    """SEND_ZC whose completions, and then notifications, find no room: the kernel keeps them until they are read."""
    (a, b), ring, small, rounds = truth.pair(), Ring(), 1000, 4
    yield
    for _ in range(rounds):
        for _ in range(ENTRIES):
            ring.prepare(a, SEND_ZC, small, options=REPORT_USAGE)
        ring.enter(ENTRIES, 0)
    truth.take(b, ENTRIES * rounds * small)
    due = 2 * ENTRIES * rounds
    while due:
        for result, said in ring.completions():
            due -= 1
            if said & IS_NOTIFICATION:
                truth.completed(1, bool(result & 0xFFFFFFFF & USAGE_COPIED))
                continue
            if result != small:
                raise CannotRun(f"SEND_ZC returned {result}")
            truth.sent("tx_reference", result)
            truth.sums.update({"sends": 1, "asked": 1})
        if due:
            ring.enter(0, 1)
    copied_on_arrival(truth)


def trickle(ring: Ring, a: socket.socket, b: socket.socket, enough: threading.Event) -> None:
    """SEND_ZC of a byte each, whose notifications come when many have left at once."""
    while not enough.is_set():
        due = 0
        a.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        for _ in range(HELD):
            due += sent_at_once(ring, a, 1)[1]
            if enough.wait(0.0002):
                break
        a.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
        b.recv(HELD)
        notified(ring, due)


@odd()
def uring_zero_copy_as_the_window_opens(truth: Truth) -> Iterator[None]:
    """SEND_ZC that are under way when a walk finds the ring, and while hooks for it are attached: then it opens anew."""
    enough = threading.Event()
    # One of them has some under way at each moment.
    senders = [threading.Thread(target=trickle, args=(Ring(), *truth.pair(), enough)) for _ in range(4)]
    for each in senders:
        each.start()
    yield
    enough.set()
    for each in senders:
        each.join()
    # How much of it was in the window nobody knows.
    truth.unknown |= {"accepted", "returned", "tx_reference", "late_copy", "rx_copy"}
