# SPDX-License-Identifier: GPL-2.0
"""Packages that a single command needs: set-up leaves them out until then."""
from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
from collections.abc import Iterable

from .programs import find
from .tree import INSTALLED, ROOT


def provide(packages: Iterable[str]) -> None:
    """Install those of tools/packages-more.txt that are missing: in the tree, as root. Whoever
    needs them looks again, and says what is missing if it still is."""
    if not INSTALLED and not os.geteuid():
        subprocess.run([ROOT / "tools" / "setup", "--for", *packages], check=False)


def provide_module(name: str) -> None:
    """Have a Python module there."""
    if importlib.util.find_spec(name) is None:
        provide([f"python3-{name}"])
        importlib.invalidate_caches()


def provide_program(name: str, package: str) -> None:
    """Have a program there."""
    if not find(name):
        provide([package])
