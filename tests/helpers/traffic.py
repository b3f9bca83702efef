# SPDX-License-Identifier: GPL-2.0
"""A program to watch: sends and receives over its own connections, and counts every byte itself.

Started with the kinds of its connections: copy, zerocopy, splice, mixed. Reads lines: "stop" ends
sends at the next message and empties all sockets, "go" continues, "renew" replaces the oldest
connection, "quit" closes all. Answers each line with one of JSON, what it counted so far.
"""
from __future__ import annotations

import json
import random
import socket
import struct
import sys
import tempfile
import threading

SO_ZEROCOPY, MSG_ZEROCOPY, MSG_ERRQUEUE = 60, 0x4000000, 0x2000
FILE_BYTES = 1 << 20
PAUSE_S = 0.002


class Pair:
    """One connection with both its ends, a thread for each."""

    def __init__(self, kind: str, listener: socket.socket, file, seed: int) -> None:
        self.kind, self.file = kind, file
        self.random = random.Random(seed)
        self.sender = socket.create_connection(listener.getsockname())
        self.receiver, _ = listener.accept()
        if kind in ("zerocopy", "mixed"):
            self.sender.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
        self.sent = {"tx_copy": 0, "tx_reference": 0, "tx_splice": 0}
        self.received = self.zerocopy_sends = self.completed = 0
        self.going, self.ending = threading.Event(), False
        self.idle, self.still = threading.Event(), threading.Condition()
        self.going.set()
        self.threads = [threading.Thread(target=each, daemon=True)
                        for each in (self._send, self._receive)]
        for thread in self.threads:
            thread.start()

    def _one(self) -> None:
        kind = self.kind
        if kind == "mixed":
            kind = self.random.choice(("copy", "zerocopy", "splice"))
        size = self.random.randint(1, 150_000)
        if kind == "splice":
            self.file.seek(0)
            self.sent["tx_splice"] += self.sender.sendfile(self.file, 0, size)
        elif kind == "zerocopy":
            self.sent["tx_reference"] += self.sender.send(b"z" * size, MSG_ZEROCOPY)
            self.zerocopy_sends += 1
            self.read_completions()
        else:
            self.sent["tx_copy"] += self.sender.send(b"c" * size)

    def read_completions(self) -> None:
        """Takes what the error queue holds."""
        while True:
            try:
                _, ancillary, _, _ = self.sender.recvmsg(0, 512, MSG_ERRQUEUE | socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            for _, _, data in ancillary:
                _, _, _, _, _, first, last = struct.unpack_from("IBBBBII", data)
                self.completed += last - first + 1

    def _send(self) -> None:
        while not self.ending:
            if not self.going.is_set():
                self.idle.set()
                self.going.wait()
                self.idle.clear()
                continue
            self._one()
            if self.random.random() < 0.2:
                threading.Event().wait(PAUSE_S * self.random.random())

    def _receive(self) -> None:
        while taken := self.receiver.recv(self.random.randint(1, 200_000)):
            with self.still:
                self.received += len(taken)
                self.still.notify()

    def stop(self) -> None:
        """Returns when all that was sent has been received."""
        self.going.clear()
        self.idle.wait()
        with self.still:
            self.still.wait_for(lambda: self.received == sum(self.sent.values()))
        self.read_completions()

    def go(self) -> None:
        """Continues."""
        self.going.set()

    def close(self) -> None:
        """Ends with all bytes received."""
        self.stop()
        self.ending = True
        self.going.set()
        self.threads[0].join()
        self.sender.close()
        self.threads[1].join()
        self.receiver.close()

    def told(self) -> dict:
        """What it counted."""
        return {"kind": self.kind, "port": self.port, **self.sent, "received": self.received,
                "zerocopy_sends": self.zerocopy_sends, "completed": self.completed}

    @property
    def port(self) -> int:
        """Local port of the sender."""
        try:
            return self.sender.getsockname()[1]
        except OSError:
            return 0


def main(kinds: list[str]) -> None:
    """Does what it is told."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    with tempfile.TemporaryFile() as file:
        file.write(random.Random(1).randbytes(FILE_BYTES))
        file.flush()
        pairs = [Pair(kind, listener, open(file.fileno(), "rb", closefd=False), seed)
                 for seed, kind in enumerate(kinds)]
        gone: list[dict] = []
        print(json.dumps({"ready": True}), flush=True)
        for number, line in enumerate(sys.stdin):
            word = line.strip()
            if word == "stop":
                for pair in pairs:
                    pair.stop()
            elif word == "go":
                for pair in pairs:
                    pair.go()
            elif word == "renew":
                old = pairs.pop(0)
                old_port = old.port
                old.close()
                gone.append({**old.told(), "port": old_port})
                pairs.append(Pair(old.kind, listener, open(file.fileno(), "rb", closefd=False), number))
            elif word == "quit":
                for pair in pairs:
                    port = pair.port
                    pair.close()
                    gone.append({**pair.told(), "port": port})
                pairs = []
            print(json.dumps({"open": [pair.told() for pair in pairs], "gone": gone}), flush=True)
            if word == "quit":
                break


if __name__ == "__main__":
    main(sys.argv[1:])
