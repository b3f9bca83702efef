# SPDX-License-Identifier: GPL-2.0
"""Works for known shares of its CPU time at receiving and in user space, and says how long by its own clock.

usage: cpu_truth.py SHARE SECONDS      SHARE: of its CPU time that goes into recv
It peeks again and again at 4 MiB in the queue of a socket: next to nothing but copies. Needs root.
"""
import json
import socket
import sys
import time

QUEUED, TURN_S = 4 << 20, 0.004
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33


def queued() -> socket.socket:
    """A socket with something to read."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 4 * QUEUED)
        sender = socket.create_connection(server.getsockname())
        end, _ = server.accept()
    sender.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 4 * QUEUED)
    sender.sendall(bytes(QUEUED))
    queued.keep = sender
    return end


def work(end: socket.socket, share: float, seconds: float) -> dict:
    """Seconds of each kind; each turn makes up for what the turns before it lack."""
    room, clock = bytearray(QUEUED), time.process_time
    spent = {"recv": 0.0, "user": 0.0}
    while (whole := sum(spent.values())) < seconds:
        kind = "recv" if spent["recv"] < share * whole else "user"
        began = clock()
        while (now := clock()) < began + TURN_S:
            if kind == "recv":
                assert end.recv_into(room, QUEUED, socket.MSG_PEEK) == QUEUED
            else:
                sum(range(20000))
        spent[kind] += now - began
    return spent


if __name__ == "__main__":
    print(json.dumps(work(queued(), float(sys.argv[1]), float(sys.argv[2]))))
