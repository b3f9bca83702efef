# SPDX-License-Identifier: GPL-2.0
"""Names the cells of the table: every path, with one thing changed at a time, by every variant."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from copyscope.common.releases import TESTED
from copyscope.common.tables import PATHS_OF_ONE_HOST

# A release, with -ARCHITECTURE behind it if that is not this machine's.
ARM64 = "-arm64"
KERNELS = (*TESTED, f"6.12{ARM64}")
VARIANTS = ("A1", "A2", "A3", "sendfile")
THREADS = 2

# Name in the table -> words for trace_run: every path, then some with one thing changed.
PATHS: dict[str, str] = {path: f"--path {path}" for path in PATHS_OF_ONE_HOST} | {
    "nic, IPv6": "--path nic --ipv6",
    "nic, no SG": "--path nic --no-sg",
    "nic, no TSO": "--path nic --no-tso",
    "nic, MTU 9000": "--path nic --mtu 9000",
    "nic, tap on sender": "--path nic --tap tx",
    "veth, tap on sender": "--path veth --tap tx",
    "veth, tap on receiver": "--path veth --tap rx",
    "veth, tap elsewhere": "--path veth --tap other",
    "lo, tap": "--path lo --tap tx",
    "veth, no SG": "--path veth --no-sg",
    "veth, no TSO": "--path veth --no-tso",
    "veth, 3 % loss": "--path veth --netem loss+3%",
    "nic, 3 % loss": "--path nic --netem loss+3%",
}


@dataclass(frozen=True)
class Cell:
    """One run: a path and a variant, on whatever kernel the guest has."""

    path: str
    variant: str

    @property
    def name(self) -> str:
        """Name of its files."""
        plain = "".join(c if c.isalnum() else "-" for c in f"{self.path} {self.variant}")
        return "-".join(part for part in plain.split("-") if part)

    def words(self, size: int, messages: int) -> list[str]:
        """Words for trace_run; a plus in PATHS stands for a space inside one word."""
        path = [word.replace("+", " ") for word in PATHS[self.path].split()]
        return [self.variant, str(size), str(THREADS), "--messages", str(messages), *path]


def cells(paths: Sequence[str], variants: Sequence[str]) -> list[Cell]:
    """Every combination, in the order of the table."""
    return [Cell(path, variant) for path in paths for variant in variants]
