# SPDX-License-Identifier: GPL-2.0
"""Find the shared libraries programs need: by ldd, or in the libraries of another architecture."""
from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from copyscope.common import programs
from copyscope.common.errors import Refused
from copyscope.common.tree import CACHE
from copyscope.files.cache_file import write_whole
from copyscope.records import documents

KNOWN = CACHE / "guest-images" / "libraries.json"


def needed(files: Iterable[Path]) -> list[Path]:
    """Return every library that the ELF files among `files` are linked with."""
    cache = load_cache()
    known = {stamp(path): path for path in files if is_elf(path)}
    unknown = {key: path for key, path in known.items() if not usable(cache.get(key))}
    if unknown:
        cache |= {key: ask_ldd(path) for key, path in unknown.items()}
        save_cache(cache)
    return sorted({Path(library) for key in known for library in cache[key]})


def is_elf(path: Path) -> bool:
    """Say whether `path` is a binary: executable, or a shared object."""
    try:
        with open(path, "rb") as stream:
            return stream.read(4) == b"\x7fELF"
    except OSError:
        return False


def stamp(path: Path) -> str:
    """Name a version of a file."""
    state = path.stat()
    return f"{path} {state.st_size} {state.st_mtime_ns}"


def usable(libraries: list[str] | None) -> bool:
    """Tell whether a cached list is still right: every library in it exists."""
    return libraries is not None and all(os.path.exists(library) for library in libraries)


def ask_ldd(path: Path) -> list[str]:
    """List the libraries of one program; a static one has none."""
    done = programs.run(["ldd", path])
    missing = re.search(r"(\S+) => not found", done.stdout)
    if missing:
        raise Refused(f"{path} needs {missing[1]}, which is not on this machine")
    return re.findall(r"(?:^\s*|=> )(/\S+) \(0x", done.stdout, re.MULTILINE)


def needed_in(root: Path, files: Iterable[Path]) -> list[Path]:
    """Return every library below `root` that ELF files of another architecture are linked with."""
    found: set[Path] = set()
    ask = [path for path in files if is_elf(path)]
    while ask:
        for name in ask_readelf(ask.pop()):
            library = find_in(root, name)
            if library not in found:
                found.add(library)
                ask.append(library)
    return sorted(found)


def ask_readelf(path: Path) -> list[str]:
    """List the interpreter and the libraries that one ELF file names itself."""
    done = programs.run(["readelf", "-ldW", path])
    return re.findall(r"(?:program interpreter: |\(NEEDED\).*\[)([^]\s]+)\]", done.stdout)


def find_in(root: Path, name: str) -> Path:
    """Find a library, given by its name or its path, below `root`."""
    places = [root / name.lstrip("/")] if "/" in name else [
        *root.glob(f"usr/lib/*-linux-gnu/{name}"), *root.glob(f"lib/*-linux-gnu/{name}"),
        root / "usr/lib" / name]
    for place in places:
        if place.is_file():
            return place
    raise Refused(f"{name} is not among the libraries in {root}")


def load_cache() -> dict[str, list[str]]:
    """Read the lists of earlier runs; a damaged file counts as empty."""
    try:
        cache = documents.read_json(KNOWN)
        documents.check_form(cache, "libraries", KNOWN, "remove it")
    except documents.BadRecord:
        return {}
    return cache


def save_cache(cache: dict[str, list[str]]) -> None:
    """Write the lists, whole or not at all."""
    fresh = {key: value for key, value in cache.items() if usable(value)}
    write_whole(KNOWN, lambda stream: stream.write(json.dumps(fresh).encode()))
