# SPDX-License-Identifier: GPL-2.0
"""The guest's file system: which files are in it, packed as cpio archives in cached layers."""
from __future__ import annotations

import hashlib
import lzma
import os
import shlex
import shutil
import stat
import struct
import time
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from copyscope.common import programs
from copyscope.common.errors import Refused, Unusable
from copyscope.common.tree import CACHE, ROOT
from copyscope.files.cache import drop_oldest, last_use_s, write_cached

from . import libraries
from .architectures import Architecture
from .kernels import Kernel

# Archives in the `newc` form that the kernel unpacks as its first file system.

REGULAR, FOLDER, LINK = stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK


class Writer:
    """A cpio archive under way; everything in it belongs to root."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.count = 0
        self.folders = {"."}

    def folder(self, path: str, mode: int = 0o755) -> None:
        """Add a folder and those above it, once."""
        if path in self.folders:
            return
        self.folder(str(Path(path).parent))
        self.folders.add(path)
        self._entry(path, FOLDER | mode, b"")

    def link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        self.folder(str(Path(path).parent))
        self._entry(path, LINK | 0o777, target.encode())

    def file(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Add a regular file."""
        self.folder(str(Path(path).parent))
        self._entry(path, REGULAR | mode, data)

    def close(self) -> None:
        """Write the trailer; another archive may follow in the same file."""
        self._entry("TRAILER!!!", 0, b"")

    def _entry(self, path: str, mode: int, data: bytes) -> None:
        self.count += 1
        name = path.encode() + b"\0"
        # ino mode uid gid nlink mtime size devmajor devminor rdevmajor rdevminor namesize check
        fields = (self.count, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields) + name
        self.stream.write(header + padding(len(header)))
        self.stream.write(data)
        self.stream.write(padding(len(data)))


def padding(size: int) -> bytes:
    """Fill up to the next multiple of four, as the format wants."""
    return b"\0" * (-size % 4)


# The kernel modules that a guest may need, and the tables that modprobe finds them by.

# Loaded before COMMAND starts; what is built into a kernel is simply not found.
BOOT = ("virtio_pci", "virtio_console", "veth")
# Loaded when COMMAND, or the kernel on its behalf, asks for them.
ON_DEMAND = ("virtio_net", "vmxnet3", "af_packet", "tun", "tap", "bridge", "dummy", "ifb",
             "macvlan", "ipvlan", "8021q", "bonding", "vxlan", "geneve", "ip_gre", "macsec",
             "wireguard", "vhost_net", "tls", "gcm", "ctr", "ghash_generic", "tcp_bbr",
             "tcp_diag", "inet_diag", "unix_diag", "sch_netem", "sch_fq", "sch_tbf", "sch_ingress",
             "cls_bpf", "cls_matchall", "act_mirred", "nf_tables", "nft_chain_nat", "nft_nat",
             "nf_conntrack", "xt_MASQUERADE", "ip_vs", "ip_vs_rr",
             "nfsv3", "nfsv4", "nfsd", "nvme_tcp", "nvmet_tcp", "iscsi_target_mod", "drbd",
             "virtio_blk", "brd", "xfrm_user", "esp4", "seqiv", "drbg", "jitterentropy_rng",
             "sha512_generic", "crc32c_generic", "crc32c_intel")


