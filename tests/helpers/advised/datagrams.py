# SPDX-License-Identifier: GPL-2.0
"""Answers by UDP, a datagram a call or all of them by one (UDP_SEGMENT). usage: datagrams.py ADDRESS PORT BYTES each|gso|zerocopy"""
import socket
import struct
import sys

ADDRESS, PORT, SIZE, HOW = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
DATAGRAM, UDP_SEGMENT, MSG_ZEROCOPY, SO_ZEROCOPY = 1400, 103, 0x4000000, 60
BODY = memoryview(bytes(SIZE))

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as it:
    it.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
    it.bind((ADDRESS, PORT))
    if HOW == "zerocopy":
        it.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
    together = [(socket.IPPROTO_UDP, UDP_SEGMENT, struct.pack("H", DATAGRAM))]
    while True:
        _, client = it.recvfrom(64)
        if HOW == "each":
            for at in range(0, SIZE, DATAGRAM):
                it.sendto(BODY[at:at + DATAGRAM], client)
        else:
            it.sendmsg([BODY], together, MSG_ZEROCOPY if HOW == "zerocopy" else 0, client)
        if HOW == "zerocopy":
            try:
                while True:
                    it.recvmsg(0, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
            except BlockingIOError:
                pass
