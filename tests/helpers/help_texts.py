# SPDX-License-Identifier: GPL-2.0
"""What the programs of the tree say of themselves by --help; each is asked once in a process of tests."""
from __future__ import annotations

import functools
import subprocess

from helpers.records import ROOT


@functools.cache
def help_of(*words: str) -> str:
    """The help of a tool, or of one of its words."""
    place = ROOT / ("build" if words[0] in ("watch", "workload") else "tools") / words[0]
    return subprocess.run([place, *words[1:], "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          check=True).stdout
