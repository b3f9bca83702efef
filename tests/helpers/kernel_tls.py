# SPDX-License-Identifier: GPL-2.0
"""A program that sends to itself over kernel TLS, with fixed keys: `python3 kernel_tls.py PORT`.

It reads a line of words and obeys it, one after the other, and says "done". Words:
plain:N (before there are keys), keys:1.3, send:N, more:N (MSG_MORE), file:N (sendfile), read:N, peek:N, close.
"""
from __future__ import annotations

import os
import socket
import struct
import sys
import tempfile
from pathlib import Path

TCP_ULP, SOL_TLS, TLS_TX, TLS_RX = 31, 282, 1, 2
# What a record of AES-GCM-128 is longer than its plaintext.
OVERHEAD = {"1.2": 29, "1.3": 22}


def is_here() -> bool:
    """Has this kernel loaded its module?"""
    file = Path("/proc/sys/net/ipv4/tcp_available_ulp")
    return file.exists() and "tls" in file.read_text().split()


def set_keys(sock: socket.socket, version: str, directions: tuple[int, ...]) -> None:
    """Has the kernel encrypt or decrypt from here on: version, cipher, iv, key, salt, number of the first record."""
    keys = struct.pack("HH8s16s4s8s", {"1.2": 0x303, "1.3": 0x304}[version], 51,
                       *(bytes(size) for size in (8, 16, 4, 8)))
    sock.setsockopt(socket.IPPROTO_TCP, TCP_ULP, b"tls")
    for direction in directions:
        sock.setsockopt(SOL_TLS, direction, keys)


class Pair:
    """Both ends of a connection over loopback."""

    def __init__(self, port: int) -> None:
        listener = socket.create_server(("127.0.0.1", port))
        self.one = socket.create_connection(listener.getsockname())
        self.other, _ = listener.accept()
        listener.close()
        self.one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def read(self, size: int) -> None:
        """Receives so many bytes."""
        while size:
            got = len(self.other.recv(size))
            assert got, f"{size} bytes are missing"
            size -= got

    def obey(self, word: str) -> None:
        """Does what one word says."""
        name, _, value = word.partition(":")
        if name == "keys":
            set_keys(self.one, value, (TLS_TX,))
            set_keys(self.other, value, (TLS_RX,))
        elif name == "plain":
            self.one.sendall(bytes(int(value)))
            self.read(int(value))
        elif name in ("send", "more"):
            self.one.sendall(bytes(int(value)), socket.MSG_MORE if name == "more" else 0)
        elif name == "file":
            with tempfile.TemporaryFile() as file:
                file.write(bytes(int(value)))
                file.flush()
                sent = 0
                while sent < int(value):
                    sent += os.sendfile(self.one.fileno(), file.fileno(), sent, int(value) - sent)
        elif name == "peek":
            assert len(self.other.recv(int(value), socket.MSG_PEEK)) == int(value)
        elif name == "close":
            self.one.close()
            self.other.close()
        else:
            self.read(int(value))


def main() -> None:
    """Obeys its lines."""
    pair = Pair(int(sys.argv[1]))
    print("ready", flush=True)
    for line in sys.stdin:
        for word in line.split():
            pair.obey(word)
        print("done", flush=True)


if __name__ == "__main__":
    main()
