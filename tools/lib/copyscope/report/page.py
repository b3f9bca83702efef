# SPDX-License-Identifier: GPL-2.0
"""How a report is laid out: what was asked of it, folded text, labels, looks, plurals."""
from __future__ import annotations

import os
from dataclasses import dataclass

# Columns that the label before a paragraph takes.
LABEL = 15
# As userspace/common/terminal.h has them.
COLUMNS, LEAST_COLUMNS, MOST_COLUMNS = 80, 40, 120


@dataclass(frozen=True)
class View:
    """What is shown of a watch."""

    by: str = "process"  # what each row of its table is of: socket, process, cgroup, peer or port
    top: int = 10        # how many rows, processes and stacks at most
    laws: bool = False   # every law that was tested, not broken ones alone


def report_columns() -> int:
    """How wide a report may be: as the terminal is; elsewhere as COLUMNS says."""
    try:
        found = os.get_terminal_size(1).columns
    except OSError:
        told = os.environ.get("COLUMNS", "")
        found = int(told) if told.isdecimal() else 0
    return min(max(found, LEAST_COLUMNS), MOST_COLUMNS) if found else COLUMNS


def folded(first: str, text: str, indent: int = 0) -> list[str]:
    """`first`, then text broken at spaces; further lines are indented by so many columns."""
    most, said = report_columns(), []
    line, *words = text.rstrip().split(" ")
    line = first + line
    for word in words:
        if len(line) + 1 + len(word) > most:
            said.append(line)
            line = " " * indent + word
        else:
            line += f" {word}"
    return [*said, line]


def labelled(label: str, text: str) -> list[str]:
    """Text folded beside a label, which may be empty."""
    return folded(f"{label:{LABEL}}", text, LABEL)


def tinted(tint: str, first: str, text: str, indent: int = 0) -> list[str]:
    """Folded text in a look of its own."""
    return Tinted.of(tint, folded(first, text, indent))


def heads(line: str) -> list[str]:
    """The heads of columns."""
    return Tinted.of(BOLD, [line])


def joined(lines: list[str], colours: bool) -> str:
    """What is written of a report."""
    return "".join(f"{line.tint}{line}{END}\n" if colours and isinstance(line, Tinted)
                   else f"{line}\n" for line in lines)


def plural(count: int, word: str) -> str:
    """1 law, 2 laws."""
    return f"{count:,} {word}{'s' * (count != 1)}"


def process_name(pid: int | None, comm: str | None) -> str:
    """nginx, pid 812; the kernel's own have no pid."""
    return f"{comm or ''}, pid {pid}" if pid else comm or "the kernel, or unknown"
