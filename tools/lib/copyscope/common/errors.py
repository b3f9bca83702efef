# SPDX-License-Identifier: GPL-2.0
"""The ways a command ends early, each with its exit status, and how messages show foreign text."""
from __future__ import annotations

import re

# As userspace/common/printable.h has it: of a longer word its beginning and its end are shown.
MOST_SHOWN, END_SHOWN = 200, 57
MOST_OF_A_LINE = 2000
# Printable, but they turn the direction of what follows.
TURNING = re.compile("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def escaped(text: str) -> str:
    """Text in which nothing commands a terminal: such characters become \\n, \\x1b and the like."""
    if text.isprintable() and not TURNING.search(text):
        return text
    return "".join(each if each.isprintable() and not TURNING.match(each) else
                   repr(each)[1:-1] if ord(each) < 0x80 else
                   each.encode("unicode_escape").decode() for each in text)


def shown(text: str, most: int = MOST_SHOWN) -> str:
    """Foreign text as a message may show it: escaped and, where it is long, shortened."""
    text = escaped(text[:10 * most] + text[-10 * most:] if len(text) > 20 * most else text)
    end = END_SHOWN * most // MOST_SHOWN
    return text if len(text) <= most else f"{text[:most - end - 3]}...{text[-end:]}"


def one_line(text: str) -> str:
    """A message with foreign words in it, as it may be printed: no word and no line too long."""
    words = [shown(word) if len(word) > MOST_SHOWN else word for word in text.split(" ")]
    return shown(" ".join(words), MOST_OF_A_LINE)


class CommandError(Exception):
    """An error that ends a command: its one line, and its exit status."""

    status = 1


class Unusable(CommandError):
    """The input cannot be used: a word, a key, a file or a disk."""

    status = 2


class Refused(CommandError):
    """This machine cannot do it: not root, no BTF, not built, a program or a mirror missing."""

    status = 3


def lacks_module(error: ImportError) -> CommandError:
    """The line for a module that is missing: Debian and Ubuntu name its package like this."""
    name = (error.name or "").partition(".")[0].replace("_", "-")
    return Refused(f"{error}: install the package python3-{name}" if name else str(error))
