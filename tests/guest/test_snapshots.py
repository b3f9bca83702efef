# SPDX-License-Identifier: GPL-2.0
"""A guest that is restored is as one that boots, but for time and chance; what cannot be restored boots."""
from __future__ import annotations

import functools
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from copyscope.common.tree import CACHE
from copyscope.files import cache as cached_files
from copyscope.guest import architectures, command, kernels, snapshots
from copyscope.guest.streams import Teller
from guest.boots import TIMEOUT_S
from helpers import foreign
from helpers.processes import wait_until

ROOT = Path(__file__).resolve().parents[2]
GUEST = ROOT / "tools" / "guest"
RELEASE = "6.12"
WAIT_S = 300
# What a command can do, and what must differ between two guests: time, numbers by chance, an identity.
SCRIPT = """
    cat {0}; cat {0} {0} >/dev/stderr
    mkdir /out/deep; cp {0} /out/deep/payload
    {{ pwd; id -u; ulimit -l; hostname; uname -r; cat /proc/cmdline /proc/sys/kernel/tainted; nproc
       ls / /job /tmp; stat -c '%a %n' /tmp /out /job/command; env | grep -v ^COPYSCOPE_MARK | sort
       ip link add v0 type veth peer name v1 && cat /sys/class/net/v0/mtu; }} >/out/facts
    {{ /usr/bin/date +%s.%N; cat /proc/sys/kernel/random/uuid /proc/sys/kernel/random/boot_id
       cat /sys/class/net/v0/address; od -An -tx1 -N16 /dev/urandom; }} >/out/own
    exit 42"""


class Place:
    """A cache of its own, with the kernels that are here."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.payload = folder, folder / "payload"
        self.payload.write_bytes(bytes(range(256)) * 1201 + b"\0\n\xff")
        (folder / "kernels").symlink_to(CACHE / "kernels")

    def words(self, *options: str | Path) -> tuple:
        """A command line whose guest prints its release."""
        return (GUEST, "--kernel", RELEASE, "--tell", "it", *options, "--", "uname", "-r")

    @property
    def environment(self) -> dict[str, str]:
        """What makes it the cache."""
        return {**os.environ, "COPYSCOPE_CACHE": str(self.folder)}

    def run(self, *words) -> subprocess.CompletedProcess:
        """Run a guest to its end."""
        return subprocess.run(words, capture_output=True, check=False, timeout=TIMEOUT_S, env=self.environment)

    def kept(self) -> list[Path]:
        """The snapshots."""
        return sorted(self.folder.glob("guest-snapshots/[0-9]*"))

    def do_all(self, name: str) -> subprocess.CompletedProcess:
        """Do all that the script does."""
        out = self.folder / name
        before = time.time()
        done = self.run(GUEST, "--kernel", RELEASE, "--out", out, "--add", self.payload, "--", "bash", "-c",
                        SCRIPT.format(self.payload))
        done.out, done.span = out, (before, time.time())
        return done


@pytest.fixture(scope="module", name="place")
def fixture_place(tmp_path_factory) -> Place:
    """The cache of this file."""
    return Place(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module", name="three")
def fixture_three(place) -> list[subprocess.CompletedProcess]:
    """A guest that boots and is saved, and two that are restored."""
    first = place.do_all("first")
    assert len(place.kept()) == 1, first.stderr[-2000:]
    return [first, place.do_all("second"), place.do_all("third")]


def said(done: subprocess.CompletedProcess) -> list[str]:
    """The lines about what was done."""
    return [line.removeprefix("tools/guest: ") for line in done.stderr.decode().splitlines()]


def booted(done: subprocess.CompletedProcess) -> bool:
    """Did it say so? Whatever it did, the result must be right."""
    assert done.returncode == 0 and done.stdout.decode().startswith(f"{RELEASE}."), done.stderr
    ways = [line.split()[0] for line in said(done) if " kernel " in line and line.endswith(" in QEMU")]
    return ways[-1] == "booting"


def of_command(done: subprocess.CompletedProcess) -> bytes:
    """What the command wrote on stderr: on a busy machine a guest may hang while it boots, and is booted again."""
    told = done.stderr
    while told.startswith(b"tools/guest: "):
        told = told.partition(b"\n")[2]
    return told


def test_a_restored_guest_gives_what_a_booted_one_gives(place, three):
    for done in three:
        assert (done.returncode, done.stdout) == (42, place.payload.read_bytes())
        assert of_command(done) == 2 * place.payload.read_bytes()
    first, *others = three
    for done in others:
        assert (done.out / "deep/payload").read_bytes() == place.payload.read_bytes()
        assert (done.out / "facts").read_text() == (first.out / "facts").read_text()
    assert not booted(place.run(*place.words()))


def test_its_clock_is_right(three):
    for done in three:
        before, after = done.span
        assert before - 2 < float((done.out / "own").read_text().split()[0]) < after + 2
    # Their snapshot is older.
    assert three[2].span[0] > three[0].span[1] + 0.1


def test_nothing_by_chance_is_the_same_in_two(three):
    ours = [(done.out / "own").read_text().splitlines()[1:] for done in three]
    assert all(len(lines) == 4 and all(lines) for lines in ours)
    for values in zip(*ours):
        assert len(set(values)) == len(three), values


def test_no_snapshot_boots(place, three):
    snapshot = place.kept()[0].stat()
    assert booted(place.run(*place.words("--no-snapshot")))
    assert [path.stat().st_ino for path in place.kept()] == [snapshot.st_ino]
    assert place.kept()[0].stat().st_mtime == snapshot.st_mtime


def cut(snapshot: Path) -> None:
    """A piece of the file is missing."""
    os.truncate(snapshot, snapshot.stat().st_size // 2)


def cut_well(snapshot: Path) -> None:
    """The same, but its first line knows: QEMU must tell."""
    cut(snapshot)
    line = snapshot.read_bytes()[:snapshots.HEADER_BYTES].split()
    line[-1] = b"%d" % snapshot.stat().st_size
    with open(snapshot, "r+b") as stream:
        stream.write(b" ".join(line).ljust(snapshots.HEADER_BYTES - 1) + b"\n")


def of_another(snapshot: Path) -> None:
    """The file has the name of another guest's."""
    with open(snapshot, "r+b") as stream:
        stream.seek(len("copyscope snapshot "))
        stream.write(b"0" * 64)


