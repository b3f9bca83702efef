# SPDX-License-Identifier: GPL-2.0
"""What a guest needs to run a tool in Python."""
from __future__ import annotations

import importlib.util
import sysconfig
from pathlib import Path

PYTHON = Path("/usr/bin/python3")
EXPORTER = ("prometheus_client", "decorator")
SWEEP = ("fastjsonschema",)


def place_of(module: str) -> Path:
    """Its file, or its folder if it has several."""
    file = Path(importlib.util.find_spec(module).origin)
    return file.parent if file.name == "__init__.py" else file


def python_with(*modules: str) -> list[Path]:
    """For --add of tools/guest: the interpreter, its library, and these."""
    return [PYTHON, PYTHON.resolve(), Path(sysconfig.get_path("stdlib")), *map(place_of, modules)]
