# SPDX-License-Identifier: GPL-2.0
"""Whom a watch is about: a control group, a network namespace, the whole machine, and nobody else."""
from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from helpers.records import needs_root
from helpers.small_program import Program
from helpers.windows import Watching, unbalanced

pytestmark = needs_root
INSIDE, OUTSIDE = 4321, 1234
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
