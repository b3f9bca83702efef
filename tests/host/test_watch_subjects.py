# SPDX-License-Identifier: GPL-2.0
"""Whom a watch is about: a control group, a network namespace, the whole machine, and nobody else."""
from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers.records import needs_root
from helpers.small_program import FRAME, Program
from helpers.windows import Watching, unbalanced

pytestmark = needs_root
INSIDE, OUTSIDE, PRIME = 4321, 1234, 94_139
OTHER_NETNS = ("unshare", "--net")


def talk(count: int) -> str:
    """Sends over a connection that was there, and as much over a new one."""
    return (f"a.send(bytes({count})); take(b, {count})\n"
            f"c, d = pair(); c.send(bytes({count})); take(d, {count})")


def of_processes(record: dict) -> dict[int, tuple[int, int]]:
    """By pid: bytes accepted and returned."""
    return {each["pid"]: (each["sum"]["counts"]["accepted_bytes"],
                          each["sum"]["counts"]["returned_bytes"]) for each in record["processes"]}


def both(inside: Program, outside: Program, *words) -> dict:
    """The record of a window in which both programs do their one thing."""
    watching = Watching(*words)
    inside.do()
    outside.do()
    record = watching.close()
    # With --all there are sockets of others, whose laws are not this test's.
    ours = {inside.process.pid, outside.process.pid}
    assert not unbalanced(record | {"sockets": [each for each in record["sockets"]
                                                if each["pid"] in ours]})
    return record


@pytest.fixture(name="programs")
def two_programs(request):
    """One as the test wants it, and one beside it that is no part of the subject."""
    programs = Program(talk(INSIDE), getattr(request, "param", ())), Program(talk(OUTSIDE))
    yield programs
    for each in programs:
        each.end()


@pytest.fixture(name="cgroup")
def new_cgroup():
    """A control group of version 2 of our own; its processes go back up at the end."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    mount = next((Path(each[1]) for each in mounts if each[2] == "cgroup2"), None)
    if not mount:
        pytest.skip("no cgroup file system of version 2 is mounted")
    folder = mount / f"copyscope-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made: {error.strerror}")
    yield mount, folder
    for pid in (folder / "cgroup.procs").read_text().split():
        (mount / "cgroup.procs").write_text(pid)
    folder.rmdir()


def test_a_cgroup_is_its_processes(cgroup, programs):
    (mount, folder), (inside, outside) = cgroup, programs
    (folder / "cgroup.procs").write_text(str(inside.process.pid))
    record = both(inside, outside, "--cgroup", f"/{folder.relative_to(mount)}")
    assert of_processes(record) == {inside.process.pid: (2 * INSIDE, 2 * INSIDE)}
    assert record["processes"][0]["cgroup"] == f"/{folder.relative_to(mount)}"


def test_who_enters_a_cgroup_belongs_to_it_from_then_on(cgroup, programs):
    (_, folder), (inside, outside) = cgroup, programs
    watching = Watching("--cgroup", folder)
    (folder / "cgroup.procs").write_text(str(inside.process.pid))
    inside.do()
    outside.do()
    record = watching.close()
    assert of_processes(record) == {inside.process.pid: (2 * INSIDE, 2 * INSIDE)}
    assert not unbalanced(record)


ENTERS = """import os
def moves(s, r):
    if not (child := os.fork()):
        open({procs!r}, "w").write(str(os.getpid()))
        s.send(bytes({count})); take(r, {count}); os._exit(0)
    os.waitpid(child, 0); s.close(); r.close()
