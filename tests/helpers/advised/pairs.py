# SPDX-License-Identifier: GPL-2.0
"""Drives a program as it is and as changed, in turn, and holds what that took against the advice."""
from __future__ import annotations

import contextlib
import json
import mmap
import os
import random
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from copyscope.common.programs import kill_with_parent
from copyscope.common.spread import Spread, spread
from helpers import foreign

from .programs import DATAGRAMS, ECHO, HTTP, POSTGRES, REDIS, ROOT, Place, Program

# glibc raises its threshold when a large piece is freed: one Python mapped and unmapped 256 KiB for each request, and the
# other, which had once buffered the rest of a send, did not.
ALIKE = {"MALLOC_MMAP_THRESHOLD_": str(4 << 20)}
# Memory lies elsewhere in each start, and a copy may take three times as long from there.
STARTS, PAIRS, BLOCK_BYTES, WATCH_S = 3, 3, 96 << 20, 3
CONNECTIONS = 2
# Two of these may run beside each other, and a machine has one route to a network.
NETWORK = f"198.18.{os.getpid() % 256}"
ADDRESSES = {"lo": "127.0.0.1", "veth": f"{NETWORK}.2"}
HERE_ADDRESS = f"{NETWORK}.1"
READY_S = 60
SO_RCVBUFFORCE = 33


def processor_ns(pid: int) -> int:
    """Processor time of a process with all its threads, also those that ended (clock_getcpuclockid(3))."""
    return time.clock_gettime_ns(~pid << 3 | 2)


def tree(pid: int) -> list[int]:
    """A process and all below it."""
    file = Path(f"/proc/{pid}/task/{pid}/children")
    below = file.read_text(encoding="ascii").split() if file.exists() else []
    return [pid, *(each for child in below for each in tree(int(child)))]


def connect(program: Program, place: Place) -> socket.socket:
    """One connection; by UDP with room for an answer."""
    if program.asks != DATAGRAMS:
        return socket.create_connection((place.address, place.port))
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    end.settimeout(5)
    end.connect((place.address, place.port))
    return end


