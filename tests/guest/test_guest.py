# SPDX-License-Identifier: GPL-2.0
"""tools/guest keeps its promises: exact streams and status, files back, no process left behind."""
from __future__ import annotations

import io
import os
import subprocess
import tarfile
import time
from pathlib import Path

import pytest

from copyscope.common import programs as system_helpers, releases
from copyscope.common.errors import Refused, Unusable
from copyscope.guest import architectures, command, debian, kernels, output
from copyscope.guest.streams import Channel, Teller
from guest.boots import EDGES, TIMEOUT_S
from helpers.names import KERNELS

ROOT = Path(__file__).resolve().parents[2]
GUEST = ROOT / "tools" / "guest"
RELEASES = KERNELS
# Every byte value, in a size that is no multiple of any buffer.
PAYLOAD = bytes(range(256)) * 1201 + b"\0\n\xff"
# Far above what a busy machine takes: a test that fails may be slow, one that passes is not.
WAIT_S = 300
DEAD_PROXY = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "ALL_PROXY")}


def guest(*arguments: str, **more) -> subprocess.CompletedProcess:
    """Run tools/guest to its end."""
    return subprocess.run([GUEST, *arguments], capture_output=True, check=False, timeout=TIMEOUT_S,
                          **more)


def last_line(done: subprocess.CompletedProcess) -> str:
    """Return what the person reads last."""
    return done.stderr.decode(errors="replace").rstrip("\n").split("\n")[-1]


# Others boot in other files.
@pytest.fixture(scope="module", params=[pytest.param(each, marks=() if each in EDGES else (pytest.mark.long,))
                                        for each in RELEASES])
def release(request) -> str:
    """A kernel that is here; fetched once, the only step that needs the network."""
    done = guest("--kernel", request.param, "--fetch")
    assert done.returncode == 0, last_line(done)
    return request.param


@pytest.fixture(scope="module")
def boot(release, tmp_path_factory):
    """One boot without network that does all that a well-behaved command can do."""
    folder = tmp_path_factory.mktemp("boot")
    (folder / "payload").write_bytes(PAYLOAD)
    (folder / "words").write_text("added\n")
    script = f"""
        cat {folder}/payload
        cat {folder}/payload {folder}/payload >/dev/stderr
        mkdir -p /out/deep && cp {folder}/payload /out/deep/payload
        ln -s /etc/passwd /out/link
        {{ uname -r; pwd; id -u; id -u nobody; printf '%s\\n' "$COPYSCOPE_WORD" "$1"
           cat {folder}/words; cat /sys/class/net/lo/flags; stat -fc %T /sys/fs/cgroup /sys/fs/bpf
           ulimit -l; hostname; grep -c schedule$ /proc/kallsyms; date +%s; ls tools/guest
           ip link add v0 type veth peer name v1 && cat /sys/class/net/v0/mtu
        }} >/out/facts
        sleep 1000 &
        exit 42"""
    done = guest("--kernel", release, "--out", str(folder / "out"),
                 "--add", str(folder / "payload"), "--add", str(folder / "words"), "--", "bash", "-c", script, "sh", "it's $1 \"x\"",
                 env={**os.environ, **DEAD_PROXY, "COPYSCOPE_WORD": "a b;c"})
    done.out = folder / "out"
    return done


def test_exit_status_is_the_commands(boot):
    assert boot.returncode == 42, last_line(boot)


def test_stdout_is_exact(boot):
    assert boot.stdout == PAYLOAD


def test_stderr_is_exact_and_apart(boot):
    assert boot.stderr.startswith(PAYLOAD * 2)
    assert boot.stderr[len(PAYLOAD) * 2:].count(b"\n") == 1  # the line about the link


def test_files_come_back_without_links(boot):
    assert (boot.out / "deep" / "payload").read_bytes() == PAYLOAD
    assert not os.path.lexists(boot.out / "link")
    assert "link" in last_line(boot)


def test_guest_is_as_promised(boot, release):
    facts = (boot.out / "facts").read_text().splitlines()
    name, now = facts.pop(0), int(facts.pop(12))
    assert name.startswith(release) and abs(now - time.time()) < 120
    assert facts == ["/copyscope", "0", "65534", "a b;c", "it's $1 \"x\"", "added", "0x9",
                     "cgroup2fs", "bpf_fs", "8192", "copyscope-guest", facts[11],
                     "tools/guest", "1500"]
    assert int(facts[11]) > 0


def test_timeout_kills_and_says_so():
    started = time.monotonic()
    done = guest("--kernel", "6.1", "--timeout", "5", "--", "sleep", "1000")
    assert done.returncode == 124 and "stopped after 5 s" in last_line(done)
    assert time.monotonic() - started < WAIT_S


