# SPDX-License-Identifier: GPL-2.0
"""Take a kernel image by its path, as a distribution installs it, and find its modules."""
from __future__ import annotations

import struct
from pathlib import Path

from copyscope.common.errors import Unusable

from .debian import Kernel

# Documentation/arch/x86/boot.rst: the set-up header and, in it, where the version lies.
MAGIC_AT, MAGIC = 0x202, b"HdrS"
VERSION_AT, VERSION_BASE = 0x20E, 0x200
# Enough for the longest of such headers; the kernel itself need not be read.
HEADER_BYTES = 1 << 16


def is_path(wanted: str) -> bool:
    """Tell a path from a release: those begin with a digit and hold no slash."""
    if wanted.startswith(("/", "./", "../", "~")):
        return True
    if "/" in wanted:
        return Path(wanted).exists()
    return not wanted[:1].isdigit() and Path(wanted).is_file()


def kernel_at(path: Path, modules: Path | None) -> Kernel:
    """Return the kernel of that image, with the modules of its release."""
    path = path.expanduser()
    release = release_of(path)
    for folder in [modules] if modules else places(path.resolve(), release):
        if (folder / "kernel").is_dir():
            return Kernel(release, path.resolve(), folder.resolve())
    if modules:
        raise Unusable(f"--modules {modules}: no folder kernel/ in it; take the "
                       f"/lib/modules/{release} that belongs to the image")
    raise Unusable(f"--kernel {path}: no modules of {release} beside it or in /lib/modules; "
                   "say --modules DIR")


def places(path: Path, release: str) -> list[Path]:
    """List where modules lie: in the image's own folder, under its root, under this machine's."""
    roots = [path.parent.parent, Path("/")]
    return [path.parent, *(root / lib / "modules" / release for root in roots
                           for lib in ("lib", "usr/lib"))]


def release_of(path: Path) -> str:
    """Read the release that an x86 image says it is."""
    try:
        with open(path, "rb") as stream:
            head = stream.read(HEADER_BYTES)
    except OSError as error:
        raise Unusable(f"--kernel {path}: {error.strerror}") from error
    if head[MAGIC_AT:MAGIC_AT + len(MAGIC)] != MAGIC:
        raise Unusable(f"--kernel {path}: not a kernel image for x86 (bzImage, vmlinuz)")
    place = struct.unpack_from("<H", head, VERSION_AT)[0] + VERSION_BASE
    version = head[place:place + 256].split(b"\0")[0].decode("ascii", "replace").split()
    if place == VERSION_BASE or not version:
        raise Unusable(f"--kernel {path}: the image does not say which release it is")
    return version[0]