def of_another_qemu(snapshot: Path) -> None:
    """What QEMU wrote is of a version that ours does not know."""
    with open(snapshot, "r+b") as stream:
        stream.seek(snapshots.HEADER_BYTES + 4)
        stream.write(b"\xff" * 4)


@pytest.mark.parametrize("damage", [cut, of_another_qemu, *(pytest.param(each, marks=pytest.mark.long)
                                                            for each in (cut_well, of_another))])
def test_what_does_not_restore_is_one_line_a_boot_and_a_new_snapshot(place, three, damage):
    damage(place.kept()[0])
    damaged = place.kept()[0].stat()
    done = place.run(*place.words())
    assert booted(done)
    assert ["was thrown away" in line for line in said(done)].count(True) == 1, said(done)
    assert len(said(done)) <= 4
    assert len(place.kept()) == 1 and place.kept()[0].stat().st_size > damaged.st_size or damage in (
        of_another, of_another_qemu)
    assert not booted(place.run(*place.words()))


def test_another_kernel_emulator_or_machine_has_another_snapshot(tmp_path):
    image, qemu = tmp_path / "vmlinuz", tmp_path / "qemu"
    image.write_bytes(b"one kernel")
    qemu.write_bytes(b"QEMU")
    kernel = kernels.Kernel("6.12.1", image, tmp_path)

    def key(*parts: str) -> str:
        return snapshots.Snapshot(kernel, [*parts], str(qemu)).key
    keys = [key("-smp 1"), key("-smp 2")]
    state = image.stat()
    image.write_bytes(b"two kernel")
    os.utime(image, ns=(state.st_atime_ns, state.st_mtime_ns))
    keys.append(key("-smp 1"))
    os.utime(qemu, (1, 1))
    keys.append(key("-smp 1"))
    assert len(set(keys)) == 4 and keys[-1] == key("-smp 1")


