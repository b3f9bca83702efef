# SPDX-License-Identifier: GPL-2.0
"""Has two guests on a network of their own: the near one runs a command, and reaches the far one by ssh."""
from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from copyscope import peers

HOST = f"root@{peers.FAR}"


def run(kernels: str, command: list[str], out: Path, added: list[Path], memory: str = "1G", timeout_s: int = 3600) -> int:
    """The status of the command in the near guest, of the first kernel, whose /out goes to `out`; that of the far one
    if it ended before."""
    options = SimpleNamespace(memory=memory, timeout=timeout_s)
    takes = ["--out", out, *(word for each in added for word in ("--add", each))]
    with peers.joined(options, kernels.split(","), list(map(str, command)), takes) as (near, far):
        return near.process.wait() if near else far.process.wait() or 1
