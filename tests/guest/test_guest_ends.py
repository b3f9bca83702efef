# SPDX-License-Identifier: GPL-2.0
"""tools/guest says what it does; a signal ends it in a line, and nothing that it started is left."""
from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from copyscope.guest import streams
from helpers.processes import state_of, wait_until

ROOT = Path(__file__).resolve().parents[2]
GUEST = ROOT / "tools" / "guest"
# Far above what a busy machine takes: a test that fails may be slow, one that passes is not.
WAIT_S = 300


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_qemu_outlives_a_signal(number):
    with subprocess.Popen([GUEST, "--kernel", "6.1", "--tell", "a sleep", "--", "sh", "-c",
                           "echo up; sleep 1000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert b"ing kernel 6.1." in process.stderr.readline()
        assert process.stdout.read(3) == b"up\n"
        assert process.stderr.readline().endswith(b" s; running a sleep\n")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(children) == 1
        process.send_signal(number)
        assert process.wait(WAIT_S) == (-9 if number == signal.SIGKILL else 128 + number)
        # It would run for as long as its command sleeps.
        wait_until(lambda: not alive(children[0]), WAIT_S)


@pytest.mark.long
def test_a_slow_reader_loses_nothing_when_the_clock_counts_instructions():
    # More than pipes hold. Such a clock skips idle time: the guest must not end by itself before.
    size_bytes = 300_007
    with subprocess.Popen([GUEST, "--kernel", "6.12", "--icount", "--tell", "zeros", "--", "head", "-c",
                           str(size_bytes), "/dev/zero"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert b"booting" in process.stderr.readline()
        assert process.stderr.readline().endswith(b" s; running zeros\n")
        time.sleep(5)
        assert len(process.stdout.read()) == size_bytes
        assert process.wait(WAIT_S) == 0


def test_an_interrupt_before_the_command_begins_ends_in_one_line():
    with subprocess.Popen([GUEST, "--kernel", "6.1", "--no-snapshot", "--tell", "a sleep", "--", "sleep", "1000"],
                          stderr=subprocess.PIPE, text=True) as process:
        assert "booting" in process.stderr.readline()
        machine = wait_until(lambda: children_of(process.pid, "qemu"), WAIT_S)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read().splitlines()
        assert process.wait(WAIT_S) == 130
    assert len(said) == 1 and said[0].startswith("tools/guest: interrupted while booting kernel 6.1.")
    assert said[0].endswith("nothing was run")
    wait_until(lambda: not any(map(alive, machine)), WAIT_S)


def test_an_interrupt_while_it_fetches_leaves_nothing(monkeypatch):
    # A mirror that accepts connections and says nothing.
    with socket.create_server(("127.0.0.1", 0)) as mirror:
        monkeypatch.setenv("COPYSCOPE_DEBIAN_MIRROR", f"http://127.0.0.1:{mirror.getsockname()[1]}/debian")
        monkeypatch.delenv("http_proxy", raising=False)
        with subprocess.Popen([GUEST, "--kernel", "6.1.0-1-cloud-amd64", "--fetch"],
                              stderr=subprocess.PIPE, text=True) as process:
            # Another test may be fetching a kernel.
            said = iter(process.stderr.readline, "")
            assert any("looking for 6.1.0-1" in line for line in said)
            apt = wait_until(lambda: children_of(process.pid, "apt-get"), WAIT_S)
            # Python drops what a signal raises while it runs its own hooks of fork(), beside the child.
            wait_until(lambda: state_of(process.pid) == "S", WAIT_S)
            process.send_signal(signal.SIGINT)
            said = process.stderr.read().splitlines()
            assert process.wait(WAIT_S) == 130
    assert len(said) == 1 and "interrupted while looking for 6.1.0-1" in said[0]
    wait_until(lambda: not any(map(alive, apt)), WAIT_S)


# Both ends of a run, and the threads that they start when the gate is open.
RUNS = """trap : TERM; build/trace_run A3 65536 1 --seconds 600 -q --json /out/record.json &
    until [ $(grep -l 'build/workloa[d]' /proc/[0-9]*/task/*/cmdline | wc -l) -gt 3 ]
    do sleep 0.1; done
    echo up; wait; wait $!"""


def test_a_signal_ends_the_run_in_a_guest_in_order(tmp_path):
    with subprocess.Popen([GUEST, "--kernel", "6.1", "--record", tmp_path / "record.json", "--",
                           "bash", "-c", RUNS], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.read(3) == b"up\n"
            process.terminate()
            status = process.wait(WAIT_S)
        finally:
            process.kill()
    record = json.loads((tmp_path / "record.json").read_text())
    assert record["experiment"]["outcome"]["status"] == "interrupted"
    assert "signal 15 (SIGTERM)" in record["experiment"]["outcome"]["reason"]
    assert status == 128 + signal.SIGTERM and record["experiment"]["outcome"]["status"] == "interrupted"


def test_a_second_signal_stops_a_guest_whose_command_heeds_none():
    script = "trap 'echo heard' TERM; echo up; while :; do sleep 0.1; done"
    with subprocess.Popen([GUEST, "--kernel", "6.1", "--", "bash", "-c", script],
                          stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"up\n"
            process.terminate()
            assert process.stdout.readline() == b"heard\n"
            process.send_signal(signal.SIGINT)
            assert process.wait(WAIT_S) == 128 + signal.SIGINT
        finally:
            process.kill()


def test_a_command_has_its_time_to_end_and_no_longer(monkeypatch):
    monkeypatch.setattr(streams, "END_S", 0.05)
    said = []
    here, there = socket.socketpair()
    with here, there, streams.SignalForwarder(here, lambda: True, said.append) as into:
        into.check_time_limit()
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)  # the same press, twice
        assert there.recv(100) == b"TERM\n"
        into.check_time_limit()
        time.sleep(0.06)
        with pytest.raises(streams.NotEnded, match="had not ended 0.05 s after SIGTERM") as ended:
            into.check_time_limit()
    assert ended.value.status == 128 + signal.SIGTERM
    assert len(said) == 1 and said[0].startswith("SIGTERM: the command was told to end")


def marked(folder: Path) -> list[str]:
    """Names of the processes that live with that folder in their environment."""
    mark, found = f"TMPDIR={folder}\0".encode(), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes() and alive(process.name):
                found.append((process / "comm").read_text().strip())
        except OSError:
            continue  # it has ended
    return found


def qemus(folder: Path) -> list[str]:
    """Pids of the QEMUs, which get a clean environment, of the tools/guest that have that folder in
    theirs."""
    mark, found = f"TMPDIR={folder}\0".encode(), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes():
                found += (process / "task" / process.name / "children").read_text().split()
        except OSError:
            continue  # it has ended
    return [pid for pid in found if program_of(pid).startswith("qemu")]


def children_of(pid: int | str, name: str) -> list[str]:
    """Pids of a process's children that run a program whose name begins so."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [child for child in found if program_of(child).startswith(name)]


def program_of(pid: str) -> str:
    """The name of a process's program; empty if it has ended, as ldd does."""
    try:
        return Path(f"/proc/{pid}/comm").read_text()
    except OSError:
        return ""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, *(pytest.param(each, marks=pytest.mark.long) for each in (
    signal.SIGINT, signal.SIGHUP))])
@pytest.mark.parametrize("tool, kernels", [("trace_run", "6.1"), ("peers", "6.1,6.12")])
def test_a_signal_to_what_runs_a_guest_leaves_nothing(tmp_path, tool, kernels, number):
    record = tmp_path / "record.json"
    folder = tmp_path / "tmp"
    folder.mkdir()
    # Ctrl-C is for a whole group; here it is for the tool alone.
    with subprocess.Popen([ROOT / "tools" / tool, "A3", "65536", "1", "--seconds", "600",
                           "--kernel", kernels, "--json", record], start_new_session=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env={**os.environ, "TMPDIR": str(folder)}) as process:
        try:
            machines = wait_until(lambda: qemus(folder), WAIT_S)
            process.send_signal(number)
            killed = number == signal.SIGKILL
            assert process.wait(WAIT_S) == (-number if killed else 128 + number)
        finally:
            process.kill()
    wait_until(lambda: not marked(folder) and not any(map(alive, machines)), WAIT_S)
    assert not record.exists()
    assert not list(folder.iterdir())


def alive(pid: str) -> bool:
    """Say whether a process runs; a dead one that nobody has collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
