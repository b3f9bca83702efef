# SPDX-License-Identifier: GPL-2.0
"""Pack the guest's file system as cached layers: tools, modules, project, and a job on top."""
from __future__ import annotations

import hashlib
import os
import shlex
import time
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from copyscope.common import programs
from copyscope.common.errors import Refused, Unusable
from copyscope.common.tree import CACHE, ROOT
from copyscope.files.cache_file import drop_oldest, last_use_s, write_whole
from copyscope.guest.kernels import sysroot
from copyscope.guest.kernels.architectures import Architecture
from copyscope.guest.kernels.debian import Kernel

from . import libraries
from .cpio import Writer
from .modules import BOOT, Modules

IMAGES = CACHE / "guest-images"
HOME = "copyscope"
# Real ones where busybox's differ or lack what the project's scripts use.
PROGRAMS = ("bash", "ip", "tc", "ss", "ethtool", "nsenter", "unshare", "setpriv", "prlimit", "chrt",
            "timeout", "taskset", "flock", "env", "stat", "date")
TREES = ("tools", "tests")
FOLDERS = ("dev", "proc", "sys", "run", "tmp", "out", "root", "etc", "var", "job", HOME,
           f"{HOME}/results/runs")
ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/sh\n",
    "group": "root:x:0:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost copyscope-guest\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "os-release": "ID=copyscope-guest\nPRETTY_NAME=\"copyscope guest\"\n",
}


class Layer:
    """A part of the file system: where each file of the host goes."""

    def __init__(self, name: str, arch: Architecture) -> None:
        self.arch = arch
        self.name = name if arch.native else f"{name}-{arch.name}"
        self.files: dict[str, Path] = {}
        self.links: dict[str, str] = {}
        self.texts: dict[str, str] = {}

    def add(self, source: Path, where: str) -> None:
        """Add a file, link or tree at `where`; what is not there is left out."""
        if source.is_symlink():
            self.links[where] = os.readlink(source)
        elif source.is_dir():
            for child in sorted(source.iterdir()):
                if child.name != "__pycache__" and child.suffix not in (".o", ".d"):
                    self.add(child, f"{where}/{child.name}")
        elif source.is_file():
            self.files[where] = source

    def add_libraries(self) -> None:
        """Add the shared libraries that the programs in this layer need."""
        if not self.arch.native:
            root = sysroot.folder(self.arch)
            for library in libraries.needed_in(root, self.files.values()):
                self.files[in_guest(library.relative_to(root))] = library
            return
        for library in libraries.needed(self.files.values()):
            self.files[in_guest(library)] = library

    def key(self) -> str:
        """Name the content by size and time of every file, so that no file need be read."""
        parts = [f"{sorted(self.links.items())}{sorted(self.texts.items())}"]
        for where, source in sorted(self.files.items()):
            state = source.stat()
            parts.append(f"{where} {state.st_size} {state.st_mtime_ns} {state.st_mode}")
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def write(self, archive: Writer) -> None:
        """Write the layer as one archive."""
        for where, target in self.links.items():
            archive.link(where, target)
        for where, source in self.files.items():
            try:
                archive.file(where, source.read_bytes(), 0o644 | source.stat().st_mode & 0o111)
            except FileNotFoundError:
                continue  # a build in another terminal took it away
        for where, text in self.texts.items():
            archive.file(where, text.encode())
        archive.close()


def in_guest(path: Path) -> str:
    """Say where a library of the host goes: /lib is a link to /usr/lib in the guest."""
    text = str(path).lstrip("/")
    return text if text.startswith("usr/") else f"usr/{text}"


def tools_layer(arch: Architecture) -> Layer:
    """Busybox, its names, the real programs and a minimal /etc."""
    layer = Layer("tools", arch)
    # A foreign one cannot be asked for its names here: ours knows much the same.
    busybox = programs.find("busybox")
    carried = find_program("busybox", arch)
    if not busybox or not carried:
        raise Refused("busybox is missing: apt-get install busybox-static")
    layer.files["usr/bin/busybox"] = carried
    layer.files["init"] = Path(__file__).with_name("init.sh")
    for folder in ("bin", "sbin", "lib", "lib64"):
        layer.links[folder] = f"usr/{folder}"
    names = programs.run([busybox, "--list"])
    for name in names.stdout.split():
        layer.links[f"usr/bin/{name}"] = "busybox"
    layer.links["usr/sbin/modprobe"] = "../bin/busybox"
    for name in PROGRAMS:
        program = find_program(name, arch)
        if program:
            layer.links.pop(f"usr/bin/{name}", None)
            layer.files[f"usr/bin/{name}"] = program
    layer.texts = {f"etc/{name}": text for name, text in ETC.items()}
    layer.add_libraries()
    return layer


