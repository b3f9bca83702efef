# SPDX-License-Identifier: GPL-2.0
"""Reads pages of commands and what they print, such as docs/ONELINERS.md; joins those of bpftrace; and reads its output."""
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


def joined(commands: dict[int, str]) -> tuple[str, list[str]]:
    """One script of the programs of these commands, the maps of each of which begin with its number, and the runs
    that they watch, each once."""
    programs, runs = [], []
    for number, command in commands.items():
        program = re.search(r"bpftrace -e '(.*?)'", command, re.DOTALL)[1]
        # When to end is for who runs the script to say.
        program = re.sub(r"interval:s:\d+ { exit\(\); }", "", program)
        programs.append(re.sub(r"@(?=\w)", f"@of{number}_", program))
        runs.append(re.search(r"build/trace_run [^')]*", command)[0])
    return "\n".join(programs), list(dict.fromkeys(runs))


def parted(lines: list[str], number: int) -> list[str]:
    """What the program of that number printed in a joined script, as if alone; a map of many lines begins with its
    name."""
    ours, mine = f"@of{number}_", False
    found = []
    for line in lines:
        mine = line.startswith(ours) if line.startswith("@") else mine
        if mine:
            found.append(line.replace(ours, "@", 1))
    return found


def maps(lines: list[str]) -> set[str]:
    """Names of the maps that bpftrace printed."""
    return {found[1] for found in (re.match(r"@(\w+)", line) for line in lines) if found}


def numbers(lines: list[str]) -> list[int]:
    """Counts in bpftrace's output: of a map, of its statistics, or of a line of a histogram."""
    return [int(n) for line in lines
            for n in re.findall(r"(?:^@.*: |^\]: |total |[\])] +)(\d+)(?= \||$)", line)]
