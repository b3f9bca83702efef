# SPDX-License-Identifier: GPL-2.0
"""What TCP carries for an MPTCP socket is added up over its subflows."""
from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.records import needs_root
from helpers.watch_tool import COPYSCOPE, PRIME, broken, record_of

pytestmark = [needs_root, pytest.mark.skipif(
    not Path("/proc/sys/net/mptcp/enabled").exists() or not shutil.which("ip"),
    reason="this kernel has no MPTCP, or ip is not installed")]
# Its second address is one more subflow of the client's connection.
TALK = """
import socket, time
def end():
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
server = end()
server.bind(("10.9.0.1", 0))
server.listen(4)
client = end()
client.bind(("10.9.0.1", 0))
client.connect(server.getsockname())
other, _ = server.accept()
other.sendall(bytes(777))
assert len(client.recv(4093)) == 777
for _ in range(100):
    with open("/proc/net/netstat") as lines:
        rows = [line.split() for line in lines if line.startswith("MPTcpExt")]
    if int(dict(zip(*rows))["MPJoinAckRx"]):
        break
    time.sleep(0.05)
for _ in range(23):
    client.sendall(bytes(4093))
    left = 4093
    while left:
        left -= len(other.recv(left))
client.close()
other.close()
"""
WITHIN = """
sysctl -qw net.mptcp.enabled=1
ip link set lo up
ip address add 10.9.0.1/32 dev lo
ip address add 10.9.0.2/32 dev lo
ip mptcp limits set subflow 2 add_addr_accepted 2
ip mptcp endpoint add 10.9.0.2 dev lo subflow
exec "$@"
"""


def test_subflows_are_added_up(tmp_path):
    file = tmp_path / "record.json"
    done = subprocess.run(["unshare", "--net", "bash", "-ec", WITHIN, "bash", COPYSCOPE, "watch", "--json", file, "--",
                           sys.executable, "-c", TALK], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    record = record_of(file)
    assert not broken(record)
    totals = {(each["sent_bytes"], each["received_bytes"]): each["subflows"] for each in record["mptcp"]}
    # A task of the kernel's makes the client's second one: a kernel may run no program then, and says so.
    if not record["losses"]["unseen_events"]:
        assert set(totals) == {(PRIME, 777), (777, PRIME)}
    assert max(totals.values()) == 2
    joined = [each for each in record["sockets"] if each["mptcp_token"]]
    assert len(joined) == len(record["sockets"]) == sum(totals.values())
    assert {each["layer"] for each in joined} == {"mptcp"}
    assert "MPTCP" in done.stderr and "2 subflows" in done.stderr


# Two ways to send without a copy, and a plain one.
SENDS = """
import os, socket, tempfile
def end():
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
server, client = end(), end()
server.bind(("127.0.0.1", 0)); server.listen(1)
client.connect(server.getsockname()); other, _ = server.accept()
file = tempfile.TemporaryFile(); file.write(bytes(4093)); file.flush()
for _ in range(23):
    sent = os.sendfile(client.fileno(), file.fileno(), 0, 4093) + client.send(bytes(4093), 0x4000000) + client.send(bytes(7))
    while sent:
        sent -= len(other.recv(sent))
"""


def test_what_mptcp_is_given_to_send_it_copies(tmp_path):
    file = tmp_path / "record.json"
    done = subprocess.run([COPYSCOPE, "watch", "--books", "calls", "--json", file, "--", sys.executable, "-c", SENDS],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert record_of(file)["mptcp_copied_bytes"] == 2 * PRIME + 23 * 7
    assert "it copied all 188 kB that sends gave it" in done.stderr and "MPTCP copies" in done.stderr
