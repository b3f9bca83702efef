# SPDX-License-Identifier: GPL-2.0
"""Programs that know nothing of copyscope: the books say what they say themselves, to the byte."""
from __future__ import annotations

import json
import re
import subprocess
import time

import pytest

from helpers.books import PRIME_BYTES
from helpers.foreign import SELF_TEST, free_port, serving, words
from helpers.records import needs_root
from helpers.windows import Watching, bytes_of, laws_of, unbalanced
from helpers.workload import client, server

pytestmark = needs_root
# What iperf3 sends first on each of its connections: a word of 37 bytes.
COOKIE = 37
SELF_TEST_BYTES = 4093


def busiest(record: dict, count: str, comm: str, pid: int) -> dict:
    """The socket of a process that moved most."""
    return max((each for each in record["sockets"] if each["pid"] == pid and each["comm"] == comm),
               key=lambda each: each["counts"][count])


@pytest.mark.parametrize("options, sent_by, taken_by", [
    ((), "tx_copy", "rx_copy"), (("-Z",), "tx_splice", "rx_copy"),
    (("--skip-rx-copy",), "tx_copy", "rx_discard")])
def test_iperf3_is_counted_to_the_byte(options, sent_by, taken_by):
    port = free_port()
    with serving(port, *words("iperf3"), "-s", "-1", "-B", "127.0.0.1", "-p", port) as server:
        watching = Watching("--comm", "iperf3")
        said = json.loads(subprocess.run(
            [*words("iperf3"), "-c", "127.0.0.1", "-p", str(port), "-n", "100M", "-J", *options],
            capture_output=True, text=True, check=True, timeout=60).stdout)
        server.wait(timeout=60)
        time.sleep(0.1)
        record = watching.close()
    assert not unbalanced(record), unbalanced(record)
    receiver = busiest(record, "returned_bytes", "iperf3", server.pid)
    sender = next(each for each in record["sockets"] if each["local"] == receiver["remote"])
    sent = said["end"]["streams"][0]["sender"]["bytes"]
    assert sender["counts"]["accepted_bytes"] == sent + COOKIE
    assert sender["sites"][sent_by]["bytes"] in (sent, sent + COOKIE)
    assert sum(sender["sites"][each]["bytes"] for each in ("tx_copy", "tx_reference", "tx_splice")) \
        == sent + COOKIE
    assert sender["whole"] and receiver["whole"]
    taken = receiver["counts"]["returned_bytes"]
    assert receiver["sites"][taken_by]["bytes"] in (taken, taken - COOKIE)
    assert receiver["sites"]["rx_copy"]["bytes"] + receiver["sites"]["rx_discard"]["bytes"] == taken
    # The server stops reading when the client says that it is done: the rest is unread or never sent.
    lost = receiver["closing"]["unread_bytes"] + sender["closing"]["unsent_bytes"] + \
        sender["closing"]["unacked_bytes"]
    assert taken + lost >= sent + COOKIE


def test_a_web_server_and_curl(tmp_path):
    (tmp_path / "file").write_bytes(bytes(3_000_001))
    port = free_port()
    with serving(port, "python3", "-m", "http.server", port, "--bind", "127.0.0.1", cwd=tmp_path):
        watching = Watching("--port", port)
        subprocess.run(["curl", "-s", "-o", tmp_path / "got", f"http://127.0.0.1:{port}/file"],
                       check=True, timeout=60)
        time.sleep(0.1)
        record = watching.close()
    assert (tmp_path / "got").stat().st_size == 3_000_001
    curl = next(each for each in record["sockets"] if each["comm"] == "curl")
    assert curl["whole"] and curl["sites"]["rx_copy"]["bytes"] > 3_000_001
    assert curl["sites"]["rx_copy"]["bytes"] == curl["counts"]["returned_bytes"]
    # On trampolines the default books derive rx_copy from that law.
    derived = record["backend"]["name"] == "trampoline"
    assert not unbalanced(record)
    assert laws_of(record)["receive queue"] == ("not testable" if derived else "balanced")


