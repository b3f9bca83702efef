# SPDX-License-Identifier: GPL-2.0
"""Sizes of calls as strace lists them, in the form that a watch has them."""
from __future__ import annotations

import contextlib
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from helpers.processes import wait_until

SENDS = ("write", "writev", "sendto", "sendmsg")
RECEIVES = ("read", "readv", "recvfrom", "recvmsg")
SPLICES = ("sendfile", "splice")
# -s 0: no text of a buffer, which could look like anything; a file for each thread, so that no line is broken.
WORDS = ("strace", "-ff", "-yy", "-s", "0", "-e", "signal=none", "-e", f"trace={','.join(SENDS + RECEIVES + SPLICES)}")
CALL = re.compile(r"(?P<name>\w+)\(\d+<(?:TCP|UDP)(?:v6)?:\[.*\) += (?P<result>\d+)")
START_S = 20

Sizes = dict[tuple[str, str], Counter]


def bucket_of(size: int) -> int:
    """The least size of the bucket that a watch would put it in."""
    return 1 << (size.bit_length() - 1) if size else 0


def way_of(name: str, line: str) -> tuple[str, str]:
    """What a watch calls such a call."""
    if name in SPLICES:
        return "send", "splice"
    if name in SENDS:
        return "send", "zerocopy" if "MSG_ZEROCOPY" in line else "plain"
    asked = line.rpartition(") = ")[0]
    return "recv", "peek" if "MSG_PEEK" in asked else "discard" if re.search(r", MSG_TRUNC\b", asked) else "plain"


def listed(prefix: Path) -> Sizes:
    """Calls and bytes of every bucket, by way."""
    sizes: Sizes = {}
    for file in prefix.parent.glob(f"{prefix.name}.*"):
        for line in file.read_text().splitlines():
            call = CALL.match(line)
            if not call or "MSG_ERRQUEUE" in line:
                continue
            size = int(call["result"])
            into = sizes.setdefault(way_of(call["name"], line), Counter())
            into[bucket_of(size), "calls"] += 1
            into[bucket_of(size), "bytes"] += size
    return sizes


def told(parts: list[list[dict]]) -> Sizes:
    """The same of what a record says of some processes."""
    sizes: Sizes = {}
    for each in (each for part in parts for each in part):
        into = sizes.setdefault((each["direction"], each["way"]), Counter())
        for bucket in each["buckets"]:
            into[bucket["from_bytes"], "calls"] += bucket["calls"]
            into[bucket["from_bytes"], "bytes"] += bucket["bytes"]
    return sizes


def of_record(record: dict) -> Sizes:
    """Of every process that it has, and of those that it does not tell one by one."""
    return told([each["sizes"] for each in record["processes"]] + [record["sizes"]["further"]])


@contextlib.contextmanager
def attached(pid: int, prefix: Path) -> Iterator[None]:
    """Lists the calls of a process that runs, and of its threads."""
    with subprocess.Popen([*WORDS, "-o", prefix, "-p", str(pid)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as strace:
        try:
            threads = [Path(f"/proc/{pid}/task/{each.name}/status")
                       for each in Path(f"/proc/{pid}/task").iterdir()]
            wait_until(lambda: all("TracerPid:\t0\n" not in each.read_text() for each in threads), START_S)
            yield
        finally:
            strace.terminate()
