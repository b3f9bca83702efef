# SPDX-License-Identifier: GPL-2.0
"""Fetch another architecture's user space: what its guests run and its programs are linked with."""
from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from copyscope.common.tree import CACHE

from . import sources
from .apt import Apt, run
from .architectures import Architecture
from .debian import lock

SYSROOTS = CACHE / "sysroot"
# One suite for all of it, no older than the C library of a compiler that builds for it.
SUITES = ("trixie", "trixie-security")
TO_BUILD = ("libc6-dev", "libbpf-dev", "libelf-dev", "zlib1g-dev", "libjansson-dev", "libcap-dev",
            "libseccomp-dev", "systemtap-sdt-dev")
TO_RUN = ("busybox-static", "bash", "iproute2", "ethtool", "util-linux", "coreutils")
RECIPE = " ".join((*SUITES, *TO_BUILD, *TO_RUN))


def folder(arch: Architecture) -> Path:
    """Return where the user space of a foreign architecture lies."""
    return SYSROOTS / arch.name


def here(arch: Architecture) -> bool:
    """Tell whether it is there and was made from the present list of packages."""
    recipe = folder(arch) / "recipe"
    return recipe.is_file() and recipe.read_text(encoding="utf-8") == RECIPE


def get(arch: Architecture, say) -> None:
    """Fetch the user space of a foreign architecture, if it is not here."""
    if arch.native or here(arch):
        return
    with lock(say):
        if not here(arch):
            fetch(arch, say)


def fetch(arch: Architecture, say) -> None:
    """Download the packages and unpack them beside their final place, all or nothing."""
    say(f"fetching {arch.name} libraries and programs")
    SYSROOTS.mkdir(parents=True, exist_ok=True)
    for stale in SYSROOTS.glob("tmp-*"):
        shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="tmp-", dir=SYSROOTS) as work:
        apt = Apt(Path(work) / "apt", arch.name, sources.archives())
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
        shutil.rmtree(folder(arch), ignore_errors=True)
        tree.rename(folder(arch))


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
        path = folder(arch) / place / name
        if path.is_file():
            return path.resolve()
    return None
