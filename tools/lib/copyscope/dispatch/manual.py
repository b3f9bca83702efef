# SPDX-License-Identifier: GPL-2.0
"""Write what an install tells of each word, from what its help says: the manual page of one that
has none in docs/, and completion for shells.

tools/install_tree calls it with the command copyscope and the folder share. help2man knows
neither usage as argparse prints it nor examples and exit statuses of these helps.
"""
from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from pathlib import Path

from copyscope import cli
from copyscope.common.errors import Unusable
from copyscope.common.tree import RUNS_FOLDERS

from .words import WORDS, Word, help_of, script

# What a command's --help prints, be it argparse or argp: usage, options, text around them.

USAGE = re.compile(r"(?:[Uu]sage|  or): +(.*)")
HEADING = re.compile(r" ?([A-Z]?[\w ,-]*):")
# Two spaces at least part a term from what it means.
ROW = re.compile(r" {0,8}(\S+(?: \S+)*?)(?: {2,}(\S.*))?")
# One of a list of names below a sentence; a term that reaches to its meaning.
NAMED = re.compile(r"  ([\w.-]+): (\S.*)")
LONG = re.compile(r" {6}(--[\w-]+=\S+) (\S.*)")
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
        further, above = (form.fullmatch(line) for form in (GOES_ON, HEADING))
        row = NAMED.fullmatch(line) or LONG.fullmatch(line) or ROW.fullmatch(line)
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


def read_help(text: str) -> Help:
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
            rows = list(itertools.takewhile(
                lambda line: line[0] == " " or HEADING.fullmatch(line), lines[1:]))
            found.options += rows_of(rows, name)
            read_text(lines[1 + len(rows):], found)
        elif OPTION.match(lines[0]):
            found.options += rows_of(lines, "")
        else:
            read_text(lines, found)
    return found


# The page.

READS_ONLY = ("show", "compare", "plot", "fleet")
READING = "It reads records and measures nothing."
MEASURING = "What a run costs is told in the section OVERHEAD of the manual page trace_run(8)."
# Numbers are those of docs/METHOD.md.
OVERHEAD = {
    "trace_run": "Small messages pay most: on Linux 6.12 the probes add 941 instructions to the "
                 "4,985 of a plain message of 64 bytes, and 4,767 to the 20,801 of one by "
                 "MSG_ZEROCOPY. They run for every TCP send and receive and every packet of the "
                 "machine, and with --cost the kernel times every BPF program: think before you "
                 "run it on a busy server. Times in the report are from the pass without probes, "
                 "unless --pass counted or path peer made none.",
    "copyscope-watch": "On Linux 6.12 a watch adds 286 instructions to a plain round trip of 64 "
                       "bytes, which takes 21,401, 2,289 to one by MSG_ZEROCOPY and 19,526 to a "
                       "connection, 17,899 where a process beside the subject in its network "
                       "namespace makes it; without trampolines some 0.2, 1.1 and 6.5 us. "
                       "--books calls, --sizes, --stacks, --detail and --cpu cost more.",
    "copyscope-baseline": "The suite keeps a CPU busy, reads and writes files of up to 64 MiB on "
                          "the disk of --dir, and fills memory four times as large as the last "
                          "cache. Counters are of its own tasks and programs, and slow every event "
                          "of the machine that they count by some nanoseconds while they are open.",
    "copyscope": "It becomes the tool of a word: what measuring costs is in the page of each.",
}
FILES = ((RUNS_FOLDERS.replace(" or ", "\n.TQ\n.I "),
          "records, unless COPYSCOPE_RUNS names a folder"),
         ("/var/cache/copyscope\n.TQ\n.I ~/.cache/copyscope",
          "kernels, images and snapshots of guests, unless COPYSCOPE_CACHE names a folder"))
# Of the sections of the manual.
KINDS = {1: "User Commands", 8: "System Administration"}
# Pages of one tool under several names.
SAME = {"run": "trace_run", "list": "copyscope-show", "collect": "copyscope-watch"}
# Where a shell looks for a file of the command's name.
COMPLETIONS = {"bash-completion/completions/copyscope": "bash",
               "zsh/site-functions/_copyscope": "zsh"}