moves(a, b)
moves(*pair())"""


def test_who_enters_a_cgroup_brings_along_the_sockets_that_others_close(cgroup):
    folder = cgroup[1]
    parent = Program(ENTERS.format(procs=str(folder / "cgroup.procs"), count=INSIDE))
    watching = Watching("--cgroup", folder)
    parent.do()
    record = watching.close()
    parent.end()
    assert sorted(of_processes(record).values()) == [(INSIDE, INSIDE)] * 2
    assert len(record["sockets"]) == 4 and not unbalanced(record) and not any(record["losses"].values())


def test_who_only_waits_in_a_cgroup_belongs_to_it_too(cgroup, programs):
    (_, folder), (inside, _) = cgroup, programs
    watching = Watching("--cgroup", folder)
    (folder / "cgroup.procs").write_text(str(inside.process.pid))
    time.sleep(0.2)
    assert watching.process.poll() is None
    record = watching.close()
    assert of_processes(record) == {inside.process.pid: (0, 0)}
    assert record["processes"][0]["joined"]


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is missing")
def test_cgroups_within_others_are_named_and_their_files_are_not_looked_at(cgroup, programs, tmp_path):
    """A host has hundreds of them, with some twenty files each."""
    (mount, folder), (inside, _) = cgroup, programs
    within = folder / "a/b"
    (folder / "c").mkdir()
    within.mkdir(parents=True)
    try:
        (within / "cgroup.procs").write_text(str(inside.process.pid))
        watching = Watching("-p", inside.process.pid, "--seconds", 0.5,
                            start=("strace", "-f", "-qq", "-e", "signal=none", "-e", "trace=file", "-o", tmp_path / "calls"))
        inside.do()
        record, = watching.records()
        assert record["processes"][0]["cgroup"] == f"/{within.relative_to(mount)}"
        calls = (tmp_path / "calls").read_text()
        assert f'"{folder}"' in calls and not re.findall(rf'"{mount}/.*cgroup\..*"', calls)
    finally:
        (folder / "cgroup.procs").write_text(str(inside.process.pid))
        for each in (within, within.parent, folder / "c"):
            each.rmdir()


@pytest.mark.parametrize("programs", [OTHER_NETNS], indirect=True)
def test_a_network_namespace_is_its_sockets(programs):
    inside, outside = programs
    record = both(inside, outside, "--netns", inside.process.pid)
    assert of_processes(record) == {inside.process.pid: (2 * INSIDE, 2 * INSIDE)}
    assert len({each["netns"] for each in record["sockets"]}) == 1
    assert len(record["sockets"]) == 4


@pytest.mark.parametrize("programs", [OTHER_NETNS], indirect=True)
def test_all_is_every_namespace(programs):
    inside, outside = programs
    record = both(inside, outside, "--all")
    found = of_processes(record)
    assert found[inside.process.pid] == (2 * INSIDE, 2 * INSIDE)
    assert found[outside.process.pid] == (2 * OUTSIDE, 2 * OUTSIDE)


NAMED = "import ctypes\nctypes.CDLL(None).prctl(15, {name!r})\n"
# A child that its first word names, and no name of the kernel's.
LATE = """
subprocess.run(["cs-late", "-c", {code!r}], executable=sys.executable, check=True)"""
TALKS = "import socket; l = socket.create_server((\"127.0.0.1\", 0)); a = socket.create_connection(l.getsockname())\n" \
    "b = l.accept()[0]; a.send(bytes({count}))\nleft = {count}\nwhile left: left -= len(b.recv(left))"


def test_of_one_kind_any_name_fits_and_of_several_kinds_each():
    bodies = {b"cs-one": talk(INSIDE), b"cs-two": talk(2 * INSIDE),
              b"other": talk(OUTSIDE) + LATE.format(code=TALKS.format(count=3 * INSIDE))}
    programs = {name: Program(body + "\ntold['port'] = a.getpeername()[1]", before=NAMED.format(name=name))
                for name, body in bodies.items()}
    one, two, other = (each.process.pid for each in programs.values())
    ports = [int(re.search(rf":(\d+) .*pid={each},", subprocess.run(
        ["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout)[1]) for each in (one, two)]
    asked = {"both": ("--comm", "cs-one", "--comm", "cs-two"), "glob": ("--comm", "cs-*", "--exclude", "*t?o"),
             "port": ("--comm", "cs-*", "--port", f"{ports[0] - 1}-{ports[0]}"), "pid": ("-p", f"{two},{other}", "--comm", "c*two"),
             "but": ("--all", "--exclude", "cs-t*", "--exclude", f"port={ports[0]}"), "beside": ("-p", two, "-p", other)}
    watching = {each: Watching(*words) for each, words in asked.items()}
    for each in programs.values():
        each.do()
    records = {each: window.close() for each, window in watching.items()}
    for each in programs.values():
        each.end()
    assert not any(unbalanced(record) for name, record in records.items() if name != "but")
    sent = {name: {pid: moved[0] for pid, moved in of_processes(record).items() if moved[0]}
            for name, record in records.items()}
    late, = set(sent["glob"]) - {one}
    assert sent["both"] == {one: 2 * INSIDE, two: 4 * INSIDE}
    assert sent["glob"] == {one: 2 * INSIDE, late: 3 * INSIDE}
    assert sent["port"] == {one: 2 * INSIDE} and records["port"]["subject"]["kind"] == "several"
    assert sent["pid"] == {two: 4 * INSIDE}
    assert {pid: sent["but"].get(pid) for pid in (one, two, other, late)} == {
        one: None, two: None, other: 2 * OUTSIDE, late: 3 * INSIDE}
    assert sent["beside"] == {two: 4 * INSIDE, other: 2 * OUTSIDE, late: 3 * INSIDE}


# Two workers, forked before any window; each tells what it sent as it ends.
PREFORK = """
def work():
    sent = 0
    while (c := listener.accept()[0]):
        while (asked := c.recv(4)) and asked != b"ends":
            c.sendall(bytes(int.from_bytes(asked, "big"))); sent += int.from_bytes(asked, "big")
        c.close()
        if asked == b"ends":
            os.write(1, (json.dumps([os.getpid(), sent]) + "\\n").encode()); os._exit(0)
