# SPDX-License-Identifier: GPL-2.0
"""What tests/odd cannot ask of a stranger's books: balances, calls, marks, and faults that are injected."""
from __future__ import annotations

import json
import signal
import socket
import sys
import time

import pytest

from copyscope.report.process_sentence import all_told
from helpers import printed, schemas, watch_tool
from helpers.records import needs_root
from helpers.small_program import Program
from helpers.watch_tool import record_of, watch
from helpers.windows import Watching, bytes_of, laws_of, unbalanced

pytestmark = needs_root


def moved(record: dict) -> tuple[int, int]:
    """Bytes accepted and returned."""
    counts = record["total"]["counts"]
    return counts["accepted_bytes"], counts["returned_bytes"]


# What only a hook in each call told of once, and sequence books called otherwise. Other ways to receive, to
# send and to end a connection are in tests/odd.
ODD_RECEIVES = {
    "peeked, then spliced": (
        "r, w = os.pipe(); a.send(bytes(3000)); time.sleep(.02); b.recv(3000, socket.MSG_PEEK)\n"
        "n = 0\n"
        "while n < 3000: n += os.splice(b.fileno(), w, 3000 - n)", 3000, 3000),
    "failed, then spliced": (
        "import ctypes; r, w = os.pipe(); a.send(bytes(3000)); time.sleep(.02)\n"
        "assert ctypes.CDLL(None).recv(b.fileno(), ctypes.c_void_p(8), 3000, 0) == -1\n"
        "n = 0\n"
        "while n < 3000: n += os.splice(b.fileno(), w, 3000 - n)", 0, 3000),
    "urgent": (
        "a.send(bytes(6)); a.send(b'u', socket.MSG_OOB); time.sleep(.02)\n"
        "b.recv(1, socket.MSG_OOB); take(b, 6); a.send(b'x'); take(b, 1)", 8, 0),
}


@pytest.mark.parametrize("books", ["sequence", "calls"])
@pytest.mark.parametrize("body, copied, passed", ODD_RECEIVES.values(), ids=ODD_RECEIVES)
def test_sequence_books_tell_of_receives_what_calls_tell(body, copied, passed, books):
    _, record = Program(body).watched("--books", books)
    assert bytes_of(record)["rx_copy"] == copied
    assert record["total"]["fate"]["passed_on_bytes"] == passed
    assert not unbalanced(record)


# As ODD_RECEIVES, of sockets that live and die in the window: no call under way excuses a difference.
WHOLE_RECEIVES = {
    "spliced": ("c, d = pair(); c.send(bytes(9000)); c.close(); r, w = os.pipe(); n = 0\n"
                "while n < 5000: n += os.splice(d.fileno(), w, 5000 - n)\n"
                "take(d, 4000); d.close(); time.sleep(.1)", 5000, "balanced"),
    "urgent byte skipped": ("c, d = pair(); c.send(bytes(10), socket.MSG_OOB); c.send(bytes(10)); time.sleep(.05)\n"
                            "take(d, 19); c.close(); d.close(); time.sleep(.1)", None, "not testable"),
}


@pytest.mark.parametrize("words", [("--books", "calls"), ("--sizes",), ("--stacks",)], ids=" ".join)
@pytest.mark.parametrize("body, passed, law", WHOLE_RECEIVES.values(), ids=WHOLE_RECEIVES)
def test_receives_balance_where_bytes_leave_by_no_receive(body, passed, law, words):
    _, record = Program(body).watched(*words)
    assert record["total"]["fate"]["passed_on_bytes"] == passed
    assert [each["laws"]["receives"]["status"] for each in record["sockets"]
            if each["counts"]["returned_bytes"] != 0] == [law]
    assert not unbalanced(record)


REFUSED = """
import socket
early, other = socket.socket(), socket.socket(socket.AF_UNIX)
def refused(sock, *option):
    try: sock.setsockopt(*option)
    except OSError: return 1
    return 0
print(sum(refused(early, 6, 31, b"tls") for _ in range(3)), sum(refused(other, 1, 60, 1) for _ in range(2)))
"""