class Client:
    """Connections that ask one after the other, and read all that comes."""

    def __init__(self, program: Program, place: Place) -> None:
        # From a page boundary on: a bytearray begins 16 bytes behind one, where copies take longer (stream/message.c).
        self.program, self.room = program, memoryview(mmap.mmap(-1, 1 << 20))
        self.ends = [connect(program, place) for _ in range(CONNECTIONS)]
        if program.asks == REDIS:
            self.ends[0].sendall(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n%b\r\n" % (program.size, b"x" * program.size))
            self.read(self.ends[0], len(b"+OK\r\n"))
        if program.asks == POSTGRES:
            for end in self.ends:
                end.sendall(b"\0\0\0\x29\0\3\0\0user\0postgres\0database\0postgres\0\0")
                self.until_ready(end)

    def read(self, end: socket.socket, count: int) -> None:
        """So many bytes."""
        while count:
            got = end.recv_into(self.room, min(count, len(self.room)))
            assert got, f"{self.program.name}: the server closed"
            count -= got

    def until_ready(self, end: socket.socket) -> int:
        """All that PostgreSQL answers, to ReadyForQuery; bytes."""
        count, last = 0, b""
        while not last.endswith(b"Z\0\0\0\5I"):
            got = end.recv_into(self.room)
            assert got, f"{self.program.name}: the server closed"
            last = (last + bytes(self.room[max(0, got - 6):got]))[-6:]
            count += got
        return count

    def head(self, end: socket.socket) -> int:
        """Bytes of an answer of HTTP that came with its head, beyond it."""
        text = b""
        while b"\r\n\r\n" not in text:
            got = end.recv(65536)
            assert got, f"{self.program.name}: the server closed"
            text += got
        return len(text) - text.index(b"\r\n\r\n") - 4

    def ask(self, end: socket.socket) -> int:
        """One answer; bytes."""
        size = self.program.size
        if self.program.asks == HTTP:
            end.sendall(b"GET /file HTTP/1.1\r\nHost: it\r\n\r\n")
            self.read(end, size - self.head(end))
            return size
        if self.program.asks == REDIS:
            end.sendall(b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n")
            size += len(f"${size}\r\n\r\n")
        if self.program.asks == POSTGRES:
            query = f"select repeat('x', {size})".encode()
            end.sendall(b"Q" + (len(query) + 5).to_bytes(4, "big") + query + b"\0")
            return self.until_ready(end)
        if self.program.asks == DATAGRAMS:
            end.send(b"?")
        if self.program.asks == ECHO:
            end.sendall(self.room[:size])
        self.read(end, size)
        return size

    def block(self, most_bytes: int = BLOCK_BYTES) -> int:
        """Answers of about so many bytes; how many came."""
        count = 0
        while count < most_bytes:
            for end in self.ends:
                count += self.ask(end)
        return count

    def close(self) -> None:
        """No more."""
        for end in self.ends:
            end.close()


@dataclass
class Side:
    """A program that serves, and its client."""

    process: subprocess.Popen[bytes]
    client: Client

    @property
    def pids(self) -> list[int]:
        """All of it."""
        return tree(self.process.pid)

    def block_ns(self) -> float:
        """Processor time of both ends for a GB."""
        pids = self.pids
        before = sum(map(processor_ns, pids)) + time.process_time_ns()
        count = self.client.block()
        return (sum(map(processor_ns, pids)) + time.process_time_ns() - before) / count * 1e9


@contextlib.contextmanager
def namespace(path: str) -> Iterator[list[str]]:
    """Words that start a program at the other end of the path."""
    if path == "lo":
        yield []
        return
    name = f"adv{os.getpid()}"
    with subprocess.Popen(["unshare", "--net", "sleep", "1000"], preexec_fn=kill_with_parent()) as holder:
        try:
            within = ["nsenter", "-t", str(holder.pid), "-n"]
            here = os.stat("/proc/self/ns/net").st_ino
            while os.stat(f"/proc/{holder.pid}/ns/net").st_ino == here:
                time.sleep(0.01)
            for words in (["ip", "link", "add", name, "type", "veth", "peer", "name", "advised", "netns",
                           str(holder.pid)], ["ip", "addr", "add", f"{HERE_ADDRESS}/24", "dev", name],
                          ["ip", "link", "set", name, "up"],
                          [*within, "ip", "addr", "add", f"{ADDRESSES[path]}/24", "dev", "advised"],
                          [*within, "ip", "link", "set", "advised", "up"], [*within, "ip", "link", "set", "lo", "up"]):
                subprocess.run(words, check=True)
            yield within
        finally:
            holder.kill()


def connected(program: Program, place: Place, server: subprocess.Popen[bytes]) -> Client:
    """Clients that have been answered; servers close connections, or refuse them, while they start."""
    until = time.monotonic() + READY_S
    while True:
        try:
            client = Client(program, place)
            for end in client.ends:
                client.ask(end)
            return client
        except (AssertionError, OSError) as why:
            assert server.poll() is None and time.monotonic() < until, f"{program.name}: it does not serve: {why}"
            time.sleep(0.2)


@contextlib.contextmanager
def serving(program: Program, within: list[str], changed: bool) -> Iterator[Side]:
    """One side with its client."""
    folder = Path(tempfile.mkdtemp(prefix="advised-"))
    folder.chmod(0o755)
    place = Place(folder, ADDRESSES[program.path], foreign.free_port())
    place.file.write_bytes(os.urandom(program.size))
    start = program.start(place, program.size, changed)
    running: list[subprocess.Popen[bytes]] = []
    try:
        for command in start.commands:
            words = [*within, *command]
            environment = {**os.environ, **ALIKE, **(start.environment if command == start.commands[-1] else {})}
            if command != start.commands[-1] and "initdb" in command:
                subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
                continue
            running.append(subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL, preexec_fn=kill_with_parent()))
        client = connected(program, place, running[-1])
        yield Side(running[-1], client)
        client.close()
    finally:
        for each in reversed(running):
            each.terminate()
        for each in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                each.wait(10)
            each.kill()
            each.wait()
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def asked(side: Side) -> Iterator[None]:
    """While clients ask."""
    over = threading.Event()

    def load() -> None:
        while not over.is_set():
            side.client.block(8 << 20)
    asking = threading.Thread(target=load)
    asking.start()
    try:
        yield
    finally:
        over.set()
        asking.join()


def advised(*words: object) -> dict[str, Any]:
    """The document of tools/advise."""
    done = subprocess.run([ROOT / "tools/advise", *map(str, words), "--json", "-", "--quiet"], capture_output=True, text=True,
                          check=False, timeout=600)
    assert done.returncode in (0, 1, 4), done.stderr
    return json.loads(done.stdout)


def advice(program: Program, side: Side) -> dict[str, Any]:
    """What is advised of a program as it is, while clients ask; then, when they do not, what turns say of it."""
    # A path of two network namespaces is not seen from one: who asks names it.
    path = ["--path", program.path] if program.path != "lo" else []
    pids = ",".join(map(str, side.pids))
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "watch.json"
        with asked(side):
            began = time.monotonic()
            found = chief(advised("-p", pids, "--seconds", WATCH_S, *path))
            took_s = time.monotonic() - began
            subprocess.run([ROOT / "tools/copyscope", "watch", "--sizes", "--cpu", "--quiet", "-p", pids, "--seconds",
                            str(WATCH_S), "--json", record], check=True)
        source = ["--source", found["source"]] if found["source"] else []
        turns = chief(advised("--record", record, "--verify", *source, *path))
    return {**found, "verified": turns.get("verified", []), "took_s": round(took_s, 1)}


def chief(data: dict[str, Any]) -> dict[str, Any]:
    """The process that copies or refers most."""
    def size(process: dict[str, Any]) -> float:
        return sum(each["value"] for each in process["quantities"] if each["unit"] == "bytes" and each["name"] != "best_from")
    assert data["processes"], "it sent nothing"
    return max(data["processes"], key=size)


def printed_command(text: str) -> str:
    """The command that an advice prints to settle it; "" if it prints none. Its words are wrapped."""
    found = re.search(r"^  verify +(.+(?:\n {11}.+)*)", text, re.M)
    return " ".join(found[1].split()) if found else ""


def settled_as_printed(program: Program) -> tuple[str, int | None]:
    """The command that the advice on a program prints, and its exit status when it is typed; None: there was none."""
    path = ["--path", program.path] if program.path != "lo" else []
    with namespace(program.path) as within, serving(program, within, False) as side, asked(side):
        done = subprocess.run([ROOT / "tools/advise", "-p", ",".join(map(str, side.pids)), "--seconds", str(WATCH_S), *path],
                              capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode in (0, 1, 4), done.stderr
    command = printed_command(done.stdout)
    if not command:
        return "", None
    # Root needs no sudo, and this machine may have none.
    return command, subprocess.run(["sh", "-c", command.removeprefix("sudo ")], cwd=ROOT, check=False,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode


def predicted(process: dict[str, Any], program: Program) -> dict[str, Any] | None:
    """The change that the advice predicts for what is really changed: all sends, or those from a size on."""
    begin, end = f"{program.way}.from_", ".change"
    found = {int(each["name"][len(begin):-len(end)]): each for each in process["quantities"]
             if each["name"].startswith(begin) and each["name"].endswith(end)}
    if not found:
        return None
    if 0 in found and program.way == "plain":
        return found[0]
    above = [size for size in found if 2 * size > program.from_bytes]
    return found[min(above)] if above else found[max(found)]


def pair(before: Side, after: Side, chance: random.Random) -> tuple[float, float]:
    """What a block takes as it is and changed, in ns a GB, in random order."""
    took = {which: (before, after)[which].block_ns() for which in chance.sample((0, 1), 2)}
    return took[0], took[1]


def truth(program: Program, within: list[str]) -> tuple[Spread, float]:
    """What the change adds, in ns a GB, over pairs of blocks of several starts; and what it takes before."""
    chance = random.Random(43)
    found: list[tuple[float, float]] = []
    for _ in range(STARTS):
        with serving(program, within, False) as before, serving(program, within, True) as after:
            for side in (before, after):
                side.client.block(BLOCK_BYTES // 4)
            found += [pair(before, after, chance) for _ in range(PAIRS)]
    return spread([changed - plain for plain, changed in found]), median(plain for plain, _ in found)


def held(program: Program) -> dict[str, Any]:
    """One workload: the advice, and what the change then did."""
    with namespace(program.path) as within:
        with serving(program, within, False) as side:
            process = advice(program, side)
        found, plain = truth(program, within)
    change = predicted(process, program)
    said = {each["way"]: each["verdict"] for each in process["ways"]}
    turns = next((each for each in process["verified"] if each["way"] == program.way), None)
    return {"program": program.name, "bytes": program.size, "path": program.path, "way": program.way,
            "advice": process["verdict"], "way_verdict": said.get(program.way), "source": process["source"],
            "predicted": change and {key: change[key] for key in ("value", "low", "high")}, "turns": turns,
            "plain": plain, "measured": vars(found), "advise_s": process["took_s"]}
