# SPDX-License-Identifier: GPL-2.0
"""What Python's socket module has no word for: calls of libc, numbers of the kernel's headers."""
from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import socket
import struct

LIBC = ctypes.CDLL(None, use_errno=True)
MSG_ERRQUEUE, MSG_ZEROCOPY, MSG_FASTOPEN, MSG_MORE = 0x2000, 0x4000000, 0x20000000, 0x8000
SO_SNDBUFFORCE, SO_TIMESTAMPING, SO_PEEK_OFF, SO_ZEROCOPY = 32, 37, 42, 60
TCP_REPAIR, TCP_REPAIR_QUEUE, TCP_QUEUE_SEQ, TCP_FASTOPEN, TCP_ULP = 19, 20, 21, 23, 31
TCP_FASTOPEN_CONNECT = 30
TCP_ZEROCOPY_RECEIVE = 35
ORIGIN_ZEROCOPY, CODE_COPIED = 5, 1
CLONE_NEWNET = 0x40000000
BAD_POINTER = ctypes.c_void_p(1)
SPLICE_F_GIFT = 8
ETHTOOL_STXCSUM, ETHTOOL_SSG, SIOCETHTOOL = 0x17, 0x19, 0x8946
SYS_BPF = 280 if os.uname().machine == "aarch64" else 321
BPF_PROG_LOAD, BPF_LINK_CREATE, BPF_PROG_TYPE_XDP, BPF_XDP = 5, 28, 6, 37
XDP_BY_STACK, XDP_BY_DRIVER = 2, 4
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000


def checked(result: int, what: str) -> int:
    """The result of a call of libc, or its error."""
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def syscall(number: int, *words: object, what: str = "syscall") -> int:
    """A system call by its number."""
    LIBC.syscall.restype = ctypes.c_long
    return checked(LIBC.syscall(ctypes.c_long(number), *(
        ctypes.c_long(word) if isinstance(word, int) else word for word in words)), what)


def unshare_network() -> None:
    """Move this process, which has one thread, into a network namespace of its own."""
    checked(LIBC.unshare(CLONE_NEWNET), "unshare")


def disconnect(sock: socket.socket) -> None:
    """connect() with AF_UNSPEC: the socket is as new."""
    checked(LIBC.connect(sock.fileno(), bytes(16), 16), "connect AF_UNSPEC")


def half_mapped(pages: int) -> tuple[int, int]:
    """Memory whose second half is not there: its address, and how many bytes of it are."""
    LIBC.mmap.restype = ctypes.c_void_p
    whole, half = pages * mmap.PAGESIZE, pages // 2 * mmap.PAGESIZE
    memory = LIBC.mmap(None, ctypes.c_size_t(whole), mmap.PROT_READ | mmap.PROT_WRITE,
                       mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, ctypes.c_long(0))
    ctypes.memset(memory, ord("h"), whole)
    checked(LIBC.munmap(ctypes.c_void_p(memory + half), ctypes.c_size_t(half)), "munmap")
    return memory, half


def failed_receive(sock: socket.socket, size: int) -> None:
    """A receive into memory that is not there."""
    assert LIBC.recv(sock.fileno(), BAD_POINTER, ctypes.c_size_t(size), 0) < 0


def vmsplice(pipe: int, memory: ctypes.Array, flags: int) -> int:
    """Hands pages of this process to a pipe."""
    vector = struct.pack("PN", ctypes.addressof(memory), len(memory))
    return checked(LIBC.vmsplice(pipe, vector, ctypes.c_ulong(1), flags), "vmsplice")


def without_scatter_gather(device: str) -> None:
    """ethtool -K DEVICE sg off."""
    without(device, ETHTOOL_SSG)


def without(device: str, feature: int) -> None:
    """ethtool -K DEVICE FEATURE off."""
    value = ctypes.create_string_buffer(struct.pack("II", feature, 0), 8)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCETHTOOL,
                    struct.pack("16sP", device.encode(), ctypes.addressof(value)))


def attach_xdp(device: str, flags: int) -> int:
    """An XDP program that passes each packet, until the descriptor is closed."""
    # r0 = XDP_PASS; exit
    code = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xB7, 0, 0, 2, 0x95, 0, 0, 0))
    terms = ctypes.create_string_buffer(b"GPL")
    load = ctypes.create_string_buffer(struct.pack("IIQQ", BPF_PROG_TYPE_XDP, 2, ctypes.addressof(code),
                                                   ctypes.addressof(terms)), 128)
    program = syscall(SYS_BPF, BPF_PROG_LOAD, ctypes.addressof(load), 128, what="bpf")
    link = ctypes.create_string_buffer(struct.pack("IIII", program, socket.if_nametoindex(device), BPF_XDP, flags), 64)
    try:
        return syscall(SYS_BPF, BPF_LINK_CREATE, ctypes.addressof(link), 64, what="bpf link")
    finally:
        os.close(program)


def tun(name: str) -> int:
    """A TUN device of the current namespace; returns what its packets are read from."""
    queue = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(queue, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return queue


def many_messages(sock: socket.socket, parts: list[ctypes.Array], send: bool) -> list[int]:
    """sendmmsg or recvmmsg of as many messages as there are parts; how long each was."""
    vectors = [ctypes.create_string_buffer(struct.pack("PN", ctypes.addressof(part), len(part)), 16)
               for part in parts]
    headers = ctypes.create_string_buffer(b"".join(
        struct.pack("PI4xPNPNi4xI4x", 0, 0, ctypes.addressof(vector), 1, 0, 0, 0, 0)
        for vector in vectors), 64 * len(parts))
    if send:
        done = LIBC.sendmmsg(sock.fileno(), headers, len(parts), 0)
    else:
        done = LIBC.recvmmsg(sock.fileno(), headers, len(parts), 0, None)
    return [struct.unpack_from("I", headers, 64 * each + 56)[0]
            for each in range(checked(done, "messages"))]


def map_received(sock: socket.socket, address: int, size: int, copybuf: ctypes.Array | None = None
                 ) -> tuple[int, int, int]:
    """TCP_ZEROCOPY_RECEIVE: bytes mapped, bytes that recv must copy, bytes in the buffer."""
    wanted = struct.pack("QIIIiQiIQQII", address, size, 0, 0, 0,
                         ctypes.addressof(copybuf) if copybuf else 0,
                         len(copybuf) if copybuf else 0, 0, 0, 0, 0, 0)
    told = ctypes.create_string_buffer(wanted, len(wanted))
    length = ctypes.c_uint(len(wanted))
    checked(LIBC.getsockopt(sock.fileno(), socket.IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, told,
                            ctypes.byref(length)), "TCP_ZEROCOPY_RECEIVE")
    _, mapped, skip, _, _, _, copied, *_ = struct.unpack("QIIIiQiIQQII", told.raw)
    return mapped, skip, max(copied, 0) if copybuf else 0
