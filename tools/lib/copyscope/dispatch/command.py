# SPDX-License-Identifier: GPL-2.0
"""Start the tool that a word names, or answer help, --version and completion."""
from __future__ import annotations

import gzip
import os
import re
import tempfile
from pathlib import Path

from copyscope import cli
from copyscope.common import programs
from copyscope.common.errors import Refused, Unusable, lacks_module
from copyscope.common.text import suggested, wrapped
from copyscope.common.tree import BUILD, DOCS, INSTALLED, ROOT

from . import manual, page, straight, whom
from .words import NAMES, OWN, SHELLS, TOOLS, WORDS, Word, find, script, suggestion

# A manual page as text without man, which a small system may lack: enough for our own pages.

# Macros that print their words in one font, or in two in turn.
FONTS = (".B", ".I", ".BR", ".BI", ".RI", ".RB", ".IR", ".IB")
HEADS = (".SH", ".SS")
TAG = ".TP"


def source(page: Path) -> str:
    """What a page is made of; packages compress theirs."""
    raw = page.read_bytes()
    return (gzip.decompress(raw) if page.suffix == ".gz" else raw).decode()


def printed(macro: str, rest: str) -> str:
    """The text of one line."""
    text = re.sub(r"\\f[A-Z]|\\&", "", rest).replace("\\-", "-")
    if macro not in FONTS:
        return text if not macro else ""
    words = [quoted or word for quoted, word in re.findall(r'"([^"]*)"|(\S+)', text)]
    # Of two fonts in turn, what is between the words stands in quotes.
    return ("" if len(macro) > 2 else " ").join(words)


def folded(text: str, indent: int) -> list[str]:
    """A paragraph."""
    return wrapped(" " * indent + text, " " * indent)


def plain(page: str) -> str:
    """The whole page. A tag stands above what it is the tag of."""
    said: list[str] = []
    paragraph: list[str] = []
    indent, tag = 2, False
    for line in [*page.splitlines(), ".PP"]:
        macro, _, rest = line.partition(" ") if line.startswith(".") else ("", "", line)
        text = printed(macro, rest)
        if text:
            paragraph.append(text)
        if tag and text or not text and macro in (*HEADS, TAG, ".PP", ".br", ".RS", ".RE"):
            said += folded(" ".join(paragraph), 2 if tag else indent) if paragraph else []
            paragraph, indent = [], 8 if tag else indent
            tag = False
        if macro in HEADS:
            said += ["", rest.replace('"', "")]
        if macro in (*HEADS, ".PP"):
            indent = 2
        tag = tag or macro == TAG
    return "\n".join(said).lstrip("\n") + "\n"


NAME = "copyscope"
HELP, VERSION = ("-h", "-?", "--help"), ("-V", "--version")
HEAD = """\
Usage: copyscope WORD [ARGUMENT...]
  or:  copyscope help [WORD] | completion bash|zsh | --help | --version

Where does the kernel copy TCP payload, who pays for it, and why?
"""
FOOT = """\
copyscope WORD --help lists what may follow a word.

  -h, --help     list the words
  -V, --version  show the release and the commit that was built

Exit: that of the tool; 2 there is no such word; 3 its program is not built.
example: source <(copyscope completion bash)
"""


def overview() -> str:
    """What --help prints."""
    described = {word.name: word.line for word in WORDS} | OWN
    rows = [f"  {name:<11} {line}" for name, line in described.items()]
    return "\n".join([HEAD, *rows, "", FOOT])


def become(program: Path | str, words: list[str]) -> int:
    """Become another program, as if it had been typed."""
    try:
        straight.become(str(program), words)
    except FileNotFoundError:
        place, remedy = Path(program).parent, ""
        if place == BUILD:
            remedy = ": run make first"
        elif place == TOOLS and INSTALLED:
            remedy = ": install the package copyscope-studies"
        raise Refused(f"{program} is not there{remedy}") from None
    except OSError as error:
        raise Refused(f"{program} cannot be started: {error.strerror}") from None


def hand_over(text: str) -> None:
    """Make a text the standard input of the program that is started next."""
    with tempfile.TemporaryFile() as file:
        file.write(text.encode())
        file.seek(0)
        os.dup2(file.fileno(), 0)