a.close(); b.close()
for _ in range(2):
    if not os.fork(): work()
print(listener.getsockname()[1], flush=True)
"""


def test_what_a_master_forked_before_belongs_to_it_and_what_nobody_holds_to_its_listener():
    master = subprocess.Popen([sys.executable, "-c", FRAME % (PREFORK, "")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True)
    port = int(master.stdout.readline())
    master.stdout.readline()
    watching = [Watching("-p", master.pid, *more) for more in ((), ("--no-children",))]
    clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(2)]
    for count, client in enumerate(clients, PRIME):
        client.sendall(count.to_bytes(4, "big"))
        while count:
            count -= len(client.recv(count))
    # One waits in the queue of the listener, and has bytes.
    waits = socket.create_connection(("127.0.0.1", port))
    waits.sendall(b"ends")
    time.sleep(0.1)
    whole, alone = (each.close() for each in watching)
    clients[0].sendall(b"ends")
    clients[1].close()
    told = dict([json.loads(master.stdout.readline()) for _ in range(2)])
    master.kill()
    for each in (*clients, waits, master.stdin, master.stdout):
        each.close()
    assert {each["pid"]: each["sum"]["counts"]["accepted_bytes"] for each in whole["processes"]
            if each["pid"]} == told | {master.pid: 0}
    assert sum(told.values()) == whole["total"]["counts"]["accepted_bytes"] == 2 * PRIME + 1
    assert [each["listener_pid"] for each in whole["sockets"] if "listener_pid" in each] == [master.pid]
    # Who holds them is no part of this subject: they are the listener's, and no process's.
    assert of_processes(alone)[master.pid] == (0, 0)
    assert [each["sum"]["sockets"] for each in alone["processes"] if each.get("listener_pid") == master.pid] == [3]


SPLICES = """import tempfile
with tempfile.TemporaryFile() as file:
    file.write(bytes(65536)); file.flush()
    for _ in range(3):
        os.sendfile(a.fileno(), file.fileno(), 0, 65536); take(b, 65536); time.sleep(0.2)"""


def packets_are_watched(record: dict) -> bool:
    """Whether a hook that each packet of the machine passes was attached."""
    return any(probe["hook"] == "tp_btf/net_dev_start_xmit" and probe["status"] == "attached"
               for probe in record["backend"]["probes"])


def test_packets_are_watched_for_a_send_of_the_subject_alone():
    inside, outside = Program(SPLICES), Program(SPLICES)
    watching = [Watching("-p", each.process.pid) for each in (inside, outside)]
    inside.do()
    records = [each.close() for each in watching]
    outside.end()
    inside.end()
    assert [packets_are_watched(record) for record in records] == [True, False]
    assert records[0]["total"]["sites"]["tx_splice"]["bytes"] == 3 * 65536


def test_a_watch_of_an_idle_process_sleeps(programs):
    watching = Watching("-p", programs[0].process.pid)
    status = Path(f"/proc/{watching.process.pid}/status")

    def slept() -> tuple[float, int]:
        lines = dict(line.split(":\t", 1) for line in status.read_text().splitlines())
        return time.monotonic(), int(lines["voluntary_ctxt_switches"])

    time.sleep(0.2)
    begun, before = slept()
    time.sleep(4)
    ended, after = slept()
    assert 0 < after - before <= 2 * (ended - begun)
    watching.close()
