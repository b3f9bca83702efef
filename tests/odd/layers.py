# SPDX-License-Identifier: GPL-2.0
"""Odd programs: something stands between the program and TCP, so no byte of it is plain. Kernel TLS is counted with
trampolines."""
from __future__ import annotations

import ctypes
import os
import platform
import socket
import struct
from collections.abc import Iterator

from odd import raw
from odd.frame import needed, odd
from odd.sends import file_of
from odd.truth import Truth

IPPROTO_MPTCP, SOL_TLS, TLS_TX, TLS_RX = 262, 282, 1, 2
SIZE, PAIRS, PAGES_BYTES = 100_000, 8, 16_384
BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]
MAP_CREATE, MAP_UPDATE, PROG_LOAD, PROG_ATTACH = 0, 2, 5, 8
SOCKMAP, SK_SKB, SK_MSG = 15, 14, 16
ON_MESSAGE, ON_PACKET = 7, 38
SK_REDIRECT, MSG_REDIRECT, INGRESS = 52, 60, 1
# Version, cipher, iv, key, salt, number of the first record: TLS 1.2 with AES-GCM-128.
CRYPTO = struct.pack("HH8s16s4s8s", 0x0303, 51, *(bytes(size) for size in (8, 16, 4, 8)))


def exactly(sock: socket.socket, size: int) -> bytes:
    """Receives that are counted nowhere, as they are none of TCP's."""
    got = b""
    while len(got) < size:
        more = sock.recv(size - len(got))
        assert more, f"{size - len(got)} bytes are missing"
        got += more
    return got


def through(truth: Truth, layer: str, source: socket.socket, sink: socket.socket, size: int) -> None:
    """Bytes that pass a layer."""
    source.sendall(bytes(size))
    exactly(sink, size)
    truth.layers[layer] += size
    truth.sums["mptcp"] += size * (layer == "mptcp")


def copied_by_mptcp(truth: Truth, source: socket.socket, sink: socket.socket) -> None:
    """What changes behind a send does not change what it sent: TCP would send the pages of the file, and those of the
    buffer."""
    with file_of(PAGES_BYTES) as file:
        assert os.sendfile(source.fileno(), file.fileno(), 0, PAGES_BYTES) == PAGES_BYTES
        os.pwrite(file.fileno(), b"x" * PAGES_BYTES, 0)
    buffer = bytearray(b"f" * PAGES_BYTES)
    assert source.send(buffer, raw.MSG_ZEROCOPY) == PAGES_BYTES
    buffer[:] = b"x" * PAGES_BYTES
    assert b"x" not in exactly(sink, 2 * PAGES_BYTES), "MPTCP sent pages"
    truth.layers["mptcp"] += 2 * PAGES_BYTES
    truth.sums["mptcp"] += 2 * PAGES_BYTES
    truth.always.append("MPTCP copies")


