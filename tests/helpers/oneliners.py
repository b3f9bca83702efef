# SPDX-License-Identifier: GPL-2.0
"""Reads pages of commands and what they print, such as docs/ONELINERS.md; and what bpftrace prints."""
from __future__ import annotations

import re

from helpers.records import ROOT


def oneliners(page: str = "docs/ONELINERS.md") -> dict[str, tuple[str, list[str]]]:
    """By heading: the command of each section of the page, and the output it shows."""
    found = {}
    for section in (ROOT / page).read_text().split("\n## ")[1:]:
        blocks = re.findall(r"^```(?:sh)?\n(.*?)\n```$", section, re.MULTILINE | re.DOTALL)
        if blocks:
            found[section.split("\n")[0]] = (blocks[0], blocks[1].split("\n"))
    return found


def maps(lines: list[str]) -> set[str]:
    """Names of the maps that bpftrace printed."""
    return {found[1] for found in (re.match(r"@(\w+)", line) for line in lines) if found}


def numbers(lines: list[str]) -> list[int]:
    """Counts in bpftrace's output: of a map, of its statistics, or of a line of a histogram."""
    return [int(n) for line in lines
            for n in re.findall(r"(?:^@.*: |^\]: |total |[\])] +)(\d+)(?= \||$)", line)]
