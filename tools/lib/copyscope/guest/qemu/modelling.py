# SPDX-License-Identifier: GPL-2.0
"""Gives QEMU the plugin that models caches, and the guest a port by which it reports."""
from __future__ import annotations

import re
import socket

from copyscope.caches.shape import Caches
from copyscope.common import programs
from copyscope.common.errors import Refused
from copyscope.common.tree import BUILD
from copyscope.guest.kernels.architectures import Architecture

PLUGIN = BUILD / "plugin" / "counting.so"
# Where functions lie decides which sets of a cache they use: let it be the same in each boot.
KERNEL_LINE = " nokaslr"
# The guest's random numbers and its date, too.
SAME_EACH_TIME = ("-seed", "1", "-rtc", "base=2026-01-01,clock=vm")


def emulator(arch: Architecture) -> str:
    """Name and version of the emulator; refuse one that takes no plugins."""
    program = programs.find(arch.program)
    if not program:
        raise Refused(f"{arch.program} is missing: apt-get install {arch.package}")
    if not PLUGIN.exists():
        raise Refused("build/plugin/counting.so is not there: run make first")
    if "-plugin" not in programs.run([program, "-help"]).stdout:
        raise Refused(f"{arch.program} was built without plugins: --model needs a QEMU that has "
                      "them, as Debian's")
    said = re.search(r"version ([\w.]+)", programs.run([program, "-version"]).stdout)
    return f"QEMU-{said[1] if said else 'unknown'}-TCG"


class Model:
    """One guest's plugin: what QEMU and the guest are told of it."""

    def __init__(self, caches: Caches, arch: Architecture) -> None:
        self.caches, self.emulator = caches, emulator(arch)
        self.plugins, self.ports = socket.socketpair()

    def descriptors(self) -> list[int]:
        """Both ends of the connection from plugin to port, the caller's to close."""
        return [self.plugins.fileno(), self.ports.fileno()]

    def words(self, port: int) -> list[str]:
        """What QEMU's command line has besides."""
        plugin = ",".join([str(PLUGIN), *self.caches.plugin_words(),
                           f"report={self.plugins.detach()}"])
        return [*SAME_EACH_TIME, "-plugin", plugin,
                "-chardev", f"socket,id=model,fd={self.ports.detach()}",
                "-device", f"virtserialport,chardev=model,nr={port}"]

    def environment(self, port: int) -> dict[str, str]:
        """What the guest's programs are told."""
        return {"COPYSCOPE_MODEL": " ".join([f"/dev/vport0p{port}", self.caches.name, self.emulator,
                                             *self.caches.record_words()])}
