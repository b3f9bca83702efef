# SPDX-License-Identifier: GPL-2.0
"""What all commands have in common: how words are read, and how each failure becomes one line."""
from __future__ import annotations

import argparse
import re
import signal
import sys
from pathlib import Path
from typing import Any, Callable

from copyscope.errors import CommandError, Unusable


class Parser(argparse.ArgumentParser):
    """argparse that shows texts as they are laid out and has one line for an error."""

    def __init__(self, prog: str, epilog: str = "", **more: Any) -> None:
        """Unless told, say what the command does by the docstring of the program."""
        more.setdefault("description", sys.modules["__main__"].__doc__)
        super().__init__(prog=prog, epilog=epilog, allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter, **more)

    def error(self, message: str) -> Any:
        raise Unusable(f"{message}; try {self.prog} --help")


def number(text: str) -> int:
    """Read a whole number; k and M multiply."""
    parts = re.fullmatch(r"([0-9]{1,12})([kM]?)", text)
    if not parts or int(parts[1]) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(parts[1]) << {"": 0, "k": 10, "M": 20}[parts[2]]


def folder(text: str) -> Path:
    """Read the name of a folder; an empty one, as of a variable not set, would be this folder."""
    if not text:
        raise argparse.ArgumentTypeError("it names nothing")
    return Path(text)


def whole(low: int, high: int) -> Callable[[str], int]:
    """Return a reader of whole numbers from `low` to `high`."""
    def read(text: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text) or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {low} to {high}")
        return int(text)
    return read


def unwind_on_signals() -> None:
    """Let a signal unwind, so that what was started is stopped; the status is the usual one."""
    def interrupted(caught: int, _frame: Any) -> None:
        raise SystemExit(128 + caught)

    for caught in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(caught, interrupted)


def run(act: Callable[[list[str]], int], words: list[str], name: str, *, advice: str = "",
        stopped: str = "interrupted", disk: type[CommandError] = Unusable) -> int:
    """Do what the words ask for; any failure is one line that begins with `name`, and a status.

    `advice` follows what the system says of a file, `disk` gives the status of that; `stopped` is
    what to say of a Ctrl-C."""
    try:
        return act(words)
    except CommandError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"{name}: {error.filename or 'a file'}: {error.strerror or error}{advice}",
              file=sys.stderr)
        return disk.status
    except KeyboardInterrupt:
        print(f"{name}: {stopped}", file=sys.stderr)
        return 128 + signal.SIGINT
