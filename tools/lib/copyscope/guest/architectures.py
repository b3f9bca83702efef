# SPDX-License-Identifier: GPL-2.0
"""What a guest of each architecture needs: its QEMU, processor and kernel command line."""
from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from copyscope.common.errors import Refused
from copyscope.common.releases import age_key
from copyscope.common.tree import BUILD

# Kept off: what only costs time under emulation, as the self-tests of ciphers do (a second of a
# boot), and watchdogs that blame a busy host.
COMMON_LINE = ("loglevel=5 panic=-1 oops=panic mitigations=off nowatchdog cryptomgr.notests "
               "rcupdate.rcu_cpu_stall_suppress=1 random.trust_cpu=on rdinit=/init")
# Since 6.19 ("bpf: Replace bpf memory allocator with kmalloc_nolock() in local storage") the
# storage of sockets, where a watch keeps its books, comes from caches that are changed by
# cmpxchg16b or checked (kmalloc_nolock in mm/slub.c). Without either the kernel gives none.
WITHOUT_CX16, CX16_SINCE = " slab_debug=F,kmalloc-*", [6, 19]
PROCESSORS = Path("/proc/cpuinfo")


def tsc_khz() -> int | None:
    """How fast this machine's TSC ticks, which an emulated one shows as its own; None: nothing here
    tells. Of a processor with aperfmperf the file has the frequency of the moment instead."""
    told = PROCESSORS.read_text()
    flags = re.search(r"^flags\s*:(.*)$", told, re.MULTILINE)
    mhz = re.search(r"^cpu MHz\s*: ([\d.]+)$", told, re.MULTILINE)
    known = flags and mhz and "constant_tsc" in flags[1] and "aperfmperf" not in flags[1]
    return round(float(mhz[1]) * 1000) if known else None


@dataclass(frozen=True)
class Architecture:
    """One architecture; `name` is Debian's."""

    name: str
    machine: str  # as uname -m
    program: str
    package: str
    options: tuple[str, ...]
    kernel_line: str
    most_cpus: int
    cpus: int
    # The guest's programs receive it, because nothing inside shows what its clock is.
    emulation: str

    @property
    def native(self) -> bool:
        """Is it this machine's own?"""
        return os.uname().machine == self.machine

    def line_of(self, release: str) -> str:
        """What the command line of a kernel of that release begins with."""
        lacks = any("-cx16" in option for option in self.options)
        # On a busy host the kernel measures it wrong, up to 20 times too slow; then a second of its
        # clock is 50 ms.
        khz = tsc_khz() if self.emulation == "tcg" and self.native else None
        return self.kernel_line + (f" tsc_early_khz={khz}" if khz else "") + \
            (WITHOUT_CX16 if lacks and age_key(release) >= CX16_SINCE else "")

    @property
    def build(self) -> Path:
        """Where make leaves the programs for it."""
        return BUILD if self.native else BUILD / self.name


ARCHITECTURES = {each.name: each for each in (
    Architecture(
        "amd64", "x86_64", "qemu-system-x86_64", "qemu-system-x86",
        # One host thread for all of the guest's CPUs: with a thread each, QEMU 7.2 runs stale code
        # where the kernel patches itself (jump labels, trampolines). After some 20 attachments 6.12
        # died of an int3 in __schedule and 6.1 hung.
        # Under QEMU 7.2 3 boots of 13 of 6.12 died just after a cmpxchg16b, with a piece of a
        # pointer in EFLAGS: its emulation of the flags is the likely culprit. Without cx16 the
        # kernel has its own substitute, and 64 boots of 64 came up.
        # With erms and fsrm the kernel copies by `rep movsb` and clears by `rep stosb`: a byte is
        # one instruction, in counts and in the emulator's time.
        ("-machine", "q35", "-accel", "tcg,thread=single", "-cpu", "max,-cx16,-erms,-fsrm"),
        f"console=ttyS0 {COMMON_LINE} no_timer_check tsc=reliable", 64, 2, "tcg"),
    Architecture(
        "arm64", "aarch64", "qemu-system-aarch64", "qemu-system-arm",
        # QEMU emulates this processor's cycle and instruction counters. Instructions are there only
        # with -icount, which makes the guest's clock tick once for each: 1 ns an instruction. Idle
        # time is skipped (sleep=off). With a second CPU the counts would depend on the host.
        ("-machine", "virt", "-cpu", "neoverse-n1", "-icount", "shift=0,sleep=off"),
        # At the same addresses in each boot, because plugins receive addresses.
        f"console=ttyAMA0 {COMMON_LINE} nokaslr", 1, 1, "icount"),
)}


def counting(arch: Architecture, cpus: int = 1) -> Architecture:
    """The same with a clock that ticks once for each instruction, as arm64 always has it; with one
    CPU it is exact."""
    if arch.emulation == "icount":
        return replace(arch, most_cpus=cpus, cpus=cpus)
    return replace(arch, options=(*arch.options, "-icount", "shift=0,sleep=off"), most_cpus=cpus,
                   cpus=cpus, emulation="icount")


def get(name: str | None) -> Architecture:
    """Return the architecture of that name, or this machine's own for None."""
    for each in ARCHITECTURES.values():
        if each.name == name or name is None and each.native:
            return each
    raise Refused(f"no guest can run {name or os.uname().machine}: "
                  f"choose {', '.join(ARCHITECTURES)}")
