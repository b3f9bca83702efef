# SPDX-License-Identifier: GPL-2.0
"""`copyscope watch` of UDP sockets, on this kernel: each number is the program's own, or is not measured."""
from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys

import pytest

from copyscope.report.process_sentence import all_told
from helpers.datagrams import BEFORE, DATAGRAMS, agrees, program, sums
from helpers.records import needs_root
from helpers.watch_tool import PRIME, broken, record_of, watch
from helpers.windows import WATCH, Watching

pytestmark = needs_root
# Asks and answers as DNS does: a socket for each of the client's questions, one for all of the server's answers.
ASKS = """
import socket, sys, threading
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 0))
def answer():
    for _ in range(23):
        question, client = server.recvfrom(65536)
        server.sendto(question[:93], client)
thread = threading.Thread(target=answer)
thread.start()
for _ in range(23):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(bytes(4093), server.getsockname())
        assert len(client.recv(512)) == 93
thread.join()
"""
SEGMENTS = """
import socket
UDP_SEGMENT, UDP_GRO = 103, 104
take = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
take.setsockopt(socket.SOL_UDP, UDP_GRO, 1)
take.bind(("::1", 0))
give = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
give.setsockopt(socket.SOL_UDP, UDP_SEGMENT, 1400)
give.connect(take.getsockname())
for _ in range(23):
    give.send(bytes(4093))
    assert sum(len(take.recv(65536)) for _ in range(1)) == 4093
"""
# Closed sockets are there until the kernel's readers have left them: until then a walk meets them as open ones.
LET_GO = """
import time
take.close()
give.close()
time.sleep(.3)
"""
# Zero-copy sends of 3,000 bytes where the MTU is 1,500, each 10th reads what was notified; says what that was.
LARGE = """
import os, socket, struct, sys
SO_ZEROCOPY, MSG_ZEROCOPY, SO_EE_ORIGIN_ZEROCOPY = 60, 0x4000000, 5
take = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
take.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)
take.bind(("127.0.0.1", 0))
give = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
give.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
give.setsockopt(socket.SOL_UDP, 103, int(sys.argv[1]))
give.connect(take.getsockname())
page, completed, copied = bytearray(3000), 0, 0
def reap():
    global completed, copied
    while True:
        try:
            (_, _, data), = give.recvmsg(0, 200, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)[1]
        except BlockingIOError:
            return
        _, origin, _, code, _, first, last = struct.unpack("IBBBBII", data[:16])
        assert origin == SO_EE_ORIGIN_ZEROCOPY
        completed += last - first + 1
        copied += last - first + 1 if code & 1 else 0
for at in range(230):
    give.send(page, MSG_ZEROCOPY)
    if at % 10 == 9:
        for _ in range(30 if int(sys.argv[1]) else 10):
            take.recv(65536)
        reap()
assert completed == 230
print(copied)
"""
IDLE = "import socket; s, t = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)); " \
       "s.bind(('127.0.0.1', 0)); print('ready', flush=True); input()"


def watched(tmp_path, *command: object, **more) -> dict:
    """The record of a watch from the command's first call on."""
    file = tmp_path / "record.json"
    done = watch("--json", file, "--", *command, **more)
    assert done.returncode == 0, done.stderr
    return record_of(file)


def test_a_program_is_counted_from_its_first_call(tmp_path):
    told = tmp_path / "told"
    record = watched(tmp_path, *program(told, "told"))
    agrees(record, json.loads(told.read_text().splitlines()[1]), sum(BEFORE.values()))
    assert {each["protocol"] for each in record["sockets"]} == {"udp"}
    assert all(each["whole"] for each in record["sockets"])