def page_of(word: Word | None) -> Path | None:
    """The manual page of a word, in the tree or beside an installed copy."""
    name = word.page or f"{NAME}-{word.name}" if word else NAME
    number = word.section if word else 1
    places = (DOCS, ROOT.parent.parent / f"share/man/man{number}")
    found = (place / f"{name}.{number}{end}" for place in places for end in ("", ".gz"))
    return next((file for file in found if file.is_file()), None)


def show_help(words: list[str]) -> int:
    """Show the manual page of a word, by man if there is one."""
    if len(words) > 1:
        raise Unusable(f"one word too many: {words[1]!r}; try {NAME} help WORD")
    word = chosen(words[0]) if words and words[0] not in OWN else None
    page, man = page_of(word), programs.find("man")
    if page and man:
        return become(man, ["-l", str(page)])
    if word:
        # In the tree most words have no page of their own: it is made as for an install.
        text = source(page) if page else manual.of_word(word)
        if man:
            hand_over(text)
            return become(man, ["-l", "-"])
        print(plain(text), end="")
        return 0
    print(overview(), end="")
    return 0


def chosen(name: str) -> Word:
    """The row of a word, or a line that says which may have been meant."""
    word = find(name)
    if word:
        return word
    near = suggestion(name)
    ending = suggested(f"{NAME} {near}" if near else "", [*NAMES, *OWN])
    raise Unusable(f"{name!r} is no word of {NAME}: {ending}")


def complete(words: list[str]) -> int:
    """Print completion for a shell."""
    if len(words) != 1 or words[0] not in SHELLS:
        raise Unusable(f"completion is for {' or '.join(SHELLS)}: give one of them")
    print(script(words[0]), end="")
    return 0


def act(words: list[str]) -> int:
    """Answer what is asked of the dispatcher itself."""
    first, *rest = words
    if first in ("help", "completion"):
        return show_help(rest) if first == "help" else complete(rest)
    if first not in (*HELP, *VERSION):
        if first.startswith("-"):
            raise Unusable(f"{first!r} is no option: first comes a word; try {NAME} --help")
        chosen(first)
    if rest:
        raise Unusable(f"{rest[0]!r} cannot follow {first}; try {NAME} --help")
    print(f"{cli.version()}\n" if first in VERSION else overview(), end="")
    return 0


def answer_unbuilt(word: Word, words: list[str]) -> list[str]:
    """What can be said of a program that is not built: the words that ask the dispatcher for its
    help or version, or none."""
    if word.program.exists() or not words:
        return []
    return ["help", word.name] if words[0] in HELP else [VERSION[-1]] if words[0] in VERSION else []


def exports(words: list[str]) -> bool:
    """Whether a watch is to write metrics, or files that rotate."""
    return bool({each.partition("=")[0] for each in cli.own_words(words)} & set(straight.EXPORTS))


def export(words: list[str]) -> int:
    """A watch with metrics."""
    # Not earlier: what most words need nothing of takes a tenth of a second to import.
    try:
        from copyscope.metrics import command  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        # The Debian package recommends it only.
        raise lacks_module(error) from None
    return command.watch(words)


def is_far(words: list[str]) -> bool:
    """Whether a watch is to be on another host; its help is told here."""
    own = {each.partition("=")[0] for each in cli.own_words(words)}
    return bool(own & set(straight.FAR)) and not own & {*HELP, *VERSION}


def watch(word: Word, words: list[str]) -> int:
    """A watch, with whatever is made beside its report."""
    goes_far = is_far(words)
    # Which names there are is this machine's.
    words = words if goes_far else whom.told(words)
    if exports(words) and not goes_far:
        return export(words)
    if page.is_asked(words):
        return page.watch(words)
    if goes_far:
        # Not earlier: what reads records takes a tenth of a second to import.
        from . import far  # pylint: disable=import-outside-toplevel
        return far.watch(words)
    return become(word.program, straight.read_by(words))


def main(words: list[str]) -> int:
    """Start the tool of a word. What follows the word is for the tool to judge."""
    word = find(words[0]) if words else None
    instead = answer_unbuilt(word, words[1:]) if word else []
    if instead:
        return cli.run(act, instead, NAME)
    if word and word.name == "watch":
        return cli.run(lambda _: watch(word, words[1:]), [], f"{NAME} watch")
    if word:
        return cli.run(lambda _: become(word.program, [*word.before, *words[1:]]),
                       [], NAME)
    if not words:
        words = ["--help"]
    return cli.run(act, words, NAME)
