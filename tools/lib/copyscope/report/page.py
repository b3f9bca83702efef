# SPDX-License-Identifier: GPL-2.0
"""How a report is laid out: what was asked of it, folded text, labels, looks, plurals."""
from __future__ import annotations

from dataclasses import dataclass

from copyscope.common.text import columns

# Columns that the label before a paragraph takes.
LABEL = 15
# What begins a line of that look on a terminal that takes colours, and what ends it.
BOLD, GOOD, BAD, END = "\x1b[1m", "\x1b[32m", "\x1b[1;31m", "\x1b[0m"


class Tinted(str):
    """A line of a look of its own; as text it is a line as any other."""

    tint = ""

    @classmethod
    def of(cls, tint: str, lines: list[str]) -> list[str]:
        """These lines in that look; as they are in none."""
        if not tint:
            return lines
        made = [cls(line) for line in lines]
        for each in made:
            each.tint = tint
        return list(made)


@dataclass(frozen=True)
class View:
    """What is shown of a watch."""

    by: str = "service"  # what each row of its table is of, as rows.TITLES has them
    sort: str = "copied"  # which rows come first
    top: int = 10        # how many rows, processes and stacks at most
    laws: bool = False   # every law that was tested, not broken ones alone
    exact: bool = False  # every digit, and each site


def folded(first: str, text: str, indent: int = 0) -> list[str]:
    """`first`, then text broken at spaces; further lines are indented by so many columns."""
    most, said = columns(), []
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
    """1 law, 2 laws, 2 processes."""
    return f"{count:,} {word}{('es' if word.endswith('ss') else 's') * (count != 1)}"


def process_name(pid: int | None, comm: str | None, listener: int | None = None) -> str:
    """nginx, pid 812; the kernel's own have no pid."""
    if listener:
        return f"{comm or ''}, a listener of pid {listener}"
    return f"{comm or ''}, pid {pid}" if pid else comm or "the kernel, or unknown"
