# SPDX-License-Identifier: GPL-2.0
"""What all commands share: how words are read, and how each failure becomes one line."""
from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from copyscope.common.errors import CommandError, Unusable, one_line
from copyscope.common.tables import MOST_SECONDS, RELEASE
from copyscope.common.text import nearest, wrapped
from copyscope.common.tree import BUILD, called

# Standard streams: userspace/common/streams.c does the same for the programs in C.


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


# Values of options.

# What may stand behind k, M or G, and changes nothing.
UNIT = "(?:[iI]?[bB])?"
LEAST_MEMORY_MIB, MOST_MEMORY_MIB = 256, 1 << 20


def number(text: str) -> int:
    """Read a whole number; k and M multiply, as in userspace/common/numbers.c."""
    parts = re.fullmatch(rf"([0-9]{{1,12}})(?:([kKmM]){UNIT})?", text)
    if not parts or int(parts[1]) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0, such as 64, 4k "
                                         "or 1M; k, KB, KiB are 1024, M, MB, MiB 1048576")
    return int(parts[1]) << {"": 0, "k": 10, "m": 20}[(parts[2] or "").lower()]


def numbers(text: str) -> list[int]:
    """Read a list like 64,4k,1M."""
    return [number(each) for each in text.split(",")]


def folder(text: str) -> Path:
    """Read the name of a folder. An empty one, as from an unset variable, is refused."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(text)


def whole(low: int, high: int) -> Callable[[str], int]:
    """Return a reader of whole numbers from `low` to `high`."""
    def read(text: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text) or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {low} to {high}")
        return int(text)
    return read


def seconds(text: str) -> float:
    """Read a duration."""
    fine = re.fullmatch(r"[0-9]*\.?[0-9]+", text) and 0 < float(text) <= MOST_SECONDS
    if not fine:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of seconds above 0, at most {MOST_SECONDS}")
    return float(text)


def share(text: str) -> float:
    """Read a share from 0 to 1."""
    if not re.fullmatch(r"[0-9]*\.?[0-9]+", text) or not float(text) <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share from 0 to 1, such as 0.05")
    return float(text)


def memory(text: str) -> str:
    """Read a size such as 512M or 2G."""
    parts = re.fullmatch(rf"(\d{{1,7}})([mMgG]){UNIT}", text)
    mib = int(parts[1]) * (1024 if parts[2] in "gG" else 1) if parts else 0
    if not LEAST_MEMORY_MIB <= mib <= MOST_MEMORY_MIB:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512M or 2G (least 256M)")
    return f"{mib}M"


# Texts around options, as wide as the terminal.

# A term and its meaning are parted by two spaces at least; below them the meaning goes on.
TERM = re.compile(r"(\S+(?: \S+)* {2,})\S")
EXAMPLES = re.compile(r"examples?:")


def items_of(lines: list[str]) -> list[tuple[str, int]]:
    """Terms with their meanings and paragraphs, each in one line, and how far in it goes on."""
    items: list[tuple[str, int]] = []
    for line in lines:
        term = TERM.match(line)
        begins = not items or term or re.match(r"[Ee]xit:", line)
        if begins or (not line.startswith(" ") and items[-1][1]):
            items.append((line, len(term[1]) if term else 0))
        else:
            items[-1] = (f"{items[-1][0]} {line.strip()}", items[-1][1])
    return items


def fitted(text: str, width: int) -> str:
    """A text whose lines are no wider than that; what fits stays as it is, as examples do."""
    lines = text.splitlines()
    if all(len(line) <= width for line in lines):
        return text
    first = next((number for number, line in enumerate(lines) if EXAMPLES.match(line)), len(lines))
    said: list[str] = []
    block: list[str] = []
    for number, line in enumerate([*lines[:first], ""]):
        if line.strip():
            block.append(line)
            continue
        for item, hang in items_of(block):
            said += wrapped(item, " " * hang, width)
        said += [""] if number < first else []
        block = []
    return "\n".join([*said, *lines[first:]])


class Fitting(argparse.RawDescriptionHelpFormatter):
    """Keeps the layout of texts where it fits into the terminal."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Argparse asks here for a description or an epilog."""
        return fitted(text, max(width, 60))


# How argparse begins what it says of such words.
UNKNOWN = "unrecognized arguments: "


# Words of a program that is started with what is left of them.

def own_words(words: list[str]) -> list[str]:
    """Those before a command that is watched."""
    return words[:words.index("--")] if "--" in words else words


def value_of(words: list[str], option: str, example: str) -> str | None:
    """What an option of a watch is given, if it stands there."""
    for at, word in enumerate(words):
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
        if word == option:
            if at + 1 == len(words):
                raise Unusable(f"{option} needs a value, as in {option} {example}")
            return words[at + 1]
    return None


def without(words: list[str], option: str) -> list[str]:
    """The words but for that option and its value."""
    kept, skip = [], False
    for word in words:
        if not skip and not word.startswith(f"{option}=") and word != option:
            kept.append(word)
        skip = word == option and not skip
    return kept


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
                         formatter_class=Fitting, **more)
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
    prepare()
    try:
        status = tell(act, words, name, advice, stopped, disk)
    except SystemExit as leaving:
        # As --help does.
        status = leaving.code if isinstance(leaving.code, int) else 0
    return flush_stdout(name, status)


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
