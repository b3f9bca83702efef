# SPDX-License-Identifier: GPL-2.0
"""Names of kernel functions by address, and where the kernel's own image lies."""
from __future__ import annotations

import bisect
import re
from pathlib import Path

KALLSYMS, IOMEM = Path("/proc/kallsyms"), Path("/proc/iomem")
# Parts of the kernel's image in physical memory, which it is mapped from in one piece.
PART = re.compile(r"^ *([0-9a-f]+)-([0-9a-f]+) : Kernel (?:code|rodata|data|bss)$", re.MULTILINE)


class Symbols:
    """The functions of a kernel, in the order of their addresses."""

    def __init__(self, text: str, memory: str) -> None:
        found = []
        start = 0
        for each in text.splitlines():
            address, kind, name, *_ = each.split()
            if name == "_text":
                start = int(address, 16)
            if kind in "tTwW":
                found.append((int(address, 16), name))
        found.sort()
        self.addresses = [address for address, _ in found]
        self.names = [name for _, name in found]
        parts = [(int(first, 16), int(last, 16)) for first, last in PART.findall(memory)]
        size = max((last for _, last in parts), default=0) - min((first for first, _ in parts),
                                                                 default=0)
        # From its code to the end of its data: what lies there is one for the whole machine.
        self.image = range(start, start + size)

    @classmethod
    def load(cls) -> Symbols:
        """Those of the running kernel."""
        return cls(KALLSYMS.read_text("utf-8"), IOMEM.read_text("utf-8"))

    @property
    def known(self) -> bool:
        """False where the kernel hides its addresses."""
        return bool(self.image) and self.image.start > 0

    def name(self, address: int) -> str:
        """The function that an address lies in."""
        place = bisect.bisect_right(self.addresses, address) - 1
        return self.names[place] if place >= 0 else f"{address:#x}"
