# SPDX-License-Identifier: GPL-2.0
"""What a guest needs to run a tool in Python."""
from __future__ import annotations

import importlib.util
import sys
import sysconfig
from pathlib import Path

PYTHON = Path("/usr/bin/python3")
OWN = Path(sys.executable).resolve()
EXPORTER = ("prometheus_client", "decorator")
SWEEP = ("fastjsonschema",)


def place_of(module: str) -> Path:
    """Its file, or its folder if it has several."""
    file = Path(importlib.util.find_spec(module).origin)
    return file.parent if file.name == "__init__.py" else file


def adding(*files: str | Path) -> list[str | Path]:
    """Options of tools/guest that add the interpreter that runs this, its library, and these files."""
    return [word for each in (OWN, sysconfig.get_path("stdlib"), *files) for word in ("--add", each)]


def python_with(*modules: str) -> list[Path]:
    """For --add of tools/guest: the interpreter, its library, and these."""
    return [PYTHON, PYTHON.resolve(), Path(sysconfig.get_path("stdlib")), *map(place_of, modules)]
