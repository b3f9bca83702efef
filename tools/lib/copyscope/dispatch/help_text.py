# SPDX-License-Identifier: GPL-2.0
"""Read what a command's --help prints, be it argparse or argp: usage, options, text around them."""
from __future__ import annotations

import re
from dataclasses import dataclass, field

USAGE = re.compile(r"(?:[Uu]sage|  or): +(.*)")
HEADING = re.compile(r" ?([A-Z]?[\w ,-]*):")
# Two spaces at least part a term from what it means.
ROW = re.compile(r" {0,8}(\S+(?: \S+)*?)(?: {2,}(\S.*))?")
# Deeper in than any term begins.
GOES_ON = re.compile(r" {9,}(\S.*)")
ENDS = re.compile(r"[Ee]xit: (.*)")
EXAMPLE = re.compile(r"examples?: (.*)")
OPTION = re.compile(r" +(-\w, *)?--\w")
NO_HEADINGS = ("options", "positional arguments")


@dataclass
class Row:
    """A term and what it means; the first one below a heading has that, too."""

    tag: str
    text: str = ""
    heading: str = ""


@dataclass
class Help:
    """The parts of a help."""

    usage: list[str] = field(default_factory=list)
    about: str = ""
    options: list[Row] = field(default_factory=list)
    parts: list[str | Row] = field(default_factory=list)  # paragraphs and terms, in their order
    ends: str = ""
    examples: list[str] = field(default_factory=list)


def blocks_of(text: str) -> list[list[str]]:
    """The lines between empty ones."""
    return [block.rstrip().splitlines() for block in re.split(r"\n\s*\n", text) if block.strip()]


def usage_of(lines: list[str], into: Help) -> list[str]:
    """Take the ways to type the command; return the lines below them."""
    for number, line in enumerate(lines):
        way = USAGE.match(line)
        if way:
            into.usage.append(way[1])
        elif line.startswith(" "):
            into.usage[-1] += f" {line.strip()}"
        else:
            return lines[number:]
    return []


def rows_of(lines: list[str], heading: str) -> list[Row]:
    """Terms and their meanings."""
    rows: list[Row] = []
    for line in lines:
        further, row, above = (form.fullmatch(line) for form in (GOES_ON, ROW, HEADING))
        if further and rows:
            rows[-1].text = f"{rows[-1].text} {further[1]}".strip()
        elif above:
            heading = above[1]
        elif row:
            rows.append(Row(row[1], row[2] or "", heading))
            heading = ""
    return rows


def read_text(lines: list[str], into: Help) -> None:
    """Take a block of the text around: sentences, terms, how it ends, examples."""
    told, place = "", "text"
    for line in lines:
        ends, example, row = ENDS.match(line), EXAMPLE.match(line), ROW.fullmatch(line)
        further = GOES_ON.fullmatch(line)
        if ends or example:
            place = "ends" if ends else "examples"
            line = (ends or example)[1]
        if place == "ends":
            into.ends = f"{into.ends} {line.strip()}".strip()
        elif place == "examples":
            into.examples.append(line.strip())
        elif further and into.parts and isinstance(into.parts[-1], Row) and not told:
            into.parts[-1].text += f" {further[1]}"
        elif row and row[2] and not row[1].endswith("."):
            into.parts += [told] if told else []
            told = ""
            into.parts.append(Row(row[1], row[2]))
        else:
            told = f"{told} {line.strip()}".strip()
    into.parts += [told] if told else []


def read(text: str) -> Help:
    """Read a help."""
    found = Help()
    first, *blocks = blocks_of(text)
    about = usage_of(first, found)
    if not about and blocks:
        about = blocks.pop(0)
    found.about = " ".join(map(str.strip, about))
    for lines in blocks:
        heading = HEADING.fullmatch(lines[0])
        if heading:
            name = "" if heading[1] in NO_HEADINGS else heading[1]
            found.options += rows_of(lines[1:], name)
        elif OPTION.match(lines[0]):
            found.options += rows_of(lines, "")
        else:
            read_text(lines, found)
    return found
