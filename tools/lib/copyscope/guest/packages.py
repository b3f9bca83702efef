# SPDX-License-Identifier: GPL-2.0
"""Names the packages that a guest needs and this machine lacks, before anything is fetched."""
from __future__ import annotations

from collections.abc import Iterable

from copyscope.common import programs
from copyscope.common.errors import Refused

from .kernels.architectures import Architecture

# Program: its package. What unpacks a kernel belongs to Debian itself.
IMAGE = {"busybox": "busybox-static", "ldd": "libc-bin"}
# Libraries of another architecture are found by what readelf says of a program.
FOREIGN = {"readelf": "binutils"}
# Programs that --with may name.
EXTRAS = {"bpftrace": "bpftrace", "ssh": "openssh-client", "dropbear": "dropbear-bin",
          "dropbearkey": "dropbear-bin"}


def missing(arch: Architecture, extras: Iterable[str]) -> list[str]:
    """The packages whose programs are not on this machine."""
    wanted = {arch.program: arch.package, **IMAGE, **({} if arch.native else FOREIGN),
              **{name: EXTRAS[name] for name in extras}}
    lacking = [package for program, package in wanted.items() if not programs.find(program)]
    return list(dict.fromkeys(lacking))


def check(arch: Architecture, extras: Iterable[str]) -> None:
    """Refuse to begin without them, in one line for all."""
    lacking = missing(arch, extras)
    if lacking:
        raise Refused(f"what guests need is missing: apt-get install {' '.join(lacking)}")