def test_options_that_the_kernel_refused_are_told_with_their_error(tmp_path):
    run = watch("--detail", "--json", tmp_path / "record.json", "--", sys.executable, "-c", REFUSED)
    assert run.stdout.strip() == "3 2"
    record = record_of(tmp_path / "record.json")
    told = {each["request"]: (each["calls"], each["last_error"]) for each in record["refused_requests"]}
    assert told["SO_ZEROCOPY"] == (2, "EOPNOTSUPP") and told["kernel TLS"][0] == 3
    assert f"Refused: kernel TLS 3 times ({told['kernel TLS'][1]})" in run.stderr


def test_what_nobody_counted_was_not_refused_0_times(tmp_path):
    watch("--json", tmp_path / "record.json", "--", sys.executable, "-c", REFUSED)
    record = record_of(tmp_path / "record.json")
    assert record["refused_requests"] is None or record["backend"]["name"] == "trampoline"


BY_UNIX_SOCKETS = """
import socket
a, b = socket.socketpair()
a.sendall(bytes(50000)); n = 0
while n < 50000: n += len(b.recv(50000))
"""


def test_unix_sockets_that_moved_bytes_are_named_with_their_number(tmp_path):
    file = tmp_path / "record.json"
    watch("--json", file, "--", sys.executable, "-c", BY_UNIX_SOCKETS)
    record = record_of(file)
    unix = {each["what"]: each for each in record["not_covered"]}["UNIX sockets"]
    # The one that was read from; the other one, and descriptors of the test's own, if a walk met them.
    assert unix["seen"] and unix["sockets"] >= 1
    assert all("moved no payload over TCP or UDP; what passed" in each for each in all_told(record))


# Family, type, protocol.
UNCOVERED = {"raw sockets": (2, 3, 1), "packet sockets": (17, 3, 0), "vsock sockets": (40, 1, 0), "AF_XDP sockets": (44, 3, 0)}
# Of those that this kernel has.
HOLDS = f"""held, names = [], []
for name, kind in {UNCOVERED}.items():
    try: held += [socket.socket(*kind) for _ in range(2)]; names.append(name)
    except OSError: pass
"""


def test_sockets_that_no_book_covers_are_named_by_kind_and_number():
    told, record = Program("told['held'] = names", before=HOLDS).watched()
    found = {each["what"]: (each["seen"], each["sockets"]) for each in record["not_covered"]}
    assert {"raw sockets", "packet sockets"} <= set(told["held"])
    assert {name: found[name] for name in UNCOVERED} == {
        name: (True, 2) if name in told["held"] else (False, None) for name in UNCOVERED}


def test_a_socket_that_a_command_brings_along_is_its_own(tmp_path):
    file, reads = tmp_path / "record.json", "import os\nn = 0\nwhile n < 130000: n += len(os.read(0, 65536))"
    with socket.create_server(("127.0.0.1", 0)) as listener, \
         socket.create_connection(listener.getsockname()) as far, listener.accept()[0] as brought:
        far.sendall(bytes(130000))
        watch("--json", file, "--", sys.executable, "-c", reads, stdin=brought)
    record = record_of(file)
    assert moved(record) == (0, 130000) and not unbalanced(record)


def test_a_socket_that_is_reset_before_it_is_accepted_is_read_or_told_of():
    program = Program("c = socket.create_connection(listener.getsockname()); c.send(bytes(3001)); time.sleep(.1)\n"
                      "c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); c.close()")
    window = Watching("-p", program.process.pid)
    program.do()
    record = window.close()
    program.end()
    losses, (probes,) = record["losses"], [law for law in record["laws"] if law["law"] == "probes"]
    shown = " ".join(printed.shown(record).split())
    if losses["unseen_may_be_closed"]:
        assert losses["unseen_events"] and probes["status"] == "not testable" and "wait in a queue to be accepted" in shown
    else:
        assert "wait in a queue" not in shown and not losses["unseen_events"]


