# SPDX-License-Identifier: GPL-2.0
"""tools/facts reads BTF, formats, stacks and addresses as they are, and never makes a number up."""
from __future__ import annotations

import ctypes
import json
import os
import socket
import struct
import threading
import types
from pathlib import Path

import pytest

from copyscope.common.errors import Refused
from copyscope_studies.claims import files, judge, sources
from copyscope_studies.claims.world import World
from copyscope_studies.facts import (
    command,
    fact,
    of_held,
    of_layout,
    of_locks,
    of_messages,
    of_ports,
    of_shared,
    tracepoints,
)
from copyscope_studies.facts.of_layout import VMLINUX, BadBtf, Btf
from copyscope_studies.facts.of_locks import Symbols
from copyscope_studies.facts.tracepoints import Hit
from helpers import schemas

ROOT = Path(__file__).resolve().parents[2]
KALLSYMS = """ffffffff81000000 T _text
ffffffff81000100 T tcp_sendmsg_locked
ffffffff81000200 T lock_sock_nested
ffffffff81000300 t _raw_spin_lock_bh
ffffffff81000400 T tcp_recvmsg
ffffffff82000010 t later_module [m]
"""
MEMORY = """00100000-7fffffff : System RAM
  01000000-019fffff : Kernel code
  01a00000-01bfffff : Kernel rodata
  01c00000-01ffffff : Kernel bss
"""
HIDDEN = "00000000-00000000 : System RAM\n  00000000-00000000 : Kernel code\n"
SEND, LOCK_SOCK, RAW, RECEIVE = (0xffffffff81000110 + 0x100 * number for number in range(4))
FORMAT = """name: contention_begin
ID: 408
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;
\tfield:char comm[16];\toffset:16;\tsize:16;\tsigned:0;
"""


def btf(magic: int = 0xeb9f) -> bytes:
    """struct spin { int at 0 }; typedef spin_t; struct sock { union { spin_t lock } at 64; int count at 96 },
    offsets in bytes here."""
    names = b"\0int\0spin\0spin_t\0sock\0lock\0count\0raw\0"
    at = {name: names.index(b"\0" + name.encode() + b"\0") + 1 for name in
          ("int", "spin", "spin_t", "sock", "lock", "count", "raw")}
    types = struct.pack("<IIII", at["int"], 1 << 24, 4, 32)
    types += struct.pack("<III", at["spin"], 4 << 24 | 1, 4) + struct.pack("<III", at["raw"], 1, 0)
    types += struct.pack("<III", at["spin_t"], 8 << 24, 2)
    types += struct.pack("<III", 0, 5 << 24 | 1, 4) + struct.pack("<III", at["lock"], 3, 0)
    types += struct.pack("<III", at["sock"], 1 << 31 | 4 << 24 | 2, 128) + \
        struct.pack("<III", 0, 4, 64 * 8) + struct.pack("<III", at["count"], 1, 32 << 24 | 96 * 8)
    return struct.pack("<HBBIIIII", magic, 1, 0, 24, 0, len(types), len(types), len(names)) + types + names


def test_members_lie_where_btf_says():
    found = Btf(btf())
    assert found.offset("sock", "lock") == found.offset("sock", "lock.raw") == 64
    assert found.offset("sock", "count") == 96 and found.size("sock") == 128


@pytest.mark.parametrize("data, path, why", [
    (btf(0x9feb), "lock", "byte order"), (b"", "lock", "byte order"), (btf()[:40], "lock", "byte order"),
    (btf(), "none", "has no none"), (btf(), "lock.none", "has no lock.none")])
def test_what_is_no_btf_or_not_in_it_is_refused(data, path, why):
    with pytest.raises(BadBtf, match=why):
        Btf(data).offset("sock", path)


def test_a_kernel_without_btf_gives_no_number(monkeypatch, tmp_path):
    monkeypatch.setattr(of_layout, "VMLINUX", tmp_path / "none")
    found = of_layout.facts()
    assert found and all(each.number is None and "No such file" in each.why for each in found)