@pytest.fixture(name="small_disk")
def fixture_small_disk(tmp_path, monkeypatch) -> Iterator[Path]:
    """A disk of 64 MiB for snapshots."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", tmp_path], check=True)
    monkeypatch.setattr(snapshots, "SNAPSHOTS", tmp_path)
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


@pytest.mark.parametrize("seen", ["before", pytest.param("while it is written", marks=pytest.mark.long)])
def test_a_full_disk_is_one_line(small_disk, monkeypatch, capfd, seen):
    if seen != "before":
        usage = shutil.disk_usage("/")._replace(free=1 << 40)
        monkeypatch.setattr(snapshots.shutil, "disk_usage", lambda place: usage)
    assert command.act(["--kernel", RELEASE, "--", "uname", "-r"], Teller()) == 0
    printed, told = capfd.readouterr()
    assert printed.startswith(f"{RELEASE}.") and told.count("\n") == 1 and "no snapshot of this guest is kept" in told
    assert [path.name for path in small_disk.iterdir()] == ["lock"]
    assert shutil.disk_usage(small_disk).used == 0 or seen != "before"


def test_the_snapshots_used_longest_ago_go_first(tmp_path):
    for age, name in enumerate(("new", "used", "old", "oldest")):
        (tmp_path / name).write_bytes(b"x" * 100)
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    cached_files.drop_beyond(tmp_path.iterdir(), 250)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "used"]


def test_the_bound_holds_for_what_is_kept_now(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots, "SNAPSHOTS", tmp_path)
    monkeypatch.setattr(snapshots, "MOST_BYTES", 5000)
    (tmp_path / "vmlinuz").write_bytes(b"kernel")
    kernel = kernels.Kernel("6.12.1", tmp_path / "vmlinuz", tmp_path)
    kept = []
    for number in range(3):
        kept.append(snapshots.Snapshot(kernel, [str(number)], str(tmp_path / "vmlinuz")))
        with kept[-1].claimed() as ours, kept[-1].made() as descriptor:
            assert ours
            os.write(descriptor, b"x" * 2000)
        os.utime(kept[-1].path, (number, number))
    assert [snapshot.path.exists() for snapshot in kept] == [False, True, True]
    with kept[2].opened() as descriptor:
        kept[2].drop()  # another process may, meanwhile
        assert os.read(descriptor, 3000) == b"x" * 2000


def files_of(pid: str) -> list[str]:
    """What a process has open; nothing of one that ended, at any moment of the look."""
    folder, files = f"/proc/{pid}/fd", []
    try:
        for descriptor in os.listdir(folder):
            files.append(os.readlink(f"{folder}/{descriptor}"))
    except OSError:
        pass
    return files


def maker(process: subprocess.Popen, place: Path) -> str:
    """The QEMU that writes a snapshot now; empty if none does."""
    for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        if any(file.startswith(f"{place}/#") for file in files_of(child)):
            return child
    return ""


def is_alive(pid: str) -> bool:
    """Say whether a process runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_a_kill_while_it_is_saved_leaves_nothing(tmp_path, number):
    place = Place(tmp_path)
    snapshots_here = tmp_path / "guest-snapshots"
    with subprocess.Popen(place.words(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env=place.environment) as process:
        qemu = wait_until(lambda: maker(process, snapshots_here), WAIT_S)
        process.send_signal(number)
        process.wait(WAIT_S)
    wait_until(lambda: not is_alive(qemu), WAIT_S)
    assert [path.name for path in snapshots_here.iterdir()] == ["lock"]


# As the guests of many files do side by side.
@pytest.mark.long
def test_of_two_at_once_one_makes_the_snapshot_and_both_run(place):
    before = len(place.kept())
    both = [subprocess.Popen(place.words("--memory", "300M"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=place.environment) for _ in range(2)]
    for each in both:
        printed, told = each.communicate(timeout=TIMEOUT_S)
        assert each.returncode == 0 and printed.decode().startswith(f"{RELEASE}."), told
        assert len(told.splitlines()) == 2, told
    assert len(place.kept()) == before + 1


def fetch(port: int) -> str:
    """What the guest's server says, once it listens: to one client, which therefore waits for it."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as connection:
            return connection.recv(100).decode()
    except OSError:
        return ""


def test_a_restored_guest_is_reached_by_its_nics(place):
    script = "for nic in 0 1 2; do cat /sys/class/net/eth$nic/address; done; echo hello | nc -l -p 80"
    told = []
    for way in ("booting", "restoring"):
        port = foreign.free_port()
        with subprocess.Popen([GUEST, "--kernel", RELEASE, "--tell", "it", "--nics", "2", "--forward", f"{port}:80", "--",
                               "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=place.environment) as process:
            assert wait_until(functools.partial(fetch, port), WAIT_S) == "hello\n"
            printed, complained = process.communicate(timeout=WAIT_S)
            assert process.returncode == 0 and way in complained, complained
        told.append(printed)
    assert told[0] == told[1] and len(set(told[0].split())) == 3


@pytest.mark.parametrize("words", [["--icount"], *(pytest.param(each, marks=pytest.mark.long) for each in (
    ["--plugin", "counting.so"], ["--model", "zen2"], ["--arch", "arm64"]))])
def test_what_counts_instructions_boots(words):
    words = [str(ROOT / "build" / word) if word.endswith(".so") else word for word in words]
    options = command.read_arguments(["--kernel", RELEASE, *words, "--", "true"])
    assert not command.job_of(options, kernels.get(RELEASE, architectures.get(None)), None).has_snapshots()
