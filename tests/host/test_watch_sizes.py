# SPDX-License-Identifier: GPL-2.0
"""The sizes of calls are those that strace lists, to the call; they add up; what is not known is told."""
from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import sys
import time

import pytest

from helpers import strace, watch_tool
from helpers.foreign import free_port, serving, words
from helpers.records import law, needs_root
from helpers.windows import Watching
from host.test_watch_cpu import program_of
from host.test_watch_languages import of_go, of_java
from host.test_watch_servers import BODY, NGINX, fetched

pytestmark = needs_root
PRIME_BYTES = 4_093
# Ends of one connection: how often which call moved how much stands in the test.
MIXED = f"""
import socket
server = socket.create_server(("127.0.0.1", 0))
a = socket.create_connection(server.getsockname()); b, _ = server.accept()
def take(count):
    while count: count -= len(b.recv(count))
for _ in range(23): a.send(bytes({PRIME_BYTES})); take({PRIME_BYTES})
a.send(b""); a.send(b"x"); b.recv(10, socket.MSG_PEEK); take(1)
a.send(bytes(100)); b.recv(100, socket.MSG_TRUNC)
a.setsockopt(socket.SOL_SOCKET, 60, 1)
for _ in range(7): a.send(bytes(65_537), 0x4000000); take(65_537)
a.close(); assert not b.recv(1)
"""


def watched(folder, *command) -> dict:
    """The record of a command, all calls of which have a size."""
    file = folder / "record.json"
    done = watch_tool.watch("--sizes", "--json", file, "--", *command)
    assert done.returncode == 0, done.stderr
    record = watch_tool.record_of(file)
    assert record["books"] == "calls" and record["sizes"]["unsized_calls"] == 0
    return record | {"report": done.stderr}


def buckets(record: dict, direction: str, way: str) -> dict[int, tuple[int, int]]:
    """Calls and bytes by the least size, of the only process."""
    process, = (each for each in record["processes"] if each["sizes"])
    each, = (each for each in process["sizes"] if (each["direction"], each["way"]) == (direction, way))
    assert all(bucket["below_bytes"] == 2 * bucket["from_bytes"] or bucket["below_bytes"] == 1
               for bucket in each["buckets"])
    return {bucket["from_bytes"]: (bucket["calls"], bucket["bytes"]) for bucket in each["buckets"]}


def test_every_call_is_told_by_its_size_and_way(tmp_path):
    record = watched(tmp_path, sys.executable, "-c", MIXED)
    assert buckets(record, "send", "plain") == {0: (1, 0), 1: (1, 1), 64: (1, 100),
                                                2048: (23, 23 * PRIME_BYTES)}
    assert buckets(record, "send", "zerocopy") == {65536: (7, 7 * 65_537)}
    assert buckets(record, "recv", "peek") == {1: (1, 1)}
    assert buckets(record, "recv", "discard") == {64: (1, 100)}
    assert buckets(record, "recv", "plain")[0] == (1, 0)
    whole = law(record, "sizes")
    assert (whole["status"], whole["left"]) == ("balanced", 2 * (23 * PRIME_BYTES + 101 + 7 * 65_537))
    assert "2 KiB to below 4 KiB" in record["report"] and "add up to" in record["report"]


def test_two_threads_that_call_first_at_one_moment_share_the_sizes_of_their_process(tmp_path):
    processes = 300
    record = watched(tmp_path, "sh", "-c", f"yes | {program_of(tmp_path)} twins {processes}")
    sent = [sum(bucket["calls"] for way in each["sizes"] or [] if way["direction"] == "send" for bucket in way["buckets"])
            for each in record["processes"] if each["comm"] == "threads"]
    # The first process only makes the others.
    assert sorted(sent) == [0] + [2] * processes


def test_without_the_option_there_are_no_sizes(tmp_path):
    file = tmp_path / "record.json"
    assert watch_tool.watch("--books", "calls", "--json", file, "--", *watch_tool.talk(1)).returncode == 0
    record = watch_tool.record_of(file)
    assert "sizes" not in record and all("sizes" not in each for each in record["processes"])


def test_calls_that_are_lost_break_the_law_of_sizes(tmp_path):
    file = tmp_path / "broken.json"
    done = watch_tool.watch("--sizes", "--break", "lose-sizes", "--fail-on", "broken", "--json", file, "--",
                            *watch_tool.talk(1))
    broken = law(watch_tool.record_of(file), "sizes")
    assert done.returncode == 1 and broken["status"] == "broken" and broken["right"] - broken["left"] == watch_tool.PRIME + 7
    assert "Do not trust these sizes" in done.stderr
    assert watch_tool.broken(watch_tool.record_of(file)) == [broken]


def test_sequence_books_cannot_have_sizes():
    done = watch_tool.watch("--sizes", "--books", "sequence", "--all")
    assert done.returncode == 2 and "--books sequence" in done.stderr and done.stderr.count("\n") == 1