SENDFILE = """
import socket, sys, tempfile
file = tempfile.TemporaryFile(); file.write(bytes(2_000_003)); file.flush()
listener = socket.create_server(("127.0.0.1", 0))
a = socket.create_connection(listener.getsockname()); b, _ = listener.accept()
print("ready", flush=True); sys.stdin.readline()
import threading
def take():
    left, room = 2_000_003, bytearray(100_000)
    while left: left -= b.recv_into(room)
t = threading.Thread(target=take); t.start()
a.sendfile(file); t.join()
print("done", flush=True); sys.stdin.readline()
"""


def test_socket_sendfile_and_recv_into():
    with subprocess.Popen(["python3", "-c", SENDFILE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as program:
        program.stdout.readline()
        watching = Watching("-p", program.pid)
        print(file=program.stdin, flush=True)
        program.stdout.readline()
        record = watching.close()
        program.communicate("\n")
    sites = bytes_of(record)
    assert (sites["tx_splice"], sites["tx_copy"], sites["rx_copy"]) == (2_000_003, 0, 2_000_003)
    assert not unbalanced(record)


@pytest.mark.parametrize("variant, sent_by", [("uring", "tx_copy"), ("uring-zc", "tx_reference"),
                                              ("uring-zc-fixed", "tx_reference")])
def test_a_program_that_sends_and_receives_by_liburing_is_counted_to_the_byte(variant, sent_by):
    shared = ("--messages", 230, "--json")
    with server(variant, PRIME_BYTES, "--clients", 2, *shared) as a, \
            client(a, PRIME_BYTES, 2, "--receiver", "uring-multishot", *shared, go=False) as b:
        watching = Watching("-p", a.process.pid, "-p", b.process.pid)
        b.go()
        sent, received = a.totals(), b.totals()
        record = watching.close()
    payload = 230 * PRIME_BYTES
    assert not unbalanced(record) and sent["accepted_bytes"] == received["received_bytes"] == payload
    zerocopy = payload if sent_by == "tx_reference" else 0
    sites = bytes_of(record)
    assert (sites["tx_copy"], sites["tx_reference"], sites["rx_copy"]) == (payload - zerocopy, zerocopy, payload)
    counts = record["total"]["counts"]
    assert counts["zerocopy_sends"] == counts["completed_sends"] == sent["zerocopy_sends"] == sent["completions"]
    assert counts["copied_sends"] == sent["completions_copied"] == sent["completions"]


@pytest.mark.skipif(not SELF_TEST, reason="COPYSCOPE_MSG_ZEROCOPY names no msg_zerocopy, the kernel's self-test "
                                          "of Debian's linux-source package, compiled")
def test_the_kernels_own_test_of_zero_copy_is_counted_to_the_byte():
    port = free_port()
    with serving(port, SELF_TEST, "-4", "-t", 3, "-r", "-p", port, "tcp") as receiver:
        watching = Watching("--comm", "msg_zerocopy")
        said = subprocess.run([SELF_TEST, "-4", "-t", "1", "-z", "-s", str(SELF_TEST_BYTES), "-p", str(port),
                               "-D", "127.0.0.1", "tcp"], capture_output=True, text=True, check=True, timeout=60)
        receiver.wait(timeout=60)
        record = watching.close()
    sends = int(re.search(r"tx=(\d+)", said.stderr + said.stdout).group(1))
    sender, = [each for each in record["sockets"] if each["sites"]["tx_reference"]["bytes"]]
    assert sender["counts"]["zerocopy_sends"] == sends
    assert sender["counts"]["accepted_bytes"] == sender["sites"]["tx_reference"]["bytes"] == sends * SELF_TEST_BYTES
    assert bytes_of(record)["rx_discard"] == sends * SELF_TEST_BYTES and not unbalanced(record)
