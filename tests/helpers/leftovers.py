# SPDX-License-Identifier: GPL-2.0
"""What a run could leave on the machine: BPF objects, namespaces, interfaces, cgroups, files."""
from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from helpers import processes

# Ubuntu's /usr/sbin/bpftool only works for its own kernel; the real one lies in linux-tools.
BPFTOOLS = [*Path("/usr/lib").glob("linux-tools*/**/bpftool"), Path("/usr/sbin/bpftool")]
BPFTOOL_TRIES = 20
# Commands of bpf(2).
GET_NEXT_ID = {"prog": 11, "map": 12, "link": 31}
HELD_ID = re.compile(r"^(prog|map|link)_id:\s*(\d+)$", re.M)


def bpf_list(kind: str) -> list[dict]:
    """What bpftool lists. It fails if what it has just found is gone before it has looked."""
    for _ in range(BPFTOOL_TRIES):
        said = subprocess.run([BPFTOOLS[0], "-j", kind, "list"], capture_output=True, text=True,
                              timeout=60, check=False)
        if said.returncode == 0:
            return json.loads(said.stdout or "[]")
        # A link that somebody is about to attach has a number already, and cannot be opened yet.
        time.sleep(0.05)
    raise AssertionError(f"bpftool {kind} list: {said.stderr or said.stdout}")


def bpf_ids(command: int) -> Iterator[int]:
    """The numbers of all objects of a kind. None is opened, as bpftool does: what is on its way out stays so."""
    asked = (ctypes.c_uint32 * 3)()
    while not processes.LIBC.syscall(processes.SYSCALLS[platform.machine()]["bpf"], command, asked, ctypes.sizeof(asked)):
        asked[0] = asked[1]
        yield asked[1]
    if ctypes.get_errno() != errno.ENOENT:
        raise OSError(ctypes.get_errno(), "the numbers of BPF objects")


def bpf_objects() -> set[tuple[str, int]]:
    """Every BPF program, map and link of the machine, as (kind, id)."""
    return {(kind, each) for kind, command in GET_NEXT_ID.items() for each in bpf_ids(command)}


def bpf_objects_held() -> set[tuple[str, int]]:
    """Those that some living process has open: another run beside this one, not a leftover."""
    found = set()
    # Path.glob() of a file below fails if the process ends meanwhile.
    for process in Path("/proc").glob("[0-9]*"):
        try:
            for each in (process / "fdinfo").iterdir():
                found |= {(kind, int(number))
                          for kind, number in HELD_ID.findall(each.read_text())}
        except OSError:
            continue
    return found


def network_namespaces() -> dict[int, set[int]]:
    """Inode of every network namespace that a process lives in: the pids in it."""
    found: dict[int, set[int]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            inode = os.stat(process / "ns" / "net").st_ino
        except OSError:
            continue
        found.setdefault(inode, set()).add(int(process.name))
    return found


def namespaces_alive() -> int | None:
    """Network namespaces that the kernel still holds memory for, to within those that its
    caches count as used; with those that no process lives in. None if it does not tell."""
    try:
        text = Path("/proc/slabinfo").read_text()
    except OSError:
        return None
    found = re.search(r"^net_namespace\s+(\d+)", text, re.M)
    return int(found.group(1)) if found else None


def interfaces() -> set[str]:
    """Names of the interfaces in the namespace of the tests."""
    return set(os.listdir("/sys/class/net"))


def cgroups() -> set[str]:
    """Every control group."""
    return {folder for folder, _, _ in os.walk("/sys/fs/cgroup")}


def cgroups_abandoned() -> set[str]:
    """Control groups in which no process lives; what others on this machine start has one."""
    found = set()
    for folder in cgroups():
        try:
            if not Path(folder, "cgroup.procs").read_text():
                found.add(folder)
        except OSError:
            continue
    return found