def test_python_under_strace(tmp_path):
    record = watched(tmp_path, *strace.WORDS, "-o", tmp_path / "trace", sys.executable, "-c", MIXED)
    assert strace.of_record(record) == strace.listed(tmp_path / "trace")


def without(sizes: strace.Sizes, way: tuple[str, str]) -> strace.Sizes:
    """A system call that splices is several calls of the socket's."""
    return {each: value for each, value in sizes.items() if each != way}


def moved(sizes: strace.Sizes, way: tuple[str, str]) -> int:
    """Bytes of all sizes."""
    return sum(count for (_, what), count in sizes.get(way, {}).items() if what == "bytes")


def test_iperf3_under_strace(tmp_path):
    port = free_port()
    server = ["-s", "-1", "-B", "127.0.0.1", "-p", port]
    trace = [*strace.WORDS, "--seccomp-bpf", "-f", "-o"]
    with serving(port, *trace, tmp_path / "server", *words("iperf3"), *server) as process:
        watching = Watching("--comm", "iperf3", "--sizes")
        subprocess.run([*trace, tmp_path / "client", *words("iperf3"), "-c", "127.0.0.1", "-p", str(port), "-n", "20M"],
                       stdout=subprocess.DEVNULL, check=True, timeout=60)
        process.wait(timeout=60)
        time.sleep(0.1)
        record = watching.close()
    listed = strace.listed(tmp_path / "server")
    for way, counts in strace.listed(tmp_path / "client").items():
        listed.setdefault(way, strace.Counter()).update(counts)
    assert strace.of_record(record) == listed and record["sizes"]["unsized_calls"] == 0
    assert law(record, "sizes")["status"] == "balanced"
    assert moved(listed, ("send", "plain")) > 20 << 20


@contextlib.contextmanager
def of_server(port: int, tmp_path, *command, **options):
    """A server that strace and a watch look at; what both found comes when it is left alone."""
    found: dict = {}
    with serving(port, *command, **options) as server:
        watching = Watching("-p", server.pid, "--sizes")
        with strace.attached(server.pid, tmp_path / "trace"):
            yield found
            time.sleep(0.2)
            found["record"] = watching.close()
    found["listed"], found["told"] = strace.listed(tmp_path / "trace"), strace.of_record(found["record"])


@pytest.mark.parametrize("sendfile", ["on", "off"])
def test_nginx_beside_strace(tmp_path, sendfile):
    port = free_port()
    (tmp_path / "file").write_bytes(bytes(BODY))
    alone = NGINX.replace("user root; worker_processes 2", "master_process off")
    (tmp_path / "conf").write_text(alone.format(folder=tmp_path, sendfile=sendfile, port=port))
    with of_server(port, tmp_path, *words("nginx"), "-c", tmp_path / "conf") as found:
        for _ in range(3):
            assert fetched(port, b"GET /file HTTP/1.0\r\n\r\n") > BODY
    splices = ("send", "splice")
    assert without(found["told"], splices) == without(found["listed"], splices)
    assert moved(found["told"], splices) == moved(found["listed"], splices) == (3 * BODY if sendfile == "on" else 0)
    assert law(found["record"], "sizes")["status"] == "balanced"


def test_redis_beside_strace(tmp_path):
    port = free_port()
    with of_server(port, tmp_path, *words("redis-server"), "--port", port, "--bind", "127.0.0.1", "--save", "",
                   "--appendonly", "no", cwd=tmp_path) as found, \
            socket.create_connection(("127.0.0.1", port)) as client:
        for size in (1, 1_009, 94_139):
            client.sendall(b"SET key %b\r\n" % (b"v" * size) if size < 4096 else
                           b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$%d\r\n%b\r\n" % (size, b"v" * size))
            assert client.recv(100) == b"+OK\r\n"
            client.sendall(b"GET key\r\n")
            left = size + len(f"${size}\r\n\r\n")
            while left:
                left -= len(client.recv(left))
    assert found["told"] == found["listed"] and law(found["record"], "sizes")["status"] == "balanced"


@pytest.mark.parametrize("language, program", [("go", of_go), ("java", of_java)])
def test_a_server_of_another_language_beside_strace(tmp_path, language, program):
    if not shutil.which(language):
        pytest.skip(f"no program of the name {language} is on this machine")
    port, file = free_port(), tmp_path / "file"
    file.write_bytes(bytes(BODY))
    with of_server(port, tmp_path, *program(tmp_path), port, file) as found, \
            socket.create_connection(("127.0.0.1", port)) as client:
        left = BODY
        while left:
            left -= len(client.recv(left))
    splices = ("send", "splice")
    assert without(found["told"], splices) == without(found["listed"], splices)
    assert moved(found["told"], splices) == moved(found["listed"], splices) == BODY