def test_unread_and_unsent_bytes_are_balances():
    program = Program("a.setblocking(False)\n"
                      "try:\n"
                      "    while True: a.send(bytes(100000))\n"
                      "except BlockingIOError: pass")
    first = Watching("-p", program.process.pid)
    program.do()
    record = first.close()
    closing = record["total"]["closing"]
    accepted, returned = moved(record)
    assert returned == 0 and closing["unread_bytes"] > 0
    assert accepted == closing["unread_bytes"] + closing["unsent_bytes"]
    second = Watching("-p", program.process.pid).close()
    opening = second["total"]["opening"]
    assert accepted == opening["unread_bytes"] + opening["unsent_bytes"]
    assert moved(second) == (0, 0)
    assert not unbalanced(record) and not unbalanced(second)
    program.end()


def test_a_program_that_becomes_another_keeps_its_books():
    program = Program("os.set_inheritable(a.fileno(), True)\n"
                      "os.execv(sys.executable, [sys.executable, '-c', '''\n"
                      "import socket, sys\n"
                      "a = socket.socket(fileno=%d)\n"
                      "a.send(bytes(222)); print('{}', flush=True); sys.stdin.readline()\n"
                      "''' % a.fileno()])")
    _, record = program.watched()
    assert moved(record)[0] == 222 and not unbalanced(record)


def test_a_socket_that_another_process_takes_over_is_marked():
    body = ("one, two = socket.socketpair(socket.AF_UNIX)\n"
            "child = os.fork()\n"
            "if not child:\n"
            "    os.setsid()\n"
            "    _, fds, _, _ = socket.recv_fds(two, 10, 1)\n"
            "    c = socket.socket(fileno=fds[0]); two.recv(1); c.send(bytes(1000)); c.close()\n"
            "    os._exit(0)\n"
            "c, d = pair(); c.send(bytes(10)); socket.send_fds(one, [b'x'], [c.fileno()]); c.close()\n"
            "one.send(b'y'); os.waitpid(child, 0); take(d, 1010)")
    _, record = Program(body).watched()
    assert moved(record) == (1010, 1010) and not unbalanced(record)
    assert sum(each["handed_on"] for each in record["sockets"]) == 1


def test_more_than_four_gigabytes_on_one_socket():
    body = ("import threading\n"
            "n = (1 << 32) + 12345\n"
            "t = threading.Thread(target=take, args=(b, n)); t.start()\n"
            "data = bytes(1 << 20); left = n\n"
            "while left: left -= a.send(data[:left] if left < len(data) else data)\n"
            "t.join()")
    _, record = Program(body).watched()
    assert moved(record) == ((1 << 32) + 12345,) * 2 and not unbalanced(record)
    assert record["total"]["sites"]["tx_copy"]["bytes"] == (1 << 32) + 12345


def test_the_witness_agrees_with_the_books():
    _, record = Program("c, d = pair()\n"
                        "for i in range(50): c.send(bytes(1000 + i)); take(d, 1000 + i)\n"
                        "a.send(bytes(4000)); take(b, 4000); c.close(); d.recv(1); d.close()\n"
                        "time.sleep(.1)").watched("--books", "calls")
    laws = laws_of(record)
    assert laws["sends"] == laws["receives"] == "balanced" and not unbalanced(record)
    counts = record["total"]["counts"]
    assert counts["send_calls"] == 51 and counts["recv_calls"] == 51


# Sends by reference over c, and takes each notification before the next send.
BY_REFERENCE = ("def by_reference(times):\n"
                "    for _ in range(times):\n"
                "        c.send(bytes(5000), 0x4000000); take(d, 5000)\n"
                "        while True:\n"
                "            try: c.recvmsg(0, 512, 0x2000); break\n"
                "            except BlockingIOError: time.sleep(.001)\n")
