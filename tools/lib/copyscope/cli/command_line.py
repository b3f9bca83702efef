# SPDX-License-Identifier: GPL-2.0
"""What all commands have in common: how words are read, and how each failure becomes one line."""
from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from copyscope.common.called import called
from copyscope.common.errors import CommandError, Unusable, one_line
from copyscope.common.tables import RELEASE
from copyscope.common.text import nearest
from copyscope.common.tree import BUILD

from . import standard_streams

# How argparse begins what it says of such words.
UNKNOWN = "unrecognized arguments: "


def version() -> str:
    """Release and commit. The commit is that of the programs in build/."""
    try:
        commit = (BUILD / "version").read_text(encoding="utf-8").strip()
    except OSError:
        commit = "not built yet"
    return f"copyscope {RELEASE} ({commit})"


class Parser(argparse.ArgumentParser):
    """An argparse parser that keeps the layout of texts and prints an error as one line."""

    def __init__(self, prog: str, epilog: str = "", **more: Any) -> None:
        """Describe the command by the docstring of its launcher, unless `more` describes it."""
        more.setdefault("description", sys.modules["__main__"].__doc__)
        super().__init__(prog=called(prog), epilog=called(epilog), allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter, **more)
        self.add_argument("-V", "--version", action="version", version=version(),
                          help="show the release and the commit that was built")

    def add_argument(self, *names: Any, **more: Any) -> Any:
        """Add an option whose help names commands as this copy has them."""
        if more.get("help"):
            more["help"] = called(more["help"])
        return super().add_argument(*names, **more)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse -- as a value: argparse removes it and returns no value, or a list."""
        words = list(sys.argv[1:] if args is None else args)
        end = words.index("--") if "--" in words else len(words)
        for number, word in enumerate(words):
            if word == "--" and number > end or number < end and word[:1] == "-" and \
                    word.endswith("=--"):
                self.error(f"{word!r}: -- ends the options and is no value")
        return super().parse_known_args(words, namespace)

    def error(self, message: str) -> Any:
        """Raise what argparse complains of; of an unknown option, say which one may be meant."""
        word = message.removeprefix(UNKNOWN).partition(" ")[0].partition("=")[0]
        near = nearest(word, self._options()) if word.startswith("--") else ""
        if message.startswith(UNKNOWN) and near:
            raise Unusable(f"{word!r} is no option: did you mean {near}?")
        raise Unusable(f"{message}; try {self.prog} --help")

    def _options(self) -> list[str]:
        """All long options, those of subcommands too."""
        found = [each for each in self._option_string_actions if each.startswith("--")]
        for action in self._actions:
            for each in action.choices.values() if isinstance(action.choices, dict) else ():
                found += each._options() if isinstance(each, Parser) else []
        return found


def unwind_on_signals() -> None:
    """Turn a signal into SystemExit, so that `finally` stops what was started."""
    def interrupted(caught: int, _frame: Any) -> None:
        raise SystemExit(128 + caught)

    for caught in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # nohup has a hangup ignored.
        if caught != signal.SIGHUP or signal.getsignal(caught) != signal.SIG_IGN:
            signal.signal(caught, interrupted)


def run(act: Callable[[list[str]], int], words: list[str], name: str, *, advice: str = "",
        stopped: str = "interrupted", disk: type[CommandError] = Unusable) -> int:
    """Do what the words ask for; any failure is one line that begins with `name`, and a status.

    `advice` is added to a message of the system about a file, and `disk` gives its exit status;
    `stopped` is the message after a Ctrl-C."""
    catch_ctrl_c()
    standard_streams.prepare()
    try:
        status = tell(act, words, name, advice, stopped, disk)
    except SystemExit as leaving:
        # As --help does.
        status = leaving.code if isinstance(leaving.code, int) else 0
    return standard_streams.flush_stdout(name, status)


def tell(act: Callable[[list[str]], int], words: list[str], name: str, advice: str, stopped: str,
         disk: type[CommandError]) -> int:
    """Act, and turn any failure into its line and status."""
    try:
        check_words(words)
        return act(words)
    except CommandError as error:
        complain(name, str(error))
        return error.status
    except OSError as error:
        complain(name, f"{named_file(error)}: {error.strerror or error}{advice}")
        return disk.status
    except KeyboardInterrupt:
        complain(name, stopped)
        return 128 + signal.SIGINT


def complain(name: str, message: str) -> None:
    """Print one line on stderr, with foreign words in it escaped and shortened."""
    print(f"{called(name)}: {one_line(called(message))}", file=sys.stderr)


def named_file(error: OSError) -> str:
    """The file that the system's error is about."""
    return os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else "a file"


def catch_ctrl_c() -> None:
    """Have a Ctrl-C raise KeyboardInterrupt; until here it ended the process at once."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def check_words(words: list[str]) -> None:
    """Refuse words that are not UTF-8: neither a record nor a page could contain them."""
    for word in words:
        try:
            word.encode("utf-8")
        except UnicodeEncodeError:
            raise Unusable(f"{os.fsencode(word)!r} is no UTF-8: rename it") from None
