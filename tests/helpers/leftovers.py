# SPDX-License-Identifier: GPL-2.0
"""What a run could leave on the machine: BPF objects, namespaces, interfaces, cgroups, files."""
from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path

# Ubuntu's /usr/sbin/bpftool only works for its own kernel; the real one lies in linux-tools.
BPFTOOLS = [*Path("/usr/lib").glob("linux-tools*/**/bpftool"), Path("/usr/sbin/bpftool")]
BPFTOOL_TRIES = 20
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


def bpf_objects() -> set[tuple[str, int]]:
    """Every BPF program, map and link of the machine, as (kind, id)."""
    return {(kind, each["id"]) for kind in ("prog", "map", "link") for each in bpf_list(kind)}


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
