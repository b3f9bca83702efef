# SPDX-License-Identifier: GPL-2.0
"""Whether pages leave memory or move while a zero-copy send holds them, in a guest with swap."""
from __future__ import annotations

import json
import re
from typing import Any

from copyscope.common.errors import Refused
from copyscope.common.programs import run_in_time
from copyscope.common.tree import BUILD, GUEST

from .fact import Fact, unknown

KERNEL, PATIENCE_S = "6.12", 600
PROGRAM = BUILD / "held_pages"
# Its swap is a disk of memory, and what it moves stays out of use: both end with the guest, which
# has the tree's build/ in its own.
SCRIPT = f"uname -r; modprobe brd rd_size=65536 && build/{PROGRAM.name} /dev/ram0"
KINDS = {"held": "that a zero-copy send holds", "unheld": "that nothing holds",
         "released": "that a send held before"}
FACTS = {"pages-swapped": ("left", "MADV_PAGEOUT; mincore() says what is in memory"),
         "pages-moved": ("moved", "MADV_SOFT_OFFLINE; /proc/self/pagemap has the frames")}
MEANS = {"pages-swapped": "pages of 64 that left memory for swap, of those",
         "pages-moved": "pages of 64 that the kernel moved to another frame, of those"}


def told(kernel: str, found: dict[str, Any]) -> list[Fact]:
    """What the program printed, as facts."""
    return [Fact(name, kind, found[kind][key], f"{MEANS[name]} {words}",
                 f"in a guest of kernel {kernel}: {how}") for name, (key, how) in FACTS.items()
            for kind, words in KINDS.items()]


def facts(_progress: object = None) -> list[Fact]:
    """All of them, or why the guest could not tell."""
    if not PROGRAM.exists():
        raise Refused(f"{PROGRAM} is not there: run make first")
    done = run_in_time([GUEST, "--kernel", KERNEL, "--add", PROGRAM, "--", "sh", "-c", SCRIPT],
                       "guest", PATIENCE_S)
    lines = done.stdout.splitlines()
    if done.returncode or len(lines) != 2 or not re.fullmatch(r"[\w.+-]+", lines[0]):
        why = (done.stderr.strip().splitlines() or ["it told nothing"])[-1]
        return unknown([(name, kind, f"{MEANS[name]} {words}") for name in FACTS
                        for kind, words in KINDS.items()], f"a guest of kernel {KERNEL}", why)
    return told(lines[0], json.loads(lines[1]))
