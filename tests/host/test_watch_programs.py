# SPDX-License-Identifier: GPL-2.0
"""Programs that know nothing of copyscope: the books say what they say themselves, to the byte."""
from __future__ import annotations

import json
import shutil
import subprocess
import time

import pytest

from helpers.records import needs_root
from helpers.windows import Watching, bytes_of, laws_of, unbalanced

pytestmark = needs_root
# What iperf3 sends first on each of its connections: a word of 37 bytes.
COOKIE = 37


def needs(program: str):
    """Skips where a program is not installed."""
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


def busiest(record: dict, count: str, comm: str, pid: int) -> dict:
    """The socket of a process that moved most."""
    return max((each for each in record["sockets"] if each["pid"] == pid and each["comm"] == comm),
               key=lambda each: each["counts"][count])


@needs("iperf3")
@pytest.mark.parametrize("words, site", [((), "tx_copy"), (("-Z",), "tx_splice")])
def test_iperf3_is_counted_to_the_byte(words, site):
    with subprocess.Popen(["iperf3", "-s", "-1", "-p", "5999"], stdout=subprocess.DEVNULL) as server:
        time.sleep(0.3)
        watching = Watching("--comm", "iperf3")
        said = json.loads(subprocess.run(
            ["iperf3", "-c", "127.0.0.1", "-p", "5999", "-n", "300M", "-J", *words],
            capture_output=True, text=True, check=True, timeout=60).stdout)
        server.wait(timeout=10)
        time.sleep(0.1)
        record = watching.close()
    assert not unbalanced(record), unbalanced(record)
    receiver = busiest(record, "returned_bytes", "iperf3", server.pid)
    sender = next(each for each in record["sockets"] if each["local"] == receiver["remote"])
    sent = said["end"]["streams"][0]["sender"]["bytes"]
    assert sender["counts"]["accepted_bytes"] == sent + COOKIE
    assert sender["sites"][site]["bytes"] in (sent, sent + COOKIE)
    assert sum(sender["sites"][each]["bytes"] for each in ("tx_copy", "tx_reference", "tx_splice")) \
        == sent + COOKIE
    assert sender["whole"] and receiver["whole"]
    # The server stops reading when the client says that it is done: the rest is unread or never sent.
    lost = receiver["closing"]["unread_bytes"] + sender["closing"]["unsent_bytes"] + \
        sender["closing"]["unacked_bytes"]
    assert receiver["counts"]["returned_bytes"] + lost >= sent + COOKIE


@needs("curl")
def test_a_web_server_and_curl(tmp_path):
    (tmp_path / "file").write_bytes(bytes(3_000_001))
    with subprocess.Popen(["python3", "-m", "http.server", "5998", "--bind", "127.0.0.1"],
                          cwd=tmp_path, stderr=subprocess.DEVNULL) as server:
        time.sleep(0.7)
        watching = Watching("--port", 5998)
        subprocess.run(["curl", "-s", "-o", tmp_path / "got", "http://127.0.0.1:5998/file"], check=True,
                       timeout=30)
        time.sleep(0.1)
        record = watching.close()
        server.kill()
    assert (tmp_path / "got").stat().st_size == 3_000_001
    curl = next(each for each in record["sockets"] if each["comm"] == "curl")
    assert curl["whole"] and curl["sites"]["rx_copy"]["bytes"] > 3_000_001
    assert curl["sites"]["rx_copy"]["bytes"] == curl["counts"]["returned_bytes"]
    assert not unbalanced(record) and laws_of(record)["receive"] == "balanced"


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