class Modules:
    """The modules of one kernel: files, what each needs, and by which names it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths = {plain_name(path): path for path in folder.glob("kernel/**/*.ko*")}
        self.data: dict[str, bytes] = {}
        for name in BOOT + ON_DEMAND:
            self._take(name)

    def _take(self, name: str) -> None:
        """Read a module and, after it, all that it depends on."""
        if name in self.data or name not in self.paths:
            return
        path = self.paths[name]
        data = path.read_bytes()
        self.data[name] = lzma.decompress(data) if path.suffix == ".xz" else data
        for needed in self.needs(name):
            self._take(needed)

    def needs(self, name: str) -> list[str]:
        """Return the modules that `name` names as its direct dependencies."""
        listed = ",".join(self._info(name, "depends"))
        return [needed.replace("-", "_") for needed in listed.split(",") if needed]

    def chain(self, name: str) -> list[str]:
        """Return all dependencies of `name`, nearest first, as modules.dep wants them."""
        chain: list[str] = []
        for needed in self.needs(name):
            # The last mention counts: what is needed most deeply must be loaded first.
            for link in [needed, *self.chain(needed)]:
                if link in chain:
                    chain.remove(link)
                chain.append(link)
        return [link for link in chain if link in self.data]

    def _info(self, name: str, field: str) -> list[str]:
        """Read a field of the .modinfo section, which is strings of FIELD=VALUE."""
        begin = f"{field}=".encode()
        return [each.removeprefix(begin).decode()
                for each in section(self.data[name], b".modinfo").split(b"\0")
                if each.startswith(begin)]

    def file_of(self, name: str) -> str:
        """Return the path of a module below the folder, without compression."""
        return str(self.paths[name].relative_to(self.folder)).removesuffix(".xz")

    def dep(self) -> str:
        """Compose modules.dep, which the unpacked package lacks."""
        return "".join(f"{self.file_of(name)}: {' '.join(map(self.file_of, self.chain(name)))}\n"
                       for name in sorted(self.data))

    def alias(self) -> str:
        """Compose modules.alias."""
        return "".join(f"alias {alias} {name}\n" for name in sorted(self.data)
                       for alias in self._info(name, "alias"))


def section(elf: bytes, name: bytes) -> bytes:
    """The bytes of a section of a 64-bit little-endian ELF file; none if it has no such section."""
    # e_shoff; e_shentsize, e_shnum, e_shstrndx: see elf(5).
    at, = struct.unpack_from("<Q", elf, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", elf, 0x3a)
    # sh_name, sh_type, sh_flags, sh_addr, sh_offset, sh_size
    heads = [struct.unpack_from("<IIQQQQ", elf, at + number * size) for number in range(count)]
    names = heads[names_at][4]
    return next((elf[offset:offset + length] for named, *_, offset, length in heads
                 if elf.startswith(name + b"\0", names + named)), b"")


def plain_name(path: Path) -> str:
    """Return a module's name as the kernel spells it."""
    return path.name.split(".ko")[0].replace("-", "_")


# Layers: tools, modules, project, and a job on top.

IMAGES = CACHE / "guest-images"
HOME = "copyscope"
# As userspace/reseed.c reads them.
SEED_BYTES = 64
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


# What an extra program has beside it, where a release has that. systemd needs no unit but targets.
TARGETS = "basic", "sysinit", "local-fs", "paths", "slices", "sockets", "timers", "shutdown"
BESIDE = {"systemd": (
    "usr/bin/systemctl", "usr/lib/systemd/systemd", "usr/lib/systemd/systemd-executor",
    *(f"usr/lib/systemd/system/{name}.target" for name in TARGETS))}


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
            root = libraries.sysroot(self.arch)
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

    @property
    def file_name(self) -> str:
        """What its archive is called."""
        return f"{self.name}-{self.key()}.cpio"

    def write_archive(self, stream: BinaryIO) -> None:
        """Write the layer as one archive."""
        archive = Writer(stream)
        self.write(archive)
        archive.close()

    def write(self, archive: Writer) -> None:
        """Write the layer into an archive."""
        for where, target in self.links.items():
            archive.link(where, target)
        for where, source in self.files.items():
            try:
                archive.file(where, source.read_bytes(), 0o644 | source.stat().st_mode & 0o111)
            except FileNotFoundError:
                continue  # a build in another terminal took it away
        for where, text in self.texts.items():
            archive.file(where, text.encode())


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
    for name in ("init", "carry"):
        layer.files[name] = Path(__file__).with_name(f"{name}.sh")
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
        return libraries.find_program(arch, name)
    path = programs.find(name)
    return Path(path).resolve() if path else None


def project_layer(arch: Architecture) -> Layer:
    """The project's programs, scripts and data at /copyscope."""
    layer = Layer("project", arch)
    for program in sorted(arch.build.glob("*")):
        if program.is_file() and os.access(program, os.X_OK):
            layer.add(program, f"{HOME}/build/{program.name}")
    for tree in TREES:
        layer.add(ROOT / tree, f"{HOME}/{tree}")
    for tests in ("guest", "fuzz"):
        layer.add(arch.build / "tests" / tests, f"{HOME}/build/tests/{tests}")
    for document in sorted((ROOT / "docs").glob("*.json")):
        layer.add(document, f"{HOME}/docs/{document.name}")
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
    for where in BESIDE.get(name, ()):
        layer.add(Path("/") / where, where)
    layer.add_libraries()
    return layer


