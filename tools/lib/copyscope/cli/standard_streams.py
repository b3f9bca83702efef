# SPDX-License-Identifier: GPL-2.0
"""Makes sure of stdin, stdout and stderr: that they are there, and that what was printed got out.

userspace/common/streams.c does the same for the programs in C.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from copyscope.common.errors import CommandError


class StdoutFailed(CommandError):
    """What was printed does not get out."""


def naming_stdout(act: Callable[..., Any]) -> Callable[..., Any]:
    """A way to write to stdout whose failure names stdout."""
    def tell(*words: Any) -> Any:
        try:
            return act(*words)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise StdoutFailed(f"cannot write to stdout: {error.strerror}") from None
    return tell


def prepare() -> None:
    """Open those that whoever started us has closed: else a file of ours gets such a number, and
    messages land in it. A stdout that was closed refuses what is written, as before."""
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
            os.set_inheritable(number, True)
    # Of a closed one Python has none, and print() would choose stdout instead.
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stdout.write = naming_stdout(sys.stdout.write)  # type: ignore[method-assign]
    sys.stdout.flush = naming_stdout(sys.stdout.flush)  # type: ignore[method-assign]


def flush_stdout(name: str, status: int) -> int:
    """The exit status of a command whose stdout is flushed now; one line if it cannot be."""
    try:
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        lost = status
    except StdoutFailed as error:
        # Unless that was told already.
        if status != StdoutFailed.status:
            print(f"{name}: {error}", file=sys.stderr)
        lost = StdoutFailed.status
    # What is left would only be complained of once more at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return lost
