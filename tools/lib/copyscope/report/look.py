# SPDX-License-Identifier: GPL-2.0
"""How the report of a run looks: exact or for people, with every law or not, in colours or not."""
from __future__ import annotations

import os
from dataclasses import dataclass

from copyscope.common.text import bytes_text, duration_text

BOLD, GOOD, BAD, END = "\033[1m", "\033[32m", "\033[1;31m", "\033[0m"
# From so many columns on there is room for a column more.
WIDE = 100


@dataclass(frozen=True)
class Look:
    """What was asked of a report."""

    laws: bool = False      # a row for each law that was tested, not for broken ones alone
    exact: bool = False     # every digit, and a row for each site
    colours: bool = False

    def amount(self, count: int) -> str:
        """65.5 MB, or every digit of it."""
        return f"{count:,}" if self.exact else bytes_text(count)

    def amount_in_words(self, count: int) -> str:
        """The same where no head of a column says that it is bytes."""
        return f"{self.amount(count)}{' bytes' * self.exact}"

    def elapsed(self, ns: float) -> str:
        """1.50 s, or 1.500000000 s."""
        return f"{ns / 1e9:.9f} s" if self.exact else duration_text(ns)

    def moment(self, us: float) -> str:
        """A time of the workload, which measures in microseconds."""
        return f"{us:.3f} us" if self.exact else duration_text(us * 1e3)

    def tinted(self, tint: str, lines: list[str]) -> list[str]:
        """Lines in another colour, if there are colours."""
        if not self.colours or not lines:
            return lines
        text = "\n".join(lines)
        return f"{tint}{text}{END}".split("\n")

    def headed(self, lines: list[str]) -> list[str]:
        """A table behind a blank line: its heads are bold."""
        return [*lines[:1], *self.tinted(BOLD, lines[1:2]), *lines[2:]]


def are_colours_wanted(when: str) -> bool:
    """As userspace/common/terminal.c answers it."""
    if when != "auto":
        return when == "always"
    return os.isatty(1) and not os.environ.get("NO_COLOR") and \
        os.environ.get("TERM", "") not in ("", "dumb")


def look_of(words: list[str]) -> Look:
    """What the words of trace_run ask for, which may be shortened to what begins no other one."""
    found = {"--laws": "", "--exact": "", "--color": "auto"}
    for word, after in zip(words, [*words[1:], ""]):
        name, given, value = word.partition("=")
        for option in found:
            if len(name) > 2 and option.startswith(name):
                found[option] = value if given else option if option != "--color" else after
    return Look(bool(found["--laws"]), bool(found["--exact"]), are_colours_wanted(found["--color"]))
