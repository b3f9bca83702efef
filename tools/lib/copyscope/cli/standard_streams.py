# SPDX-License-Identifier: GPL-2.0
"""Makes sure that stdin, stdout and stderr are open, and that what was printed was written.

userspace/common/streams.c does the same for the programs in C.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from copyscope.common.errors import CommandError


class StdoutFailed(CommandError):
    """The system did not write what was printed."""


def naming_stdout(act: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method of stdout: a failure names stdout."""
    def tell(*words: Any) -> Any:
        try:
            return act(*words)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise StdoutFailed(f"cannot write to stdout: {error.strerror}") from None
    return tell


def prepare() -> None:
    """Open the streams that our parent has closed: else a file of ours gets such a number, and
    messages are written into it. A stdout that was closed still refuses what is written."""
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
    """Flush stdout and return the exit status; if that fails, print one line."""
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