@odd()
def mptcp(truth: Truth) -> Iterator[None]:
    """MPTCP, both ways, on sockets that are older than the window and on a new one."""
    server = needed(socket.socket, socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    server.bind(("127.0.0.1", 0))
    server.listen(8)
    truth.layers["mptcp"] = 0

    def connection() -> tuple[socket.socket, socket.socket]:
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
        one.connect(server.getsockname())
        return one, server.accept()[0]
    old = connection()
    yield
    for one, other in (old, connection()):
        for source, sink in ((one, other), (other, one)):
            through(truth, "mptcp", source, sink, SIZE)
            copied_by_mptcp(truth, source, sink)


@odd()
def mptcp_in_mid_life(truth: Truth) -> Iterator[None]:
    """The same, of one that moved bytes before, and beside it one that is plain."""
    server = needed(socket.socket, socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    server.bind(("127.0.0.1", 0))
    server.listen(8)
    truth.layers["mptcp"] = 0
    one = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    one.connect(server.getsockname())
    other, _ = server.accept()
    a, b = truth.pair()
    through(truth, "mptcp", one, other, 5000)
    yield
    through(truth, "mptcp", one, other, SIZE)
    truth.send(a, 777)
    truth.take(b, 777)


def tls_pair(truth: Truth) -> tuple[socket.socket, socket.socket]:
    """Both ends of a connection that the kernel encrypts."""
    a, b = truth.pair()
    for sock, way in ((a, TLS_TX), (b, TLS_RX)):
        needed(sock.setsockopt, socket.IPPROTO_TCP, raw.TCP_ULP, b"tls")
        needed(sock.setsockopt, SOL_TLS, way, CRYPTO)
    truth.layers["ktls"] += 0
    return a, b


def ask(truth: Truth, name: str, sock: socket.socket, *option: object) -> None:
    """Asks a socket for what it cannot have."""
    try:
        sock.setsockopt(*option)
    except OSError:
        truth.refused[name] += 1


@odd()
def refused_options(truth: Truth) -> Iterator[None]:
    """Kernel TLS before there is a connection, and SO_ZEROCOPY of a UNIX socket."""
    (a, b), early, other = truth.pair(), socket.socket(), socket.socket(socket.AF_UNIX)
    for times in (2, 3):
        for _ in range(times):
            ask(truth, "kernel TLS", early, socket.IPPROTO_TCP, raw.TCP_ULP, b"tls")
            ask(truth, "SO_ZEROCOPY", other, socket.SOL_SOCKET, raw.SO_ZEROCOPY, 1)
        assert len(truth.refused) == 2
        truth.send(a, 4093)
        truth.take(b, 4093)
        if times == 2:
            yield


@odd()
def kernel_tls(truth: Truth) -> Iterator[None]:
    """Kernel TLS by send and recv."""
    a, b = tls_pair(truth)
    through(truth, "ktls", a, b, 10)
    yield
    through(truth, "ktls", a, b, SIZE)


@odd()
def kernel_tls_sendfile(truth: Truth) -> Iterator[None]:
    """Kernel TLS by sendfile: encrypted, which is no splice."""
    file = file_of(SIZE)
    early = tls_pair(truth)
    yield
    for a, b in (early, tls_pair(truth)):
        left = SIZE
        while left:
            done = os.sendfile(a.fileno(), file.fileno(), SIZE - left, min(left, 10_000))
            exactly(b, done)
            truth.layers["ktls"] += done
            left -= done


@odd()
def kernel_tls_after_others(truth: Truth) -> Iterator[None]:
    """Sockets of kernel TLS that are closed and not dead yet: others begin, whose ciphers lie in their memory."""
    yield
    closed = [tls_pair(truth) for _ in range(PAIRS)]
    for a, b in closed:
        through(truth, "ktls", a, b, 777)
        # More than TIME-WAIT has: the socket waits as it is until its peer is closed, too.
        a.setsockopt(socket.IPPROTO_TCP, socket.TCP_LINGER2, 100)
        a.close()
    begun = [tls_pair(truth) for _ in range(PAIRS)]
    for a, b in begun:
        through(truth, "ktls", a, b, 777)
    for _, b in closed:
        b.close()
    for a, b in begun:
        through(truth, "ktls", a, b, SIZE)


def bpf(command: int, attributes: bytes) -> int:
    """A call of bpf()."""
    room = ctypes.create_string_buffer(attributes.ljust(128, b"\0"), 128)
    return raw.syscall(BPF, command, room, 128, what="bpf")


def redirecting(program_type: int, helper: int, attach_type: int, flags: int) -> int:
    """A sockmap whose sockets redirect all they get to the socket at 0; returns the map."""
    sockets = needed(bpf, MAP_CREATE, struct.pack("IIIII", SOCKMAP, 4, 4, 4, 0))

    def word(code: int, registers: int, number: int) -> bytes:
        return struct.pack("BBhi", code, registers, 0, number)
    # r2 = the map, r3 = 0, r4 = flags, call, exit
    code = word(0x18, 0x12, sockets) + word(0, 0, 0) + word(0xb7, 3, 0) + word(0xb7, 4, flags) + \
        word(0x85, 0, helper) + word(0x95, 0, 0)
    text, licence = ctypes.create_string_buffer(code, len(code)), ctypes.create_string_buffer(b"GPL")
    program = needed(bpf, PROG_LOAD, struct.pack(
        "IIQQIIQII16sII", program_type, len(code) // 8, ctypes.addressof(text),
        ctypes.addressof(licence), 0, 0, 0, 0, 0, b"odd", 0, 0))
    needed(bpf, PROG_ATTACH, struct.pack("IIII", sockets, program, attach_type, 0))
    return sockets


def put(sockets: int, index: int, sock: socket.socket) -> None:
    """Puts a socket into a sockmap."""
    key, value = (ctypes.create_string_buffer(struct.pack("I", number), 4)
                  for number in (index, sock.fileno()))
    needed(bpf, MAP_UPDATE, struct.pack("IIQQQ", sockets, 0, ctypes.addressof(key),
                                        ctypes.addressof(value), 0))


@odd()
def sockmap_egress(truth: Truth) -> Iterator[None]:
    """What one socket receives is sent out of another: no program sends or splices it."""
    (a, b), (c, d) = truth.pair(), truth.pair()
    sockets = redirecting(SK_SKB, SK_REDIRECT, ON_PACKET, 0)
    truth.layers["sockmap"] = 0
    put(sockets, 0, c)
    put(sockets, 1, b)
    yield
    truth.send(a, SIZE)
    truth.take(d, SIZE)


@odd()
def sockmap_begins(truth: Truth) -> Iterator[None]:
    """The same, of sockets that enter the map in the window."""
    (a, b), (c, d) = truth.pair(), truth.pair()
    sockets = redirecting(SK_SKB, SK_REDIRECT, ON_PACKET, 0)
    truth.layers["sockmap"] = 0
    yield
    put(sockets, 0, c)
    put(sockets, 1, b)
    truth.send(a, SIZE)
    truth.take(d, SIZE)


@odd()
def sockmap_ingress(truth: Truth) -> Iterator[None]:
    """What is sent on one socket is put into the queue of another, past TCP."""
    (a, b), (c, d) = truth.pair(), truth.pair()
    sockets = redirecting(SK_MSG, MSG_REDIRECT, ON_MESSAGE, INGRESS)
    truth.layers["sockmap"] = 0
    put(sockets, 0, c)
    put(sockets, 1, a)
    yield
    a.sendall(bytes(SIZE // 10))
    exactly(c, SIZE // 10)
    # These two are in no map.
    truth.send(d, 300)
    truth.send(b, 400)