@pytest.mark.skipif(not VMLINUX.exists(), reason="this kernel has no BTF")
def test_the_running_kernel_tells_the_layout_of_a_socket():
    lines = {each.of: each.number for each in of_layout.facts()}
    assert set(lines) == set(of_layout.MEMBERS) and all(0 < each < 64 for each in lines.values())


def test_fields_of_a_format_and_of_a_hit():
    fields = tracepoints.fields_of(FORMAT)
    assert fields == {"common_type": (0, 2, False), "common_pid": (4, 4, True), "lock_addr": (8, 8, False)}
    body = struct.pack("<IIQQQI", 7, 8, 2, (1 << 64) - 128, SEND, 16) + struct.pack("<HHiQ", 408, 0, -1, 0xabc)
    assert tracepoints.hit_of(body, fields) == Hit(7, 8, (SEND,), {"common_type": 408, "common_pid": -1,
                                                                   "lock_addr": 0xabc})


def places() -> of_locks.Places:
    """Sockets with a lock at 320 and a queue's lock at 420."""
    return of_locks.Places(range(320, 324), range(420, 424), Symbols(KALLSYMS, MEMORY))


@pytest.mark.parametrize("lock, kind", [
    (5320, "socket"), (9320, "socket"), (5420, "write-queue"), (5324, "other"), (0xffffffff81800000, "global"),
    (0xffff888000000000, "other"), (0xffffffff82000010, "other")])
def test_a_lock_is_told_by_where_it_lies(lock, kind):
    assert places().kind(lock, {5000, 9000}) == kind


def test_waits_outside_of_sends_do_not_count():
    hits = [Hit(1, 1, (RAW, LOCK_SOCK, SEND), {"lock_addr": 5320}), Hit(1, 1, (RAW, SEND), {"lock_addr": 1}),
            Hit(1, 1, (RAW, LOCK_SOCK, RECEIVE), {"lock_addr": 5320})]
    kinds, waiters = of_locks.counted(hits, {5000}, places())
    assert kinds == {"socket": 1, "other": 1}
    assert waiters == {"lock_sock_nested (socket)": 1, "tcp_sendmsg_locked (other)": 1}
    found = {each.of: each.number for each in of_locks.told((kinds, waiters), 0, 1, 10)}
    assert found == {"socket": 1, "write-queue": 0, "global": 0, "other": 1}


@pytest.mark.parametrize("lost, sockets, why", [(3, 1, "3 waits"), (0, 0, "no send")])
def test_waits_that_were_not_all_seen_are_no_0(lost, sockets, why):
    found = of_locks.told(of_locks.counted([], set(), places()), lost, sockets, 10)
    assert len(found) == 4 and all(each.number is None and why in each.why for each in found)


@pytest.mark.parametrize("stack, state, waits", [
    ((LOCK_SOCK, SEND), 2, True), ((LOCK_SOCK, SEND), 0, False), ((SEND,), 2, False), ((LOCK_SOCK, RECEIVE), 2, False)])
def test_a_wait_for_a_shared_socket_is_a_sleep_for_its_lock_within_the_call(stack, state, waits):
    hit = Hit(1, 1, stack, {"prev_state": state})
    assert of_shared.waited(hit, "tcp_sendmsg", Symbols(KALLSYMS, MEMORY)) is waits


def test_a_guest_that_cannot_tell_of_held_pages_gives_no_number(monkeypatch, tmp_path):
    done = {"stdout": "6.12.1\n" + json.dumps({kind: {"left": 1, "moved": 2} for kind in of_held.KINDS}), "stderr": "", "returncode": 0}
    monkeypatch.setattr(of_held, "PROGRAM", tmp_path)
    monkeypatch.setattr(of_held, "run_in_time", lambda *_: types.SimpleNamespace(**done))
    assert {(each.name, each.number) for each in of_held.facts()} == {("pages-swapped", 1), ("pages-moved", 2)}
    done |= {"stdout": "6.12.1\n", "stderr": "x\nmodprobe: no brd\n", "returncode": 1}
    assert {(each.number, each.why) for each in of_held.facts()} == {(None, "modprobe: no brd")}
    monkeypatch.setattr(of_held, "PROGRAM", tmp_path / "none")
    with pytest.raises(Refused, match="run make first"):
        of_held.facts()