def modules_file(kernel: Kernel) -> Path:
    """Where the archive of the kernel's modules is, or will be."""
    # Two images of one release may come with modules of their own.
    source = hashlib.sha256(Path(__file__).read_bytes() +
                            bytes(kernel.modules)).hexdigest()[:8]
    return IMAGES / f"modules-{kernel.release}-{source}.cpio"


def modules_archive(kernel: Kernel) -> Path:
    """Pack the kernel's modules with the tables for modprobe; one archive per kernel."""
    final = modules_file(kernel)
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
        write_cached(final, fill)
    return final


def cached(layer: Layer, keep: int = 4) -> Path:
    """Return the archive of `layer`, packing it only if its content is new."""
    final = IMAGES / layer.file_name
    try:
        os.utime(final)  # in use: the last to be dropped below
    except FileNotFoundError:
        write_cached(final, layer.write_archive)
        drop_oldest(IMAGES.glob(f"{layer.name}-*.cpio"), keep)
        for stale in abandoned():
            stale.unlink(missing_ok=True)
    return final


def abandoned() -> list[Path]:
    """List incomplete archives of writers that were killed."""
    return [path for path in IMAGES.glob("tmp-*") if 0 < last_use_s(path) < time.time() - 3600]


class FileSystem:
    """What a guest has before its job comes: layers, and what /init is told of the machine."""

    def __init__(self, kernel: Kernel, arch: Architecture, extras: Iterable[str],
                 machine: dict[str, str]) -> None:
        self.kernel = kernel
        self.layers = [tools_layer(arch), *(extra_layer(name, arch) for name in extras),
                       project_layer(arch)]
        self.machine = {**machine, "MODULES": " ".join([*BOOT, *machine["MODULES"].split()])}

    def key(self) -> list[str]:
        """Names its content."""
        return [modules_file(self.kernel).name, *(layer.file_name for layer in self.layers),
                f"{self.machine}"]

    def has(self, where: str, source: Path) -> bool:
        """Tell whether the guest has the file of the host there."""
        return any(layer.files.get(where) == source for layer in self.layers)

    def write(self, stream: BinaryIO) -> None:
        """Write all archives, bottom first."""
        layers = list(map(cached, self.layers))
        for path in [layers[0], modules_archive(self.kernel), *layers[1:]]:
            with open(path, "rb") as source:
                shutil.copyfileobj(source, stream, 1 << 20)
        archive = Writer(stream)
        add_folders(archive)
        archive.file("job/machine", in_shell(self.machine))
        archive.close()


def added_layer(added: Iterable[str], arch: Architecture, below: FileSystem) -> Layer:
    """What --add named and the libraries of programs in it, but for what is there before."""
    layer = Layer("added", arch)
    for text in added:
        path = Path(os.path.abspath(text))
        if not path.exists():
            raise Unusable(f"--add {text}: no such file or folder")
        inside = path.is_relative_to(ROOT)
        layer.add(path, f"{HOME}/{path.relative_to(ROOT)}" if inside else in_guest_added(path))
    layer.add_libraries()
    layer.files = {where: source for where, source in layer.files.items()
                   if not below.has(where, source)}
    return layer


def add_folders(archive: Writer) -> None:
    """Add the folders of every guest with their modes, before what lies in them."""
    for folder in FOLDERS:
        archive.folder(folder, 0o1777 if folder in ("tmp", "out") else 0o755)


def in_shell(settings: dict[str, str]) -> bytes:
    """Settings as a shell reads them."""
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in settings.items()).encode()


def write_job(stream: BinaryIO, added: Layer, settings: dict[str, str],
              environment: dict[str, str], command: list[str]) -> None:
    """Write the archive that a guest waits for: what to run, and what --add named."""
    # By this number /carry sends it signals.
    lines = ["#!/bin/sh", "echo $$ >/run/command", f"cd /{HOME}"]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    lines += [f"exec {shlex.join(command)}"]
    archive = Writer(stream)
    add_folders(archive)
    added.write(archive)
    archive.file("job/settings", in_shell(settings))
    # What was restored has the random numbers of all that were.
    archive.file("job/seed", os.urandom(SEED_BYTES), 0o600)
    # It may hold a key, which processes that are nobody need not see.
    archive.file("job/command", ("\n".join(lines) + "\n").encode(), 0o700)
    archive.close()
