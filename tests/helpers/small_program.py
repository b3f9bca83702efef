# SPDX-License-Identifier: GPL-2.0
"""A program that does one small thing with its sockets when it is told, for tests of windows."""
from __future__ import annotations

import json
import subprocess
import sys
import time

from helpers.windows import Watching

# The program gets a pair of sockets a and b over loopback, waits for a line, does what the test says,
# prints a line of JSON, waits for another line and ends.
FRAME = """
import json, os, signal, socket, struct, subprocess, sys, time
if os.stat("/proc/self/ns/net").st_ino != os.stat(f"/proc/{os.getppid()}/ns/net").st_ino:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
listener = socket.create_server(("127.0.0.1", 0))
a = socket.create_connection(listener.getsockname())
b, _ = listener.accept()
def pair():
    one = socket.create_connection(listener.getsockname())
    return one, listener.accept()[0]
def take(sock, n):
    left = n
    while left:
        left -= len(sock.recv(min(left, 1 << 20)))
%s
print("ready", flush=True)
sys.stdin.readline()
told = {}
%s
print(json.dumps(told), flush=True)
sys.stdin.readline()
"""


class Program:
    """A program that does one thing when it is told."""

    def __init__(self, body: str, start=(), before: str = "") -> None:
        self.process = subprocess.Popen([*start, sys.executable, "-c", FRAME % (before, body)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def watched(self, *words) -> tuple[dict, dict]:
        """What it told, and the record of a window around that."""
        watching = Watching("-p", self.process.pid, *words)
        told = self.do()
        time.sleep(0.05)
        record = watching.close()
        self.end()
        return told, record

    def do(self) -> dict:
        """Lets it do its one thing."""
        print(file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        """Lets it end."""
        self.process.communicate("\n", timeout=60)
