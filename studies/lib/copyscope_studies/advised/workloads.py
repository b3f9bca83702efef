# SPDX-License-Identifier: GPL-2.0
"""The workloads that advice is given for: the place, and what is sent there."""
from __future__ import annotations

from dataclasses import dataclass

from copyscope.model.changes import AWAY, FILE, LOCAL, RING, RING_ZEROCOPY, ZEROCOPY

PLAIN = "A1-plain"
# Variants of trace_run, and the way of the model that each is.
WAYS = {"A3-whole": ZEROCOPY, "sendfile": FILE, "uring": RING, "uring-zc": RING_ZEROCOPY}
# Where packets end on each path.
PLACES = {"lo": LOCAL, "veth": LOCAL, "nic": AWAY}
NATIVE, GUEST = "native", "guest"


@dataclass(frozen=True)
class Series:
    """Runs that one sweep makes: each size by every way."""

    where: str
    path: str
    pattern: str
    sizes: tuple[int, ...]

    @property
    def name(self) -> str:
        """Its folder."""
        return f"{self.where}-{self.path}-{self.pattern}"


SERIES = (
    Series(NATIVE, "lo", "stream", (64, 4096, 65536, 1 << 20)),
    Series(NATIVE, "lo", "rr", (4096, 65536)),
    Series(NATIVE, "veth", "stream", (4096, 65536, 1 << 20)),
    Series(NATIVE, "veth", "rr", (65536,)),
    Series(GUEST, "nic", "stream", (64, 4096, 16384, 65536, 1 << 20)),
    Series(GUEST, "nic", "rr", (4096, 65536)),
    Series(GUEST, "lo", "rr", (4096, 65536)),
)
