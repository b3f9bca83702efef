# SPDX-License-Identifier: GPL-2.0
"""What an odd program knows of its own bytes, and the sends and receives that it counts so."""
from __future__ import annotations

import json
import os
import socket
import struct
import time
import traceback
from collections import Counter
from collections.abc import Callable

from odd import raw

SITES = ("tx_copy", "tx_reference", "tx_splice", "late_copy", "rx_copy", "rx_map", "rx_splice",
         "rx_discard")
WAIT_S = 20
LOCAL = "127.0.0.1"


class Child:
    """A process that the program started, seen from the program."""

    def __init__(self, pid: int, line: socket.socket, phase: int) -> None:
        self.pid, self.phase = pid, phase
        self.line = line.makefile("rw", buffering=1)
        line.close()

    def tell(self, word: object = "go") -> None:
        """Sends it a line."""
        print(word, file=self.line, flush=True)

    def hear(self) -> str:
        """Waits for a line of it."""
        word = self.line.readline().strip()
        assert word, "a process of the program failed"
        return word


class Truth:
    """Counts in the window, and what follows from what the program does."""

    def __init__(self) -> None:
        self.small = "ODD_SMALL" in os.environ
        self.listener: socket.socket | None = None
        # Open when the window closes, unless the program closes them.
        self.kept: list[socket.socket] = []
        self.sums: Counter = Counter()
        self.phase = 0
        # Sites and sums that it cannot know; those that it knows within limits; sites whose sum it
        # knows; layers between it and TCP, and how much they were given at least; patterns that no
        # sentence may match, and patterns that the report must have.
        self.unknown: set[str] = set()
        # Sites that a watch of this program alone must know.
        self.measured: set[str] = set()
        self.limits: dict[str, tuple[int, int]] = {}
        self.together: list[tuple[list[str], int]] = []
        self.layers: Counter = Counter()
        # Options that the kernel refused, by their name in records.
        self.refused: Counter = Counter()
        self.never: list[str] = []
        self.always: list[str] = []
        # Its processes, for a record that has others, too.
        self.pids = [os.getpid()]

    def begin(self) -> None:
        """Counts anew, as a window does that opens now."""
        self.sums.clear()
        self.refused.clear()
        self.layers = Counter(dict.fromkeys(self.layers, 0))
        self.phase += 1

    def told(self) -> dict:
        """All of it, as JSON can hold it."""
        known = {site: self.sums[site] for site in (*SITES, "accepted", "returned")
                 if site not in self.unknown}
        # Only what was referenced can be copied late.
        if self.sums["sends"] and "late_copy" not in self.sums:
            known.pop("late_copy", None)
        return {"bytes": known, "limits": self.limits, "together": self.together,
                "measured": sorted(self.measured),
                "layers": self.layers, "refused": self.refused, "never": self.never, "always": self.always, "pids": self.pids,
                **{name: self.sums[name] for name in ("sends", "completed", "copied", "asked", "dropped", "failed", "failed_bytes", "mptcp")}}

    # Bytes

    def sent(self, site: str, size: int) -> int:
        """Bytes that a send of this kind accepted."""
        self.sums.update({site: size, "accepted": size})
        return size

    def got(self, site: str, size: int) -> int:
        """Bytes that a receive of this kind returned."""
        self.sums.update({site: size, "returned": size})
        return size

    def send(self, sock: socket.socket, size: int, flags: int = 0) -> None:
        """Plain sends of so many bytes."""
        left = size
        while left:
            left -= self.sent("tx_copy", sock.send(b"c" * left, flags))

    def take(self, sock: socket.socket, size: int) -> None:
        """Plain receives of so many bytes."""
        left = size
        while left:
            got = len(sock.recv(min(left, 1 << 20)))
            assert got, f"{left} bytes are missing"
            left -= self.got("rx_copy", got)

    def drain(self, sock: socket.socket) -> None:
        """Plain receives until the other end closes, or resets."""
        try:
            while got := len(sock.recv(1 << 20)):
                self.got("rx_copy", got)
        except ConnectionError:
            pass

    def splice_out(self, sock: socket.socket, size: int) -> None:
        """Splices so many bytes from a socket into nothing."""
        source, sink = os.pipe()
        nothing = os.open("/dev/null", os.O_WRONLY)
        left = size
        while left:
            got = os.splice(sock.fileno(), sink, left)
            assert got, f"{left} bytes are missing"
            left -= self.got("rx_splice", got)
            while got:
                got -= os.splice(source, nothing, got)
        for each in (source, sink, nothing):
            os.close(each)

    # Zero copy, with the kernel's own completions

    def zero_copy(self, sock: socket.socket, size: int, times: int = 1) -> None:
        """Sends by MSG_ZEROCOPY on a socket that has SO_ZEROCOPY then."""
        sock.setsockopt(socket.SOL_SOCKET, raw.SO_ZEROCOPY, 1)
        for _ in range(times):
            done = sock.send(b"z" * size, raw.MSG_ZEROCOPY)
            assert done == size, f"{done} of {size} bytes were accepted"
            self.sent("tx_reference", done)
            self.sums.update({"sends": 1, "asked": 1})

    def completions(self, sock: socket.socket, sends: int) -> None:
        """Reads as many completions as there were sends."""
        until = time.monotonic() + WAIT_S
        while sends > 0:
            assert time.monotonic() < until, f"{sends} completions are missing"
            try:
                _, ancillary, *_ = sock.recvmsg(0, 512, raw.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
            except BlockingIOError:
                time.sleep(0.002)
                continue
            for _, _, data in ancillary:
                _, origin, _, code, _, first, last = struct.unpack_from("IBBBBII", data)
                if origin == raw.ORIGIN_ZEROCOPY:
                    self.completed(last - first + 1, bool(code & raw.CODE_COPIED))
                    sends -= last - first + 1

    def completed(self, sends: int, copied: bool) -> None:
        """What the kernel said of sends by reference."""
        self.sums.update({"completed": sends, "copied": sends * copied})

    # Sockets and processes

    def pair(self) -> tuple[socket.socket, socket.socket]:
        """Both ends of a connection over loopback."""
        if not self.listener:
            self.listener = socket.create_server((LOCAL, 0), backlog=128)
        one = socket.create_connection(self.listener.getsockname())
        other, _ = self.listener.accept()
        for each in (one, other):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.kept += one, other
        return one, other

    def child(self, body: Callable[[Truth, Child], None]) -> Child:
        """Starts a process that may move bytes, too."""
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid:
            theirs.close()
            self.pids.append(pid)
            return Child(pid, ours, self.phase)
        status = 1
        try:
            ours.close()
            self.sums.clear()
            line = Child(os.getppid(), theirs, self.phase)
            body(self, line)
            line.tell(json.dumps(self.sums))
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    def join(self, child: Child) -> None:
        """Waits for its end and adds its counts, unless it began before the window: then the window
        has none of its bytes."""
        sums = json.loads(child.hear())
        child.line.close()
        assert os.waitpid(child.pid, 0)[1] == 0, "a process of the program failed"
        if child.phase == self.phase:
            self.sums.update(sums)
