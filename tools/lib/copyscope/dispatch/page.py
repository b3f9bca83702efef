# SPDX-License-Identifier: GPL-2.0
"""A manual page as text without man, which a small system may lack: enough for our own pages."""
from __future__ import annotations

import gzip
import re
from pathlib import Path

from copyscope.common.text import wrapped

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
