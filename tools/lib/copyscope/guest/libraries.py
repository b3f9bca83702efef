# SPDX-License-Identifier: GPL-2.0
"""Programs and libraries of a guest: this machine's, or those fetched for another architecture."""
from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from copyscope.common import programs
from copyscope.common.errors import Refused
from copyscope.common.tree import CACHE
from copyscope.files.cache import write_cached

from . import debian
from .architectures import Architecture
from .debian import Apt, run
from .kernels import lock

# The user space of another architecture: what its guests run and its programs are linked with.

SYSROOTS = CACHE / "sysroot"
# One suite for all of it, no older than the C library of a compiler that builds for it.
SUITES = ("trixie", "trixie-security")
TO_BUILD = ("libc6-dev", "libbpf-dev", "libelf-dev", "zlib1g-dev", "libdw-dev", "libbz2-dev",
            "libiberty-dev", "libjansson-dev", "libcap-dev", "libseccomp-dev", "liburing-dev",
            "systemtap-sdt-dev")
TO_RUN = ("busybox-static", "bash", "iproute2", "ethtool", "util-linux", "coreutils")
RECIPE = " ".join((*SUITES, *TO_BUILD, *TO_RUN))


def sysroot(arch: Architecture) -> Path:
    """Return where the user space of a foreign architecture lies."""
    return SYSROOTS / arch.name


def has_sysroot(arch: Architecture) -> bool:
    """Tell whether it is there and was made from the present list of packages."""
    recipe = sysroot(arch) / "recipe"
    return recipe.is_file() and recipe.read_text(encoding="utf-8") == RECIPE


def get_sysroot(arch: Architecture, say) -> None:
    """Fetch the user space of a foreign architecture, if it is not here."""
    if arch.native or has_sysroot(arch):
        return
    with lock(say):
        if not has_sysroot(arch):
            fetch_sysroot(arch, say)


def fetch_sysroot(arch: Architecture, say) -> None:
    """Download the packages and unpack them beside their final place, all or nothing."""
    say(f"fetching {arch.name} libraries and programs")
    SYSROOTS.mkdir(parents=True, exist_ok=True)
    for stale in SYSROOTS.glob("tmp-*"):
        shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="tmp-", dir=SYSROOTS) as work:
        apt = Apt(Path(work) / "apt", arch.name, debian.archives())
        apt.update(SUITES)
        tree = Path(work) / "tree"
        tree.mkdir(mode=0o755)
        for package in apt.closure(TO_BUILD + TO_RUN):
            run(["dpkg-deb", "-x", str(package), str(tree)])
        for name in ("bin", "sbin", "lib"):
            if not (tree / name).exists():
                (tree / name).symlink_to(f"usr/{name}")
        relink(tree)
        (tree / "recipe").write_text(RECIPE, encoding="utf-8")
        shutil.rmtree(sysroot(arch), ignore_errors=True)
        tree.rename(sysroot(arch))


def relink(tree: Path) -> None:
    """Make absolute links stay in the tree: a linker would follow them into this machine."""
    for base, folders, files in os.walk(tree):
        for path in (Path(base) / name for name in folders + files):
            if path.is_symlink() and os.readlink(path).startswith("/"):
                target = tree / os.readlink(path).lstrip("/")
                path.unlink()
                path.symlink_to(os.path.relpath(target, path.parent))


def find_program(arch: Architecture, name: str) -> Path | None:
    """Find a program in the user space of a foreign architecture."""
    for place in ("usr/bin", "usr/sbin", "bin", "sbin"):
        path = sysroot(arch) / place / name
        if path.is_file():
            return path.resolve()
    return None


# The shared libraries that programs need: by ldd, or in the libraries of another architecture.

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


def usable(libraries: Any) -> bool:
    """Tell whether a cached list is one, and still right: every library in it exists."""
    return isinstance(libraries, list) and all(
        isinstance(each, str) and each.startswith("/") and os.path.exists(each)
        for each in libraries)


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


def load_cache() -> dict[str, Any]:
    """Read the lists of earlier runs; a damaged file counts as empty."""
    try:
        cache = json.loads(KNOWN.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return cache if isinstance(cache, dict) else {}


def save_cache(cache: dict[str, Any]) -> None:
    """Write the lists, whole or not at all."""
    fresh = {key: value for key, value in cache.items() if usable(value)}
    write_cached(KNOWN, lambda stream: stream.write(json.dumps(fresh).encode()))