def find_program(name: str, arch: Architecture) -> Path | None:
    """Find a program even if PATH leaves out the folders for root."""
    if not arch.native:
        return sysroot.find_program(arch, name)
    path = programs.find(name)
    return Path(path).resolve() if path else None


def project_layer(arch: Architecture, added: Iterable[str]) -> Layer:
    """The project's programs, scripts and data at /copyscope, and what --add named."""
    layer = Layer("project", arch)
    for program in sorted(arch.build.glob("*")):
        if program.is_file() and os.access(program, os.X_OK):
            layer.add(program, f"{HOME}/build/{program.name}")
    for tree in TREES:
        layer.add(ROOT / tree, f"{HOME}/{tree}")
    layer.add(arch.build / "tests/guest", f"{HOME}/build/tests/guest")
    for document in sorted((ROOT / "docs").glob("*.json")):
        layer.add(document, f"{HOME}/docs/{document.name}")
    for text in added:
        path = Path(os.path.abspath(text))
        if not path.exists():
            raise Unusable(f"--add {text}: no such file or folder")
        inside = path.is_relative_to(ROOT)
        layer.add(path, f"{HOME}/{path.relative_to(ROOT)}" if inside else in_guest_added(path))
    layer.add_libraries()
    return layer


def in_guest_added(path: Path) -> str:
    """Put an added path where it is on the host, through the guest's own links."""
    text = str(path).lstrip("/")
    top = text.split("/")[0]
    return f"usr/{text}" if top in ("bin", "sbin", "lib", "lib64") else text


def extra_layer(name: str, arch: Architecture) -> Layer:
    """A program too large for every guest, with its libraries."""
    program = find_program(name, arch)
    if not program and not arch.native:
        raise Refused(f"--with {name}: {arch.name} guests have none")
    if not program:
        raise Refused(f"--with {name}: not on this machine: apt-get install {name}")
    layer = Layer(f"with-{name}", arch)
    layer.files[f"usr/bin/{name}"] = program
    layer.add_libraries()
    return layer


def modules_archive(kernel: Kernel) -> Path:
    """Pack the kernel's modules with the tables for modprobe; one archive per kernel."""
    # Two images of one release may come with modules of their own.
    source = hashlib.sha256(Path(__file__).with_name("modules.py").read_bytes() +
                            bytes(kernel.modules)).hexdigest()[:8]
    final = IMAGES / f"modules-{kernel.release}-{source}.cpio"
    if not final.exists():
        modules = Modules(kernel.modules)
        base = f"usr/lib/modules/{kernel.release}"

        def fill(stream: BinaryIO) -> None:
            archive = Writer(stream)
            for name, data in modules.data.items():
                archive.file(f"{base}/{modules.file_of(name)}", data)
            archive.file(f"{base}/modules.dep", modules.dep().encode())
            archive.file(f"{base}/modules.alias", modules.alias().encode())
            archive.close()
        write_whole(final, fill)
    return final


def cached(layer: Layer, keep: int = 4) -> Path:
    """Return the archive of `layer`, packing it only if its content is new."""
    final = IMAGES / f"{layer.name}-{layer.key()}.cpio"
    try:
        os.utime(final)  # in use: the last to be dropped below
    except FileNotFoundError:
        write_whole(final, lambda stream: layer.write(Writer(stream)))
        drop_oldest(IMAGES.glob(f"{layer.name}-*.cpio"), keep)
        for stale in abandoned():
            stale.unlink(missing_ok=True)
    return final


def abandoned() -> list[Path]:
    """List incomplete archives of writers that were killed."""
    return [path for path in IMAGES.glob("tmp-*") if 0 < last_use_s(path) < time.time() - 3600]


def archives(kernel: Kernel, arch: Architecture, extras: Iterable[str],
             added: Iterable[str]) -> list[Path]:
    """Return the layers of a guest, bottom first."""
    layers = [tools_layer(arch), *(extra_layer(name, arch) for name in extras),
              project_layer(arch, added)]
    return [cached(layers[0]), modules_archive(kernel), *map(cached, layers[1:])]


def write_job(stream, settings: dict[str, str], environment: dict[str, str],
              command: list[str]) -> None:
    """Write the small archive that tells /init what to run."""
    settings = {**settings, "MODULES": " ".join([*BOOT, *settings["MODULES"].split()])}
    # By this number /init sends it signals.
    lines = ["#!/bin/sh", "echo $$ >/run/command", f"cd /{HOME}"]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    lines += [f"exec {shlex.join(command)}"]
    archive = Writer(stream)
    for folder in FOLDERS:
        archive.folder(folder, 0o1777 if folder in ("tmp", "out") else 0o755)
    archive.file("job/settings", "".join(f"{name}={shlex.quote(value)}\n"
                                         for name, value in settings.items()).encode())
    # It may hold a key, which processes that are nobody need not see.
    archive.file("job/command", ("\n".join(lines) + "\n").encode(), 0o700)
    archive.close()
