# SPDX-License-Identifier: GPL-2.0
"""Packages that a single command needs: set-up leaves them out until then."""
from __future__ import annotations

import importlib
import importlib.util
import logging
import os
from collections.abc import Iterable
from types import ModuleType

from .errors import lacks_module
from .programs import find, start
from .tree import INSTALLED, ROOT


def provide(packages: Iterable[str]) -> None:
    """Install those of tools/packages-more.txt that are missing: in the tree, as root. Whoever
    needs them looks again, and says what is missing if it still is."""
    if not INSTALLED and not os.geteuid():
        start([ROOT / "tools" / "setup", "--for", *packages]).wait()


def drawing(module: str) -> ModuleType:
    """Import a module that draws, which nothing else needs: --help does without matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        provide(["python3-matplotlib"])
        importlib.invalidate_caches()
    # Where it cannot keep its cache it takes another folder and says so in two lines.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise lacks_module(error) from None


def provide_program(name: str, package: str) -> None:
    """Have a program there."""
    if not find(name):
        provide([package])
