# SPDX-License-Identifier: GPL-2.0
"""What a guest needs to run a tool in Python, and bytecode of it."""
from __future__ import annotations

import importlib.util
import os
import py_compile
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = Path("/usr/bin/python3")
OWN = Path(sys.executable).resolve()
EXPORTER = ("prometheus_client", "decorator")
SWEEP = ("fastjsonschema",)
# Prints where each module that is loaded comes from.
LOADED = "print(*(m.__file__ for m in sys.modules.values() if (getattr(m, '__file__', '') or '').endswith('.py')), sep='\\n')"


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


def compiled(folder: Path, *modules: str) -> Path:
    """The folder, with bytecode of these modules and all that they import. A guest that has it as its
    PYTHONPYCACHEPREFIX is spared seconds of compiling."""
    said = subprocess.run([OWN, "-S", "-c", f"import runpy, sys, {', '.join(modules)}\n{LOADED}"], capture_output=True, text=True,
                          check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "tests")}).stdout
    for source in map(Path, said.splitlines()):
        place = Path("/copyscope", source.relative_to(ROOT)) if source.is_relative_to(ROOT) else source
        into = folder / place.parent.relative_to("/") / f"{place.stem}.{sys.implementation.cache_tag}.pyc"
        # Times of files are others in a guest.
        py_compile.compile(str(source), str(into), str(place), doraise=True,
                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    return folder