def escaped(text: str) -> str:
    """Text as troff takes it."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text


def tagged(rows: list[Row]) -> list[str]:
    """Terms, each with what it means."""
    said = []
    for row in rows:
        if row.heading:
            said += [f".SS {escaped(row.heading)}"]
        said += [".TP", f".B {escaped(row.tag)}", escaped(row.text) or "\\&"]
    return said


def section(name: str, lines: list[str]) -> list[str]:
    """A section, if it has lines."""
    return [f".SH {name}", *lines] if lines else []


def synopsis(whole: Help) -> list[str]:
    """Every way to type the command."""
    ways = [f".B {escaped(way)}" for way in whole.usage]
    return [".nh", ".na", *[line for way in ways for line in (way, ".br")][:-1], ".ad", ".hy"]


def described(helps: list[Help]) -> list[str]:
    """What the command does: what its help says first and after its options."""
    said: list[str] = []
    for each in helps:
        said += [".PP", escaped(each.about)] if each.about else []
        for part in each.parts:
            said += tagged([part]) if isinstance(part, Row) else [".PP", escaped(part)]
    return said[1:] if said[:1] == [".PP"] else said


def numbered(name: str) -> int:
    """The section of a page: 8 for what needs root."""
    return {word.page or f"copyscope-{word.name}": word.section for word in WORDS}.get(name, 1)


def page(name: str, helps: list[Help]) -> str:
    """The page of a command."""
    tool = name.removeprefix("copyscope-")
    cost = READING if tool in READS_ONLY else OVERHEAD.get(name, MEASURING)
    line = helps[0].about.partition(". ")[0].rstrip(".")
    files = [line for where, what in FILES for line in (".TP", f".I {where}", what)]
    text = [
        '.\\" SPDX-License-Identifier: GPL-2.0', f'.\\" Made from what {name} \\-\\-help prints.',
        f'.TH {name.upper()} {numbered(name)} "" copyscope "{KINDS[numbered(name)]}"',
        *section("NAME", [f"{escaped(name)} \\- {escaped(line[:1].lower() + line[1:])}"]),
        *section("SYNOPSIS", synopsis(helps[0])), *section("DESCRIPTION", described(helps)),
        *section("OPTIONS", [line for each in helps for line in tagged(each.options)]),
        *section("OVERHEAD", [escaped(cost)]),
        *section("EXIT STATUS", [escaped(each.ends) for each in helps if each.ends]),
        *section("FILES", files),
        *section("EXAMPLES", [line for each in helps for example in each.examples
                              for line in (".PP", ".B " + escaped(example))]),
        *section("SEE ALSO", [f".BR {each} ({numbered(each)})"
                              for each in ("copyscope", "trace_run") if each != name])]
    return "\n".join(text) + "\n"


def said(program: Path, *words: str) -> Help:
    """What the help of a command says."""
    done = help_of(program, *words)
    if done.returncode or not done.stdout:
        raise Unusable(f"{program} has no help: {done.stderr.strip()}")
    return read_help(done.stdout)


def of_word(word: Word) -> str:
    """The page of a word of the one command."""
    return page(SAME.get(word.name, f"copyscope-{word.name}"), [said(word.program)])


def write(words: list[str]) -> int:
    """Write all pages and completions."""
    if len(words) != 2:
        raise Unusable("give the command copyscope and the folder share of the install")
    command, share = map(Path, words)
    pages = share / "man"
    commands = {"copyscope": command} | {
        f"copyscope-{word.name}": word.program for word in WORDS if word.name not in SAME}
    for name, program in commands.items():
        file = pages / f"man{numbered(name)}" / f"{name}.{numbered(name)}"
        if not file.exists():
            file.write_text(page(name, [said(program)]), encoding="utf-8")
    for name, same in SAME.items():
        end = numbered(same)
        (pages / f"man{end}" / f"copyscope-{name}.{end}").symlink_to(f"{same}.{end}")
    for file, shell in COMPLETIONS.items():
        (share / file).write_text(script(shell), encoding="utf-8")
    return 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    return cli.run(write, words, "manual")
