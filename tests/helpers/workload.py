# SPDX-License-Identifier: GPL-2.0
"""Starts the load generator's two ends by themselves and reads their totals."""
import json
import os
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

from helpers.names import TABLES
from helpers.patience import Stopwatch

ROOT = Path(__file__).resolve().parents[2]
WORKLOAD = ROOT / "build" / "workload"
RECEIVERS = [row["name"] for row in TABLES["receivers"] if not row["tls"]]
TIMEOUT_S = 20
# The promise is 200 ms, a run here 60 s.
STOP_S = 10


class End:
    """One end of a run: a process that has said "ready PORT"."""

    def __init__(self, *words, prefix=(), program=WORKLOAD, go=True):
        ready_read, ready_write = os.pipe()
        go_read, self.go_fd = os.pipe()
        command = [*prefix, program, *words, "--ready-fd", ready_write, "--go-fd", go_read]
        self.process = subprocess.Popen(
            [str(word) for word in command], pass_fds=(ready_write, go_read),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        os.close(ready_write)
        os.close(go_read)
        with os.fdopen(ready_read) as ready:
            line = ready.readline()
        self.port = int(line.split()[1]) if line else None
        if go:
            self.go()

    def go(self):
        os.write(self.go_fd, b"g")

    def finish(self, timeout_s=TIMEOUT_S):
        """Returns exit code, stdout, stderr."""
        out, err = self.process.communicate(timeout=timeout_s)
        return self.process.returncode, out, err

    def totals(self, code=0):
        got, out, err = self.finish()
        assert got == code, err
        return json.loads(out)

    def interrupt(self, number=signal.SIGINT):
        """Returns the seconds it took to end, of a machine that had a processor for it, and finish()'s result."""
        watch = Stopwatch()
        self.process.send_signal(number)
        result = self.finish(5 * STOP_S)
        return watch.seconds(), result

    def close(self):
        os.close(self.go_fd)
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@contextmanager
def end(*words, **options):
    it = End(*words, **options)
    try:
        yield it
    finally:
        it.close()


@contextmanager
def server(variant, size, *words, **options):
    with end("server", variant, size, "--port", 0, *words, **options) as it:
        yield it


@contextmanager
def client(at, size, threads, *words, **options):
    with end("client", size, threads, "--port", at.port, *words, **options) as it:
        yield it


def run_pair(variant, size, threads, pattern, receiver, messages, server_options=None, words=()):
    """Returns the totals of server and client after a run in which nothing may fail."""
    shared = ("--pattern", pattern, "--messages", messages, "--json", *words)
    with server(variant, size, "--clients", threads, *shared, **(server_options or {})) as a:
        with client(a, size, threads, "--receiver", receiver, *shared) as b:
            return a.totals(), b.totals()


def run_plain(*words, program=WORKLOAD, prefix=(), **options):
    return subprocess.run([*map(str, (*prefix, program, *words))], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False, **options)
