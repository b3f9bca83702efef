# SPDX-License-Identifier: GPL-2.0
"""Two hosts out of one: a pair of namespaces joined by veth, and what starts the far half in place of ssh."""
from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from helpers import processes, records

ADDRESSES = ("10.77.0.1", "10.77.0.2")
FAKE_SSH = records.ROOT / "tests" / "helpers" / "fake_ssh"
HOST = "lab2"
# In place of ssh for a far half beside the near one: starts the last of its words.
LOCAL_SSH = "sh -c 'for command; do :; done; exec sh -c \"$command\"' ssh"
FAR_HALF = "--far-half"
# Setting a machine up does not install it: it would listen there from then on.
SSHD = shutil.which("sshd", path="/usr/local/sbin:/usr/sbin:/sbin")
SSHD_OPTIONS = ("PermitRootLogin=yes", "StrictModes=no", "UsePAM=no", "PidFile=none")


@dataclass
class Host:
    """A namespace that lives as long as its holder."""
    holder: subprocess.Popen
    address: str

    def inside(self, *words) -> list[str]:
        """The words, run in this namespace."""
        return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", "--",
                *(str(word) for word in words)]


@dataclass
class Pair:
    """The near host, where trace_run is typed, and the far one."""
    near: Host
    far: Host

    def words(self, *words, far: str | None = None, connection: bool = True, ssh: str | None = None) -> list[str]:
        """A run on both; `far` is what the far host's shell starts, by default trace_run itself."""
        near_address, far_address = (self.near.address, self.far.address) if connection else ("", "")
        ssh = ssh or shlex.join([str(FAKE_SSH), str(self.far.holder.pid), near_address, far_address])
        return self.near.inside(records.TRACE_RUN, *words, "--path", "peer", "--host", HOST, "--ssh", ssh,
                                "--far", far or str(records.TRACE_RUN))

    def start(self, *words, far: str | None = None, connection: bool = True, ssh: str | None = None,
              **options) -> subprocess.Popen:
        """Starts it; whoever calls it ends it."""
        return subprocess.Popen(self.words(*words, far=far, connection=connection, ssh=ssh), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def run(self, *words, **options) -> records.Run:
        """Runs it, with the record on stdout."""
        return records.finish(self.start(*words, "--json", "-", **options))


def with_options(*words) -> str:
    """What a far shell starts as trace_run, with options of its own."""
    return shlex.join([str(records.TRACE_RUN), *(str(word) for word in words)])


def far_half(near_half: int) -> int:
    """The process of the far half that waits for its tries; 0 if there is none yet."""
    found = {pid: processes.parent_of(pid) for pid in processes.descendants(near_half)
             if FAR_HALF in processes.command_line(pid)}
    # Its shell has the word in a longer one, its try has the same words. One may have ended meanwhile.
    return next((pid for pid, parent in found.items() if parent and parent not in found), 0)


def ssh_of(near_half: int) -> int:
    """The process that stands in for ssh; 0 if there is none."""
    return next((pid for pid in processes.children(near_half)
                 if str(FAKE_SSH) in processes.command_line(pid)), 0)


@contextmanager
def openssh(host: Host, folder: Path) -> Iterator[str]:
    """OpenSSH's server there, for one key; yields the ssh that reaches it as HOST."""
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    (folder / "known").write_text(f"{HOST} {(folder / 'host.pub').read_text()}")
    # A folder that it needs is made when the system starts it as a service.
    server = subprocess.Popen(host.inside(
        "unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /run && mkdir /run/sshd && exec "$@"', "sh",
        SSHD, "-D", "-e", "-f", "/dev/null", "-h", folder / "host", "-o", f"AuthorizedKeysFile={folder}/user.pub",
        *(word for option in SSHD_OPTIONS for word in ("-o", option))), stderr=subprocess.PIPE, text=True)
    try:
        assert "listening" in server.stderr.readline()
        yield shlex.join(["ssh", "-F", "none", "-i", str(folder / "user"), *(
            word for option in (f"HostName={host.address}", "User=root", f"HostKeyAlias={HOST}",
                                f"UserKnownHostsFile={folder}/known") for word in ("-o", option))])
    finally:
        server.terminate()
        server.communicate()


@contextmanager
def dropbear(host: Host, folder: Path) -> Iterator[str]:
    """Dropbear's server there, for one key of root; yields the ssh that reaches it."""
    subprocess.run(["dropbearkey", "-t", "ed25519", "-f", folder / "host"], check=True, capture_output=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "user"], check=True)
    server = subprocess.Popen(host.inside(
        "unshare", "--mount", "sh", "-ec",
        'mount -t tmpfs -o mode=700 none ~root; mkdir -m 700 ~root/.ssh; cat "$0" >~root/.ssh/authorized_keys; exec "$@"',
        folder / "user.pub", "dropbear", "-F", "-E", "-s", "-r", folder / "host", "-p", f"{host.address}:22",
        "-P", folder / "pid"), stderr=subprocess.PIPE, text=True)
    try:
        assert "Not backgrounding" in server.stderr.readline()
        yield shlex.join(["ssh", "-F", "none", "-i", str(folder / "user"), "-o", "StrictHostKeyChecking=no",
                          "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "ConnectionAttempts=9"])
    finally:
        server.terminate()
        server.communicate()


@contextmanager
def two_hosts():
    """Yields both."""
    here = os.stat("/proc/self/ns/net").st_ino
    holders = [subprocess.Popen(["unshare", "--net", "sleep", "infinity"]) for _ in ADDRESSES]
    try:
        for holder in holders:
            processes.wait_until(lambda pid=holder.pid: os.stat(f"/proc/{pid}/ns/net").st_ino != here)
        near, far = (Host(holder, address) for holder, address in zip(holders, ADDRESSES, strict=True))
        subprocess.run(near.inside("ip", "link", "add", "tx0", "type", "veth", "peer", "name",
                                   "rx0", "netns", holders[1].pid), check=True)
        for host, device in (near, "tx0"), (far, "rx0"):
            subprocess.run(host.inside("ip", "-batch", "-"), check=True, text=True,
                           input=f"address add {host.address}/24 dev {device}\n"
                                 f"link set lo up\nlink set {device} up\n")
        yield Pair(near, far)
    finally:
        for holder in holders:
            holder.kill()
            holder.wait()
