# SPDX-License-Identifier: GPL-2.0
"""Fetch Debian cloud kernels into build/kernels/ without touching the machine's own dpkg or apt."""
from __future__ import annotations

import fcntl
import re
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

from copyscope import helpers
from copyscope.errors import Refused, Unusable

from . import sources
from .architectures import ROOT, Architecture

KERNELS = ROOT / "build" / "kernels"

# Release prefix -> groups of suites, tried in order: a later group only if no earlier one has it.
SUITES: dict[str, tuple[tuple[str, ...], ...]] = {
    "5.10": (("bullseye",), ("bullseye-security",)),
    "6.1": (("bookworm", "bookworm-security"),),
    "6.12": (("bookworm-backports",), ("trixie", "trixie-security")),
    "6.18": (("trixie-backports",),),
    "6.19": (("trixie-backports",),),
    "7.2": (("sid",),),
}
# One for each kernel that Debian supports: tests boot these. 6.19 can be asked for: it is in
# transition, and its modules are not always published.
TESTED = ("5.10", "6.1", "6.12", "6.18", "7.2")


@dataclass(frozen=True)
class Kernel:
    """An unpacked kernel: its release, its bootable file and the folder of its modules."""

    release: str
    vmlinuz: Path
    modules: Path


def prefix_of(wanted: str) -> str:
    """Return the row of SUITES that `wanted` belongs to, or refuse what no row serves."""
    if wanted == "host":
        raise Unusable("--kernel host is this machine: run the command itself, without tools/guest")
    for prefix in SUITES:
        if matches(wanted, prefix):
            return prefix
    raise Unusable(f"--kernel {wanted}: unknown release; take one of {', '.join(SUITES)} "
                "or a full release of these such as 6.1.0-56-cloud-amd64")


def matches(release: str, prefix: str) -> bool:
    """Say whether `release` is `prefix` or one of its releases: 6.1 must not take 6.12."""
    return re.fullmatch(re.escape(prefix) + r"([.+-][\w.+-]*)?", release) is not None


def age_key(release: str) -> list[int]:
    """Order releases by their numbers."""
    return [int(number) for number in re.findall(r"\d+", release)]


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
    with lock():
        # Another fetcher may have finished while we waited for the lock.
        return find(wanted, arch) or fetch(wanted, arch, say)


@contextmanager
def lock() -> Iterator[None]:
    """Let one process at a time fetch; the kernel drops the lock if we die."""
    KERNELS.mkdir(parents=True, exist_ok=True)
    with open(KERNELS / ".lock", "w", encoding="ascii") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def fetch(wanted: str, arch: Architecture, say) -> Kernel:
    """Download and unpack the newest package of `wanted`."""
    archives = sources.archives()
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


class Apt:
    """An apt of our own: state, cache and lists under one folder, an empty dpkg status."""

    def __init__(self, home: Path, arch: str, archives: sources.Archives) -> None:
        for tool in ("apt-get", "dpkg-deb"):
            if not helpers.find(tool):
                raise Refused(f"{tool} is missing: guests are made from Debian packages")
        self.home, self.arch, self.archives = home, arch, archives
        for folder in ("lists/partial", "cache/archives/partial", "state", "parts"):
            (home / folder).mkdir(parents=True, exist_ok=True)
        (home / "state" / "status").touch()
        self.config = home / "apt.conf"
        self.config.write_text(self._config(), encoding="utf-8")

    def _config(self) -> str:
        """Settings that keep apt inside `home`; proxy settings of the machine stay in force."""
        home = self.home
        settings = {
            "APT::Architecture": self.arch, "APT::Architectures": self.arch,
            "APT::Sandbox::User": "", "Acquire::Languages": "none",
            "Dir::State": home / "state", "Dir::State::lists": home / "lists",
            "Dir::State::status": home / "state" / "status", "Dir::Cache": home / "cache",
            "Dir::Etc::sourcelist": home / "sources.list", "Dir::Etc::sourceparts": home / "parts",
            "Dir::Etc::preferencesparts": home / "parts",
        }
        # A hook of the machine would tell its package tools about lists that are not theirs.
        return "#clear APT::Update::Post-Invoke-Success;\n#clear APT::Update::Post-Invoke;\n" + \
            "".join(f'{name} "{value}";\n' for name, value in settings.items())

    def update(self, suites: tuple[str, ...]) -> None:
        """Read the package lists of `suites`."""
        lines = [line for suite in suites for line in self.archives.lines(suite, self.arch)]
        (self.home / "sources.list").write_text("".join(lines), encoding="utf-8")
        self._run(["apt-get", "-q", "update", "-o", "APT::Update::Error-Mode=any"])

    def newest(self, wanted: str) -> str | None:
        """Return the newest cloud release on offer that `wanted` names."""
        names = self._run(["apt-cache", "pkgnames", "linux-image-"]).split()
        offers = [name.removeprefix("linux-image-") for name in names
                  if name.endswith(f"-cloud-{self.arch}")]
        # linux-image-cloud-amd64 and the like are only pointers.
        offers = [offer for offer in offers if offer[0].isdigit() and matches(offer, wanted)]
        return max(offers, key=age_key, default=None)

    def download(self, release: str, folder: Path) -> list[Path]:
        """Download the packages of `release`: one up to 6.18, more since."""
        known = set(self._run(["apt-cache", "pkgnames", "linux-"]).split())
        wanted = [f"linux-{part}-{release}" for part in ("image", "binary", "modules")]
        self._run(["apt-get", "-q", "download", *(w for w in wanted if w in known)], cwd=folder)
        return sorted(folder.glob("*.deb"))

    def closure(self, packages: tuple[str, ...]) -> list[Path]:
        """Download these packages and all that they depend on."""
        archives = self.home / "cache" / "archives"
        for stale in archives.glob("*.deb"):
            stale.unlink()
        self._run(["apt-get", "-q", "-y", "--download-only", "--no-install-recommends", "install",
                   *packages])
        return sorted(archives.glob("*.deb"))

    def _run(self, command: list[str], cwd: Path | None = None) -> str:
        return run(command, cwd, {"APT_CONFIG": str(self.config)})


def run(command: list[str], cwd: Path | None = None, more: dict[str, str] | None = None) -> str:
    """Run `command` and return its output; its last complaint becomes our one line."""
    done = helpers.run(command, more=more, cwd=cwd)
    if done.returncode:
        complaints = [line for line in done.stderr.splitlines() if line.startswith("E:")]
        why = (complaints or done.stderr.splitlines() or ["no message"])[0]
        raise Refused(f"{' '.join(command[:3])} failed: {why}")
    return done.stdout
