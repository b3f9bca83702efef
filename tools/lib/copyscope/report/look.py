# SPDX-License-Identifier: GPL-2.0
"""How the report of a run looks: exact or for people, with every law or not."""
from __future__ import annotations

from dataclasses import dataclass

from copyscope.common.text import bytes_text, duration_text

# From so many columns on there is room for a column more.
WIDE = 100


@dataclass(frozen=True)
class Look:
    """What was asked of a report."""

    laws: bool = False      # a row for each law that was tested, not for broken ones alone
    exact: bool = False     # every digit, and a row for each site

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


def asked(words: list[str], option: str) -> str | None:
    """What stands behind an option of trace_run; None if the option is not
    among the words. It may be shortened to what begins no other one."""
    for word, after in zip(words, [*words[1:], ""]):
        name, given, value = word.partition("=")
        if len(name) > 2 and option.startswith(name):
            return value if given else after
    return None


def look_of(words: list[str]) -> Look:
    """What the words of trace_run ask for."""
    return Look(asked(words, "--laws") is not None, asked(words, "--exact") is not None)
