# SPDX-License-Identifier: GPL-2.0
"""Reads the values of options, strictly: numbers, seconds, sizes, names of folders."""
from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

from copyscope.common.limits import MOST_SECONDS

LEAST_MEMORY_MIB, MOST_MEMORY_MIB = 256, 1 << 20


def number(text: str) -> int:
    """Read a whole number; k and M multiply."""
    parts = re.fullmatch(r"([0-9]{1,12})([kM]?)", text)
    if not parts or int(parts[1]) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0, such as 64, 4k "
                                         "or 1M (k is 1024, M is 1024 k)")
    return int(parts[1]) << {"": 0, "k": 10, "M": 20}[parts[2]]


def folder(text: str) -> Path:
    """Read the name of a folder. An empty one, as from an unset variable, is refused."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(text)


def whole(low: int, high: int) -> Callable[[str], int]:
    """Return a reader of whole numbers from `low` to `high`."""
    def read(text: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text) or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {low} to {high}")
        return int(text)
    return read


def seconds(text: str) -> float:
    """Read a duration."""
    fine = re.fullmatch(r"[0-9]*\.?[0-9]+", text) and 0 < float(text) <= MOST_SECONDS
    if not fine:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of seconds above 0, at most {MOST_SECONDS}")
    return float(text)


def share(text: str) -> float:
    """Read a share from 0 to 1."""
    if not re.fullmatch(r"[0-9]*\.?[0-9]+", text) or not float(text) <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share from 0 to 1, such as 0.05")
    return float(text)


def memory(text: str) -> str:
    """Read a size such as 512M or 2G."""
    parts = re.fullmatch(r"(\d{1,7})([MG])", text)
    mib = int(parts[1]) * (1024 if parts[2] == "G" else 1) if parts else 0
    if not LEAST_MEMORY_MIB <= mib <= MOST_MEMORY_MIB:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512M or 2G (least 256M)")
    return f"{mib}M"
