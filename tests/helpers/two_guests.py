# SPDX-License-Identifier: GPL-2.0
"""Has two guests on a network of their own: the near one runs a command, and reaches the far one by ssh."""
from __future__ import annotations

import shlex
import socket
from pathlib import Path
from types import SimpleNamespace

from copyscope import peers

HOST = f"root@{peers.FAR}"


def run(kernels: str, command: list[str], out: Path, added: list[Path], memory: str = "1G", timeout_s: int = 3600) -> int:
    """The status of the command in the near guest, of the first kernel, whose /out goes to `out`."""
    near, far = kernels.split(",")
    options = SimpleNamespace(memory=memory, timeout=timeout_s)
    links = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    private, public = peers.make_key()
    guests = [peers.FarGuest(options, far, links[1], public)]
    try:
        host_key = guests[0].wait_for_key()
        takes = [word for each in added for word in ("--add", each)]
        guests.append(peers.Guest(options, near, links[0], peers.NEAR, peers.RUN + shlex.join(map(str, command)),
                                  ["--with", "ssh", "--out", out, *takes],
                                  {"COPYSCOPE_SSH_KEY": private, "COPYSCOPE_SSH_HOST": host_key}))
        return guests[1].process.wait()
    finally:
        for each in guests:
            each.stop()