ASK = "c, d = pair(); c.setsockopt(socket.SOL_SOCKET, 60, 1)\n"


@pytest.mark.parametrize("words, status", [((), "balanced"),
                                           (("--break", "skip-departures"), "not testable")])
def test_packets_that_no_program_saw_leave_are_noticed(words, status):
    _, record = Program(f"{BY_REFERENCE}by_reference(23)", before=ASK).watched(*words)
    sent = [each for each in record["sockets"] if each["sites"]["tx_reference"]["bytes"]]
    assert [each["sites"]["tx_reference"]["bytes"] for each in sent] == [23 * 5000]
    assert [each["laws"]["reference queue"]["status"] for each in sent] == [status]
    assert sent[0]["counts"]["wire_referenced_bytes"] == (23 * 5000 if status == "balanced" else None)


def test_one_packet_that_no_program_saw_leaves_what_others_show():
    # Another program's packets pass first.
    other, ours = (Program(f"{BY_REFERENCE}by_reference({times})", before=ASK) for times in (3, 23))
    watching = Watching("-p", ours.process.pid, "--break", "skip-arrival")
    for each in (other, ours):
        each.do()
    record = watching.close()
    for each in (other, ours):
        each.end()
    if record["backend"]["name"] == "trampoline":
        pytest.skip("trampolines tell of copies where they are made")
    fate, late = record["total"]["fate"], record["sites"]["late_copy"]
    assert late["bytes"] is None and "skipped" in late["why"]
    assert (fate["copied_later_bytes"], fate["unknown_bytes"], fate["uncopied_bytes"]) == (22 * 5000, 5000, 0)
    assert all("passed while the kernel ran no program" in each for each in all_told(record))


def completion_law(program: Program, *words) -> tuple[int, dict]:
    """Exit status of a watch over the program's one thing, and the law of its completions."""
    watching = Watching("-p", program.process.pid, *words)
    program.do()
    time.sleep(0.05)
    watching.process.send_signal(signal.SIGINT)
    record = json.loads(watching.process.communicate(timeout=60)[0])
    program.end()
    return watching.process.returncode, {law["law"]: law for law in record["laws"]}["completion"]


@pytest.mark.parametrize("before, then, lost", [
    # The next one shows that the first was lost.
    ("", f"{ASK}{BY_REFERENCE}by_reference(3)", 1),
    # Nothing follows, but no packet of the socket has pages of the user any more.
    (ASK, f"{BY_REFERENCE}by_reference(1)", 1),
])
def test_a_lost_completion_breaks_its_law(before, then, lost):
    # Where a packet was sent again the law may not be testable.
    for _ in range(5):
        status, law = completion_law(Program(then, before=before), "--break", "drop-completion")
        if law["status"] != "not testable":
            break
    assert (law["status"], law["residual"], status) == ("broken", lost, 1)


def test_completions_that_all_came_balance():
    status, law = completion_law(Program(f"{BY_REFERENCE}by_reference(3)", before=ASK))
    assert (law["status"], law["left"], law["right"], status) == ("balanced", 3, 3, 0)


def test_a_law_that_breaks_at_one_socket_is_of_its_process_alone():
    bad, good = Program(f"{ASK}{BY_REFERENCE}by_reference(3)"), Program("a.send(bytes(5000)); take(b, 5000)")
    watching = Watching("-p", bad.process.pid, "-p", good.process.pid, "--break", "drop-completion")
    for each in (bad, good):
        each.do()
    time.sleep(0.05)
    record = watching.close(statuses=(0, 1))
    for each in (bad, good):
        each.end()
    broken = {each["law"] for each in record["laws"] if each["status"] == "broken"}
    assert not (faults := schemas.faults(watch_tool.SCHEMA, record)), faults
    assert {each["pid"]: set(each["laws_broken"]) for each in record["processes"]} == {bad.process.pid: broken,
                                                                                  good.process.pid: set()}
