# SPDX-License-Identifier: GPL-2.0
"""Names the cells of the table: every path, with one thing changed at a time, by every variant; and
every way to send and to receive, on every path.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from copyscope.common.releases import TESTED
from copyscope.common.tables import PATHS_OF_ONE_HOST
from copyscope_studies.ways import RECV, WAYS

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
    """One run: a path, a variant and a receiver, on whatever kernel the guest has."""

    path: str
    variant: str
    receiver: str = RECV
    path_words: tuple[str, ...] = ()  # of a path that is none of PATHS

    @property
    def name(self) -> str:
        """Name of its files."""
        whole = f"{self.path} {self.variant}" + f" {self.receiver}" * (self.receiver != RECV)
        plain = "".join(c if c.isalnum() else "-" for c in whole)
        return "-".join(part for part in plain.split("-") if part)

    def words(self, size: int, messages: int) -> list[str]:
        """Words for trace_run; a plus in PATHS stands for a space inside one word."""
        path = self.path_words or [word.replace("+", " ") for word in PATHS[self.path].split()]
        receiver = ["--receiver", self.receiver] if self.receiver != RECV else []
        return [self.variant, str(size), str(THREADS), "--messages", str(messages), *path,
                *receiver]


def cells(paths: Sequence[str], variants: Sequence[str], words: Sequence[str] = ()) -> list[Cell]:
    """Every combination, in the order of the table."""
    return [Cell(path, variant, path_words=tuple(words)) for path in paths for variant in variants]


def cells_of_ways(paths: Sequence[str]) -> list[Cell]:
    """The runs that show every way on these paths, each once."""
    return list(dict.fromkeys(Cell(path, way.variant, way.receiver) for way in WAYS
                              for path in paths))
