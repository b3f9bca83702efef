# SPDX-License-Identifier: GPL-2.0
"""The kernels that guests boot: fetched from Debian, or named by the path of an image."""
from __future__ import annotations

import fcntl
import shutil
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from copyscope.common.errors import Refused, Unusable
from copyscope.common.releases import SUITES, age_key, matches, prefix_of
from copyscope.common.tree import CACHE

from . import debian
from .architectures import Architecture
from .debian import Apt, run

KERNELS = CACHE / "kernels"

@dataclass(frozen=True)
class Kernel:
    """An unpacked kernel: its release, its bootable file and the folder of its modules."""

    release: str
    vmlinuz: Path
    modules: Path


def fetched(arch: Architecture) -> list[Kernel]:
    """List the kernels that need no network, oldest first."""
    found = [kernel_in(folder) for folder in KERNELS.glob(f"[0-9]*-{arch.name}")
             if folder.is_dir()]
    return sorted((k for k in found if k), key=lambda kernel: age_key(kernel.release))


def kernel_in(folder: Path) -> Kernel | None:
    """Find vmlinuz and modules in an unpacked package: they moved in 6.19."""
    release = folder.name
    for vmlinuz in (f"boot/vmlinuz-{release}", f"usr/lib/modules/{release}/vmlinuz"):
        for modules in (f"lib/modules/{release}", f"usr/lib/modules/{release}"):
            if (folder / vmlinuz).is_file() and (folder / modules / "kernel").is_dir():
                return Kernel(release, folder / vmlinuz, folder / modules)
    return None


def find(wanted: str, arch: Architecture) -> Kernel | None:
    """Return the newest kernel already here that `wanted` names."""
    prefix_of(wanted)
    return next((k for k in reversed(fetched(arch)) if matches(k.release, wanted)), None)


def get(wanted: str, arch: Architecture, say=lambda line: None) -> Kernel:
    """Return the kernel `wanted` names, fetching it if it is not here."""
    kernel = find(wanted, arch)
    if kernel:
        return kernel
    with lock(say):
        # Another fetcher may have finished while we waited for the lock.
        return find(wanted, arch) or fetch(wanted, arch, say)


@contextmanager
def lock(say) -> Iterator[None]:
    """Let one process at a time fetch; the kernel drops the lock if we die."""
    KERNELS.mkdir(parents=True, exist_ok=True)
    with open(KERNELS / ".lock", "w", encoding="ascii") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another process that fetches")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def fetch(wanted: str, arch: Architecture, say) -> Kernel:
    """Download and unpack the newest package of `wanted`."""
    archives = debian.archives()
    for suites in SUITES[prefix_of(wanted)]:
        say(f"looking for {wanted} in {', '.join(suites)}")
        apt = Apt(KERNELS / f"apt-{arch.name}", arch.name, archives)
        apt.update(suites)
        release = apt.newest(wanted)
        if release:
            say(f"fetching {release}")
            return unpack(release, apt)
    raise Refused(f"no package for kernel {wanted}: ./tools/guest --list names what there is")


def unpack(release: str, apt: Apt) -> Kernel:
    """Unpack `release` beside its final place and rename it, so that it is whole or not there."""
    for stale in KERNELS.glob("tmp-*"):
        shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="tmp-", dir=KERNELS) as work:
        tree = Path(work) / release
        tree.mkdir(mode=0o755)
        for package in apt.download(release, Path(work)):
            run(["dpkg-deb", "-x", str(package), str(tree)])
        kernel = kernel_in(tree)
        if not kernel:
            raise Refused(f"the package of {release} holds no vmlinuz with modules")
        tree.rename(KERNELS / release)
    return kernel_in(KERNELS / release)


# A kernel image by its path, as a distribution installs it, and its modules.

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
