# SPDX-License-Identifier: GPL-2.0
"""Logs in to an iSCSI target of this machine, writes its disk and reads it back; prints the bytes of its connection."""
from __future__ import annotations

import json
import os
import socket
import struct
import sys

LOGIN, COMMAND, DATA_OUT, LOGOUT = 0x43, 0x01, 0x05, 0x46
LOGIN_ANSWER, ANSWER, DATA_IN, LOGOUT_ANSWER, ASKS_FOR_DATA, PING = 0x23, 0x21, 0x25, 0x26, 0x31, 0x20
LAST, READS, WRITES, HAS_STATUS = 0x80, 0x40, 0x20, 0x01
BLOCK_BYTES = 512
# What a target takes in one piece unless it says more.
PIECE_BYTES = 8192
WORDS = ("InitiatorName=iqn.2026-11.here:near", "TargetName=iqn.2026-11.here:far", "SessionType=Normal",
         "HeaderDigest=None", "DataDigest=None", "InitialR2T=Yes", "ImmediateData=No", "MaxRecvDataSegmentLength=262144",
         "MaxBurstLength=262144", "DefaultTime2Wait=2", "DefaultTime2Retain=0", "MaxOutstandingR2T=1", "ErrorRecoveryLevel=0",
         "MaxConnections=1")


class Initiator:
    """One session of one connection; RFC 7143 has the places of fields."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.sent = self.received = 0
        self.task = 0
        self.next_command = self.next_status = 1

    def send(self, kind: int, flags: int, fields: dict[int, bytes], data: bytes = b"") -> None:
        """A header of 48 bytes, in which these fields are, and data up to a whole word."""
        header = bytearray(48)
        struct.pack_into(">BBxxI", header, 0, kind, flags, len(data))
        struct.pack_into(">I", header, 28, self.next_status)
        for at, field in fields.items():
            header[at:at + len(field)] = field
        whole = bytes(header) + data + bytes(-len(data) % 4)
        self.socket.sendall(whole)
        self.sent += len(whole)

    def exactly(self, size: int) -> bytes:
        """So many bytes of the connection."""
        found = bytearray()
        while len(found) < size:
            part = self.socket.recv(size - len(found))
            if not part:
                raise ConnectionError(f"the target ended after {self.received} bytes")
            found += part
            self.received += len(part)
        return bytes(found)

    def hear(self) -> tuple[bytes, bytes]:
        """The next header and its data; a target that asks if we live gets no answer."""
        while True:
            header = self.exactly(48)
            size = int.from_bytes(header[5:8], "big")
            data = self.exactly(size + -size % 4)[:size]
            if header[0] & 0x3F != PING:
                self.next_status = int.from_bytes(header[24:28], "big") + 1
                return header, data

    def log_in(self) -> None:
        """Without a stage that asks who we are; the target may want to hear that it has said all."""
        words, done = "".join(f"{word}\0" for word in WORDS).encode(), False
        while not done:
            self.send(LOGIN, LAST | 1 << 2 | 3, {8: b"\x80here\0", 24: number(1)}, words)
            header, data = self.hear()
            if header[0] != LOGIN_ANSWER or header[36]:
                raise ConnectionError(f"login: {header.hex()} {data!r}")
            words, done = b"", bool(header[1] & LAST)

    def command(self, words: bytes, way: int = 0, size: int = 0, payload: bytes = b"") -> tuple[int, bytes]:
        """A SCSI command's status, and what it read; each piece that it writes is asked for."""
        self.task += 1
        found = bytearray(size)
        self.send(COMMAND, LAST | way | 1, {16: number(self.task), 20: number(size or len(payload)),
                                            24: number(self.next_command), 32: words})
        self.next_command += 1
        while True:
            header, data = self.hear()
            if header[0] == ASKS_FOR_DATA:
                self.give(header, payload)
            elif header[0] == DATA_IN:
                at = int.from_bytes(header[40:44], "big")
                found[at:at + len(data)] = data
                if header[1] & HAS_STATUS:
                    return header[3], bytes(found)
            elif header[0] == ANSWER:
                return header[3], bytes(found)
            else:
                raise ConnectionError(f"answer {header.hex()}")

    def give(self, asked: bytes, payload: bytes) -> None:
        """What the target asks for."""
        at, size = struct.unpack(">II", asked[40:48])
        for place, begin in enumerate(range(at, at + size, PIECE_BYTES)):
            piece = payload[begin:min(begin + PIECE_BYTES, at + size)]
            self.send(DATA_OUT, LAST if begin + PIECE_BYTES >= at + size else 0,
                      {16: asked[16:24], 36: number(place), 40: number(begin)}, piece)

    def log_out(self) -> None:
        """Ends the session."""
        self.send(LOGOUT, LAST, {16: number(self.task + 1), 24: number(self.next_command)})
        self.hear()
        self.socket.close()


def number(value: int) -> bytes:
    """As headers have it."""
    return value.to_bytes(4, "big")


def blocks(code: int, first: int, size: int) -> bytes:
    """READ(10) or WRITE(10)."""
    return struct.pack(">BxIxHx", code, first, size // BLOCK_BYTES)


def main() -> None:
    """Writes and reads as often as it is told."""
    port, size, times = map(int, sys.argv[1:])
    far = Initiator(port)
    far.log_in()
    # A new session is told once that the disk is new.
    while far.command(bytes(6))[0]:
        pass
    payload = os.urandom(size)
    for time in range(times):
        first = time * size // BLOCK_BYTES
        assert not far.command(blocks(0x2A, first, size), WRITES, payload=payload)[0]
        assert far.command(blocks(0x28, first, size), READS, size) == (0, payload)
    far.log_out()
    print(json.dumps({"sent": far.sent, "received": far.received, "data": size * times}))


main()