def test_panic_is_told():
    # Output passes through a pump in the guest: what is written at the very end may die with it.
    script = "echo before; sleep 3; echo c >/proc/sysrq-trigger"
    done = guest("--kernel", "6.1", "--", "sh", "-c", script)
    assert done.returncode == 1 and done.stdout == b"before\n"
    assert "the guest stopped before the command ended" in last_line(done)
    assert b"Kernel panic" in done.stderr


def test_kernel_warning_is_not_a_success():
    warn = "echo '<4>WARNING: CPU: 0 PID: 1 at a test' >/dev/kmsg"
    done = guest("--kernel", "6.12", "--", "sh", "-c", warn)
    assert done.returncode == 1 and "WARNING: CPU: 0" in last_line(done)


@pytest.mark.parametrize("arguments, status, words", [
    ([], 2, "--kernel RELEASE is missing"),
    (["--kernel", "host", "--", "true"], 2, "this machine"),
    (["--kernel", "6", "--", "true"], 2, "unknown release"),
    (["--kernel", "6.10", "--", "true"], 2, "unknown release"),
    (["--kernel", "", "--", "true"], 2, "unknown release"),
    (["--kernel", "6.1/../x", "--", "true"], 2, "unknown release"),
    (["--kernel", "6.1"], 2, "no COMMAND"),
    (["--kernel", "6.1", "--"], 2, "no COMMAND"),
    (["--kernel", "6.1", "true"], 2, "unrecognized arguments"),
    (["--kernel", "6.1", "--cpus", "0", "--", "true"], 2, "--cpus"),
    (["--kernel", "6.1", "--cpus", "-1", "--", "true"], 2, "--cpus"),
    (["--kernel", "6.1", "--cpus", "9999999999", "--", "true"], 2, "--cpus"),
    (["--kernel", "6.1", "--memory", "64M", "--", "true"], 2, "--memory"),
    (["--kernel", "6.1", "--memory", "lots", "--", "true"], 2, "--memory"),
    (["--kernel", "6.1", "--timeout", "0", "--", "true"], 2, "--timeout"),
    (["--kernel", "6.1", "--nics", "99", "--", "true"], 2, "--nics"),
    (["--kernel", "6.1", "--forward", "9100", "--", "true"], 2, "--forward"),
    (["--kernel", "6.1", "--forward", "9100:0", "--", "true"], 2, "--forward"),
    (["--kernel", "6.1", "--with", "emacs", "--", "true"], 2, "--with"),
    (["--kernel", "6.1", "--add", "/no/such", "--", "true"], 2, "/no/such"),
    (["--kernel", "6.1", "--out", "/etc/passwd", "--", "true"], 2, "not a folder"),
    (["--kernel", "/no/such/vmlinuz", "--", "true"], 2, "No such file"),
    (["--kernel", "/etc/passwd", "--", "true"], 2, "not a kernel image"),
    (["--kernel", "/etc", "--", "true"], 2, "Is a directory"),
    (["--kernel", "/vmlinuz", "--arch", "arm64", "--", "true"], 2, "must be for amd64"),
    (["--kernel", "6.1", "--modules", "/", "--", "true"], 2, "goes with the path of an image"),
    (["--kernel", "6.1.0-1-cloud-amd64", "--fetch"], 3, "failed"),
])
def test_bad_arguments_get_one_line(arguments, status, words):
    done = guest(*arguments, env={**os.environ, **DEAD_PROXY})
    # Another test may be fetching a kernel.
    lines = [each for each in done.stderr.decode().splitlines() if "waiting for another process" not in each]
    assert done.returncode == status and words in lines[-1] and done.stdout == b""
    assert len(lines) == (2 if "--fetch" in arguments else 1)


def test_an_image_is_taken_by_its_path(tmp_path):
    kernel = kernels.get("6.1", architectures.get(None))
    script = ["--", "sh", "-c", "uname -r; modprobe dummy && echo loaded"]
    done = guest("--kernel", str(kernel.vmlinuz), *script)
    assert done.stdout.decode().split() == [kernel.release, "loaded"]
    (tmp_path / "vmlinuz").symlink_to(kernel.vmlinuz)
    done = guest("--kernel", str(tmp_path / "vmlinuz"), "--modules", str(kernel.modules), *script)
    assert done.stdout.decode().split() == [kernel.release, "loaded"]


def test_an_image_without_modules_is_refused_in_one_line(tmp_path):
    kernel = kernels.get("6.1", architectures.get(None))
    (tmp_path / "vmlinuz").write_bytes(kernel.vmlinuz.read_bytes())
    done = guest("--kernel", str(tmp_path / "vmlinuz"), "--", "true")
    assert done.returncode == 2 and f"no modules of {kernel.release}" in last_line(done)
    assert done.stderr.count(b"\n") == 1