def test_hidden_addresses_are_noticed():
    hidden = "0000000000000000 T _text\n"
    assert Symbols(KALLSYMS, MEMORY).known
    assert not Symbols(hidden, MEMORY).known and not Symbols(KALLSYMS, HIDDEN).known and not Symbols("", "").known


def test_linear_bytes_of_packets():
    assert [each.number for each in of_messages.linear_bytes([66, 54, 66])] == [54, 66]
    assert all(each.number is None for each in of_messages.linear_bytes([]))


@pytest.mark.parametrize("pieces, number", [
    ([(0, 8), (8, 8), (16, 8)], 0), ([(0, 8), (24, 8), (32, 8)], 1), ([(32, 8), (16, 8), (0, 8)], 2)])
def test_fields_that_do_not_touch_lie_apart(pieces, number):
    assert of_messages.apart(pieces) == number


def test_pieces_are_read_from_the_memory_of_a_process():
    field = ctypes.create_string_buffer(64)
    at = ctypes.addressof(field)
    vector = ctypes.create_string_buffer(struct.pack("<16Q", *(word for each in range(8) for word in (at + 8 * each, 8))))
    header = ctypes.create_string_buffer(struct.pack("<QQQQ", 0, 0, ctypes.addressof(vector), 8))
    hit = Hit(os.getpid(), 1, (), {"msg": ctypes.addressof(header)})
    assert of_messages.of_hits([Hit(os.getpid(), 1, (), {"msg": 8}), hit], 64)[1] == (at + 8, 8)
    assert of_messages.of_hits([hit], 4096) == []


def test_connections_end_with_the_first_that_fails():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        to = listener.getsockname()
        server = threading.Thread(target=lambda: [listener.accept()[0].close() for _ in range(5)])
        server.start()
        assert of_ports.connect(to, 5, lambda text: None) == (5, "")
        server.join()
    made, why = of_ports.connect(to, 5, lambda text: None)
    assert made == 0 and "refused" in why


def test_a_close_is_acknowledged_in_one_state_alone():
    row = "   {}: 0100007F:{:04X} 0100007F:{:04X} {} 00000000:00000000 03:00001769 00000000 0 0 0 3 x"
    table = "\n".join(["  sl  local_address rem_address   st", row.format(0, 40000, 8080, "05"),
                       row.format(1, 40001, 8080, "04"), row.format(2, 40002, 8081, "05"),
                       row.format(3, 8080, 40000, "08")])
    assert of_ports.acknowledged(table, 8080) == 1


def test_facts_need_root_but_for_the_layout(monkeypatch):
    monkeypatch.setattr(command.os, "geteuid", lambda: 1000)
    command.check(["layout"])
    with pytest.raises(Refused, match="root"):
        command.check(["layout", "locks"])


def judged(tmp_path, predicate: str) -> judge.Verdict:
    """The verdict on a predicate by the facts in a folder."""
    (tmp_path / "mine.toml").write_text(f'[[claims]]\nid = "a"\nstatement = "a"\npredicate = "{predicate}"\n')
    world = World()
    claims = files.read_all([tmp_path / "mine.toml"], world)
    for each in sources.items([tmp_path / "facts.json"], print):
        world.add(each)
    return judge.judge(claims[0], world)


def test_claims_are_judged_by_a_record_that_is_as_its_schema_says(tmp_path):
    none = of_locks.counted([], set(), places())
    data = fact.record([fact.Fact("line", "sk_lock", 5, "a line", "BTF"), *of_locks.told(none, 1, 1, 1)], ["./tools/facts"])
    assert not schemas.faults(ROOT / "docs/facts.schema.json", data)
    (tmp_path / "facts.json").write_text(json.dumps(data))
    assert judged(tmp_path, "fact(name=line, of=sk_lock).number == 5").word == judge.CONFIRMED
    assert judged(tmp_path, "fact(name=line, of=sk_lock).bytes == 4 B").word == judge.REFUTED
    lost = judged(tmp_path, "fact(name=send-lock-waits, of=socket).number == 0")
    assert lost.word == judge.UNDECIDED and "no room" in lost.why[0]
