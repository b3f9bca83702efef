# SPDX-License-Identifier: GPL-2.0
"""Nothing is written twice: no six equal lines in two places outside tests and data.

Lines are compared without their indentation. Blank lines, comments, includes and imports, lone
brackets and licence lines do not count and do not separate.
"""
from __future__ import annotations

import re
from collections import defaultdict

from structure.test_structure import SOURCES, TEXTS

SAME_LINES = 6
SKIPPED = re.compile(r"^(?:$|//|/\*.*\*/$|#\s*(?:include|ifn?def|if|else|endif|define \w+_H$)|#!|# "
                     r"|#$|(?:from \S+ )?import .*|[\s\[\](){};,]+$|.*SPDX-License-Identifier)")
C_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
TEXT_OR_IMPORT = re.compile(r'^\s*(?:[rf]?""").*?"""|^from \S+ import \([^)]*\)', re.DOTALL | re.MULTILINE)


def blank(found: re.Match) -> str:
    """As many empty lines as there were, so that numbers of lines stay."""
    return "\n" * found[0].count("\n")


def significant(name: str) -> list[tuple[int, str]]:
    """The number and the words of every line that counts."""
    text = (C_COMMENT if SOURCES[name] == "c" else TEXT_OR_IMPORT).sub(blank, TEXTS[name])
    lines = [(number, " ".join(line.split())) for number, line in enumerate(text.splitlines(), 1)]
    return [(number, line) for number, line in lines if not SKIPPED.match(line)]


def duplicates(names) -> list[str]:
    """Every pair of places that begins six equal lines, the longest stretch told once."""
    places = defaultdict(list)
    for name in names:
        lines = significant(name)
        for start in range(len(lines) - SAME_LINES + 1):
            key = tuple(line for _, line in lines[start:start + SAME_LINES])
            places[key].append((name, start, lines[start][0]))
    pairs = {}
    for found in places.values():
        for i, (name, start, number) in enumerate(found):
            for other, other_start, other_number in found[i + 1:]:
                pairs[name, start, other, other_start] = (number, other_number)
    return sorted(f"{name}:{number} {other}:{other_number}"
                  for (name, start, other, other_start), (number, other_number) in pairs.items()
                  if (name, start - 1, other, other_start - 1) not in pairs)


def test_nothing_is_written_twice():
    assert not duplicates(name for name in sorted(SOURCES) if not name.startswith(("tests/", "studies/tests/")))


def test_the_search_finds_what_is_written_twice(monkeypatch):
    body = "".join(f"\tcall({i});\n" for i in range(SAME_LINES))
    one = "// SPDX-License-Identifier: GPL-2.0\nint one(void)\n{\n" + body + "}\n"
    # Comments, blank lines and another indentation hide nothing; a line less is no duplicate.
    two = "int two(void)\n{\n\tif (x) {\n" + body.replace("\t", "\t\t\n\t\t", 2) + "\t/* so */\n}\n}\n"
    short = "int three(void)\n{\n" + body.replace("\tcall(5);\n", "") + "}\n"
    for name, text in (("a.c", one), ("b.c", two), ("c.c", short)):
        monkeypatch.setitem(TEXTS, name, text)
        monkeypatch.setitem(SOURCES, name, "c")
    assert duplicates(["a.c", "b.c", "c.c"]) == ["a.c:4 b.c:5"]