def test_list_needs_no_network():
    done = guest("--list", env={**os.environ, **DEAD_PROXY})
    assert done.returncode == 0
    assert all(f"{name}\tcan be fetched".encode() in done.stdout for name in RELEASES)


def test_missing_qemu_is_refused(monkeypatch):
    # Root takes programs from the system's folders alone, so it is these that must lack it.
    find = system_helpers.find
    monkeypatch.setattr(system_helpers, "find", lambda name: None if "qemu" in name else find(name))
    with pytest.raises(Refused, match="missing: apt-get install"):
        command.act(["--kernel", "6.1", "--", "true"], Teller())


def test_all_that_is_missing_is_named_before_anything_is_fetched(monkeypatch):
    find = system_helpers.find
    monkeypatch.setattr(system_helpers, "find",
                        lambda name: None if "qemu" in name or name == "busybox" else find(name))
    monkeypatch.setattr(kernels, "get", lambda *words: pytest.fail("it asked for a kernel"))
    arch = architectures.get(None)
    with pytest.raises(Refused, match=f"apt-get install {arch.package} busybox-static$"):
        command.act(["--kernel", "6.1", "--", "true"], Teller())


def test_prefix_takes_only_its_own_releases():
    assert releases.matches("6.1.0-56-cloud-amd64", "6.1")
    assert not releases.matches("6.12.95+deb12-cloud-amd64", "6.1")
    assert releases.age_key("6.1.0-9-cloud-amd64") < releases.age_key("6.1.0-10-cloud-amd64")


def test_sources_are_read_in_both_forms(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(
        "# deb http://off.invalid/debian bookworm main\n"
        "deb-src http://src.invalid/debian bookworm main\n"
        "deb [arch=amd64 signed-by=/k.gpg] http://one.invalid/debian bookworm main contrib\n")
    (tmp_path / "sources.list.d" / "debian.sources").write_text(
        "Types: deb deb-src\n# a note\nURIs: http://two.invalid/debian\nSuites: bookworm\n"
        " bookworm-updates\nComponents: main\nSigned-By: /k2.gpg\n\n"
        "Types: deb\nEnabled: no\nURIs: http://no.invalid/\nSuites: sid\nComponents: main\n")
    entries = debian.read(tmp_path)
    assert [(e.uri, e.suites, e.keyring) for e in entries] == [
        ("http://one.invalid/debian", ("bookworm",), "/k.gpg"),
        ("http://two.invalid/debian", ("bookworm", "bookworm-updates"), "/k2.gpg")]


def test_no_debian_mirror_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(debian, "APT", tmp_path)
    (tmp_path / "sources.list").write_text(
        "deb [signed-by=/k] http://u.invalid/ubuntu noble main\n"
        "deb [signed-by=/k] http://p.invalid/pg bookworm-pgdg main\n")
    monkeypatch.delenv("COPYSCOPE_DEBIAN_MIRROR", raising=False)
    with pytest.raises(Refused, match="COPYSCOPE_DEBIAN_MIRROR"):
        debian.archives()


def hostile_archive(target: Path) -> io.BytesIO:
    """What a guest may send: a link, and names that lead through it, up or to the root."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        link = tarfile.TarInfo("trap")
        link.type, link.linkname = tarfile.SYMTYPE, str(target)
        archive.addfile(link)
        for name in ("../escaped", "trap/escaped", "/abs", "fine"):
            member = tarfile.TarInfo(name)
            member.size = 3
            archive.addfile(member, io.BytesIO(b"abc"))
    stream.seek(0)
    return stream


def names(folder: Path) -> list[str]:
    """What lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_hostile_archive_stays_in_its_folder(tmp_path):
    assert output.unpack(hostile_archive(tmp_path), tmp_path / "out") == ["trap", "../escaped"]
    assert names(tmp_path) == ["out"] and names(tmp_path / "out") == ["abs", "fine", "trap"]
    # The link was left out: what was to go through it lies in a folder of its name.
    assert names(tmp_path / "out" / "trap") == ["escaped"]


def test_hostile_archive_passes_no_link_that_is_there(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "trap").symlink_to(tmp_path)
    with pytest.raises(Unusable, match="is a link"):
        output.unpack(hostile_archive(tmp_path), tmp_path / "out")
    assert names(tmp_path) == ["out"] and names(tmp_path / "out") == ["trap"]


@pytest.mark.parametrize("piece", [1, 2, 3, 5, 100])
def test_mark_is_found_however_the_bytes_arrive(piece):
    received: list[bytes] = []
    channel = Channel(b"abab", received.append)
    data = b"xabaabax" + b"abab" + b"7 0\n"
    for start in range(0, len(data), piece):
        channel.feed(data[start:start + piece])
    assert b"".join(received) == b"xabaabax" and channel.ended and channel.tail == b"7 0\n"