def test_sockets_that_were_there_have_opening_balances():
    with subprocess.Popen([DATAGRAMS, "23", "told"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as run:
        assert run.stdout.readline() == "ready\n"
        watching = Watching("-p", run.pid)
        run.stdin.write("go\n")
        run.stdin.flush()
        told = json.loads(run.stdout.readline())
        record = watching.close()
    opening, found = record["total"]["opening"], sums(record)
    assert {item: opening[item] for item in BEFORE} == BEFORE and not broken(record)
    assert found["accepted_bytes"] in (None, told["accepted"])
    assert found["returned_bytes"] == told["returned"]
    assert found["rx_copy"] == told["returned"] + told["peeked"]
    assert record["total"]["closing"]["unread_bytes"] == 2000


def test_questions_and_answers_by_sockets_of_their_own(tmp_path):
    record = watched(tmp_path, sys.executable, "-c", ASKS)
    found = sums(record)
    assert found["tx_copy"] == found["rx_copy"] == PRIME + 23 * 93
    assert record["total"]["sockets"] == record["total"]["died"] == 24
    assert "send copied all of 96.3 kB" in all_told(record)[0]


def test_a_send_that_is_cut_is_one_send(tmp_path):
    record = watched(tmp_path, sys.executable, "-c", SEGMENTS)
    found = sums(record)
    assert found["tx_copy"] == found["rx_copy"] == PRIME
    assert found["send_calls"] == found["recv_calls"] == 23


@pytest.mark.skipif(not shutil.which("iperf3"), reason="iperf3 is not installed")
def test_iperf3_says_the_same(tmp_path):
    out = tmp_path / "iperf3.json"
    record = watched(tmp_path, "bash", "-c", f"""
        iperf3 -s -1 -p 52017 >{tmp_path}/server & sleep 0.5
        iperf3 -u -c 127.0.0.1 -p 52017 -b 200M -n 5M -l 1400 -J >{out}; wait""")
    told = json.loads(out.read_text())["end"]["sum"]
    sent = [each for each in record["sockets"] if each["protocol"] == "udp" and each["remote"].endswith(":52017")]
    assert not broken(record) and len(sent) == 1
    # Besides, it says hello with 4 bytes.
    assert sent[0]["counts"]["accepted_bytes"] == told["bytes"] + 4
    assert sum(each["counts"]["returned_bytes"] + each["counts"]["dropped_bytes"] + each["closing"]["unread_bytes"]
               for each in record["sockets"] if each["protocol"] == "udp" and each["local"].endswith(":52017")) \
        == told["bytes"] + 4


def test_datagrams_are_counted_where_control_groups_are_hidden(tmp_path):
    """As `ip netns exec` hides them, behind a sysfs of its own."""
    record, told = tmp_path / "record.json", tmp_path / "told"
    hidden = "mount -t sysfs none /sys; ip link set lo up; exec \"$@\""
    subprocess.run(["unshare", "-m", "-n", "sh", "-c", hidden, "sh", WATCH, "--json", record, "--", *program(told, "told")],
                   check=True, timeout=300)
    agrees(json.loads(record.read_text()), json.loads(told.read_text().splitlines()[-1]), sum(BEFORE.values()))


def test_datagrams_that_find_no_room_are_a_term(tmp_path):
    record = watched(tmp_path, sys.executable, "-c", """
import socket
take = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
take.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
take.bind(("127.0.0.1", 0))
give = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(23):
    give.sendto(bytes(4093), take.getsockname())
take.recv(65536)
""")
    found, closing = sums(record), record["total"]["closing"]
    assert found["accepted_bytes"] == PRIME and found["returned_bytes"] == 4093
    assert found["dropped_bytes"] > 0
    assert found["returned_bytes"] + found["dropped_bytes"] + closing["unread_bytes"] == PRIME
    assert not broken(record)


def test_an_end_that_no_program_saw_is_noticed(tmp_path):
    def unseen(*words: str) -> int:
        file = tmp_path / "record.json"
        assert watch(*words, "--json", file, "--", sys.executable, "-c", SEGMENTS + LET_GO).returncode == 0
        return record_of(file)["losses"]["unseen_events"]

    # A kernel that stops a task inside a program runs it for no other of that CPU meanwhile: then the watch says so of what
    # nobody skipped, or has no book whose end it could miss.
    assert any(not unseen() for _ in range(5))
    assert any(unseen("--break", "skip-ends") >= 2 for _ in range(5))


def test_a_socket_that_moves_nothing_is_listed_if_it_has_an_address(tmp_path):
    with subprocess.Popen([sys.executable, "-c", IDLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as run:
        assert run.stdout.readline() == "ready\n"
        watching = Watching("-p", run.pid)
        record = watching.close()
        run.stdin.write("\n")
    assert [each["protocol"] for each in record["sockets"]] == ["udp"] and not broken(record)


@pytest.mark.parametrize("cut, needless", [(0, True), (1400, False)], ids=["whole", "cut by UDP_SEGMENT"])
def test_zero_copy_above_the_mtu_is_declined_by_send(tmp_path, cut, needless):
    record = tmp_path / "record.json"
    done = subprocess.run(["unshare", "-n", "sh", "-c", "ip link set lo up mtu 1500; exec \"$@\"", "sh", WATCH, "--json",
                           record, "--", sys.executable, "-c", LARGE, str(cut)], text=True, capture_output=True, timeout=300,
                          check=True)
    told = json.loads(record.read_text())
    found, sent = sums(told), 230 * 3000
    assert found["zerocopy_sends"] == found["completed_sends"] == 230
    assert found["copied_sends"] == int(done.stdout.split()[-1])
    law, = (law for law in told["laws"] if law["law"] == "completion")
    assert law["status"] == "balanced" and law["left"] == law["right"] == 230
    assert found["tx_copy"] == (sent if needless else 0)
    assert [cause["bytes"] for cause in told["causes"] if cause["cause"] == "UDP without checksum offload"] \
        == ([sent] if needless else [])
    assert ("it copied 690 kB inside send" in all_told(told)[0]) == needless


def test_a_sender_is_told_no_drop_of_what_it_sent(tmp_path):
    """The receiver's queue refuses most of it, which nobody watches."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as take:
        take.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
        take.bind(("127.0.0.1", 0))
        send = f"""
import socket
give = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(230):
    give.sendto(bytes(1000), ("127.0.0.1", {take.getsockname()[1]}))"""
        said = watch("--", sys.executable, "-c", send).stderr
    assert "on their way" not in said
    assert "receivers that are not watched: not measured" in " ".join(said.split())


def test_sends_that_fail_are_counted_by_their_error(tmp_path):
    record = watched(tmp_path, sys.executable, "-c", """
import errno, socket
nobody = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
nobody.bind(("127.0.0.1", 0))
give = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
give.connect(nobody.getsockname())
nobody.close()
for size, error in [(1000, None), (1000, errno.ECONNREFUSED), (70000, errno.EMSGSIZE), (70001, errno.EMSGSIZE)]:
    try:
        give.send(bytes(size))
        assert not error
    except OSError as failed:
        assert failed.errno == error
""")
    assert record["total"]["failed_sends"] == {"EMSGSIZE": 2, "ECONNREFUSED": 1}
    assert sums(record)["accepted_bytes"] == 1000
