# SPDX-License-Identifier: GPL-2.0
"""Prints what a watch tells: the rows of each interval, and the report of its record.

The watch counts, and is the process that was started: signals, terminal and exit status are its own.
A child of it reads its documents (userspace/watch/reader.h) and prints them.
"""
from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from copyscope.cli import own_words

# A Ctrl-C is for the watch, which tells then what it found.
FOR_THE_WATCH = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WIDE = 80


def columns(out: int) -> str:
    """How wide what is written there may be: as the terminal now is; elsewhere as COLUMNS says."""
    try:
        return str(os.get_terminal_size(out).columns or WIDE)
    except OSError:
        return os.environ.get("COLUMNS", str(WIDE))


def takes_colours(out: int) -> bool:
    """A terminal does, but for one that knows none, and where NO_COLOR says otherwise (no-color.org)."""
    return os.isatty(out) and not os.environ.get("NO_COLOR") and \
        os.environ.get("TERM", "dumb") not in ("", "dumb")


def text_of(told: dict[str, Any], colours: bool) -> str:
    """What is printed of a document."""
    # Not earlier: it is read while the window is open, and a watch that is refused needs none of it.
    # pylint: disable-next=import-outside-toplevel
    from copyscope.report import page, rows, watch
    if "interval" in told:
        return page.joined(rows.interval(told["interval"]), colours)
    if "record" not in told:
        return ""
    found = told["record"]
    kept = ["", f"{'record':{page.LABEL}} {told['file']}"] if told["file"] else []
    return page.joined([*watch.lines(found, watch.view_of(found)), *kept], colours)


def confine() -> None:
    """Keep no right that root has: names in what is told are of programs that are watched."""
    # Not earlier, as above.
    from copyscope.metrics import power  # pylint: disable=import-outside-toplevel
    power.give_up()


def show(documents: int, out: int) -> None:
    """Print each document at once, in one piece: a command may print to the same terminal."""
    with open(documents, encoding="utf-8", errors="surrogateescape") as lines, \
            open(out, "w", encoding="utf-8", errors="surrogateescape", closefd=False) as stream:
        for line in lines:
            os.environ["COLUMNS"] = columns(out)
            told = json.loads(line)
            stream.write(text_of(told, takes_colours(out)))
            if "open" in told:
                confine()
            stream.flush()


def shown(documents: int, out: int) -> int:
    """The exit status of the child that prints. A reader that left early is no error."""
    for each in FOR_THE_WATCH:
        signal.signal(each, signal.SIG_IGN)
    try:
        show(documents, out)
        return 0
    except BrokenPipeError:
        return 0
    except OSError as error:
        print(f"copyscope watch: the report was not printed: {error.strerror}", file=sys.stderr)
        return 1


def read_by(words: list[str]) -> list[str]:
    """Fork the child that prints; the words of a watch that is read by it."""
    documents, told = os.pipe()
    # Of a command it is on stderr: stdout is the command's.
    out = 2 if own_words(words) != words else 1
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(told)
            status = shown(documents, out)
        except BaseException:  # pylint: disable=broad-exception-caught
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)
    os.close(documents)
    os.set_inheritable(told, True)
    return ["--reader", f"{told},{child}", *words]
