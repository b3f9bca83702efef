# SPDX-License-Identifier: GPL-2.0
"""Runs copyscope watch, and programs for it to watch."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from helpers import printed, processes, schemas
from helpers.records import ROOT

COPYSCOPE = ROOT / "tools/copyscope"
SCHEMA = ROOT / "docs/record.schema.json"
TIMEOUT_S = 60
# In place of ssh: what a host does with the command that it is given, behind a word of welcome.
FAR_SHELL = """sh -c 'for command; do :; done; echo welcome to lab; {become} sh -c "$command"' ssh"""
PRIME = 94_139
# Sends PRIME bytes over loopback to itself, as many times as its first word says, with a pause of
# as many seconds as its second word says after each; it answers each with 7 bytes.
TALK = f"""
import socket, sys, threading, time
times, pause = int(sys.argv[1]), float(sys.argv[2])
server = socket.create_server(("127.0.0.1", 0))
def serve():
    end, _ = server.accept()
    for _ in range(times):
        left = {PRIME}
        while left:
            left -= len(end.recv(left))
        end.sendall(b"thanks!")
    end.close()
thread = threading.Thread(target=serve)
thread.start()
client = socket.create_connection(server.getsockname())
for _ in range(times):
    client.sendall(bytes({PRIME}))
    got = 0
    while got < 7:
        got += len(client.recv(7 - got))
    time.sleep(pause)
client.close()
thread.join()
"""


def talk(times: int, pause_s: float = 0) -> list[str]:
    """The command of a program that talks to itself."""
    return [sys.executable, "-c", TALK, str(times), str(pause_s)]


def watch(*words: object, **more) -> subprocess.CompletedProcess:
    """Runs it to its end; its record is shown as it printed it."""
    options = {"stdin": subprocess.DEVNULL} | more
    done = subprocess.run([COPYSCOPE, "watch", *map(str, words)], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False, **options)
    if "--json" in words[:-1]:
        file = Path(words[words.index("--json") + 1])
        if file.is_file() and printed.PART in done.stdout + done.stderr:
            printed.check(done.stdout + done.stderr, json.loads(file.read_text()))
    return done


def start(*words: object, **more) -> subprocess.Popen:
    """Starts it; whoever calls it ends it."""
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
               "stderr": subprocess.PIPE} | more
    return subprocess.Popen([COPYSCOPE, "watch", *map(str, words)], text=True, **options)


@contextmanager
def ended(one: subprocess.Popen) -> Iterator[subprocess.Popen]:
    """A watch that ends with the block: a test that fails in it would wait for it for ever."""
    with one:
        try:
            yield one
        finally:
            one.kill()


def left_there() -> list[Path | str]:
    """Files of a collector, and what runs of it."""
    found = [file for place in ("/tmp", "/var/tmp", "/dev/shm") for file in Path(place).glob("copyscope.??????????")]
    lines = ["\0".join(processes.command_line(int(pid))) for pid in os.listdir("/proc") if pid.isdecimal()]
    # The workload of a run is the same file.
    return found + [line for line in lines if "--reader\0" + "1,0" in line or line.startswith("/proc/self/exe\0")]


def record_of(file: Path) -> dict:
    """A record, by its schema."""
    record = json.loads(file.read_text())
    faults = schemas.faults(SCHEMA, record)
    assert not faults, faults
    return record


def broken(record: dict) -> list[dict]:
    """The laws that do not balance, of all and of each socket."""
    return [law for law in record["laws"] if law["status"] == "broken"] + \
        [law for each in record["sockets"] for law in each["laws"].values()
         if law["status"] == "broken"]
