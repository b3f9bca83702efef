# SPDX-License-Identifier: GPL-2.0
"""Write a manual page for each installed command that has none in docs/, from what its help says.

tools/install_tree calls it with the folders of programs and of pages.
"""
from __future__ import annotations

import subprocess
from pathlib import Path

from copyscope import cli
from copyscope.common.errors import Unusable
from copyscope.common.tree import RUNS_FOLDERS

from .help_text import Help, Row, read
from .words import HELP_S, WORDS

SECTION = "8"
# Roles of the workload, each with a help of its own.
ROLES = {"copyscope-workload": ("server", "client")}
READS_ONLY = ("records", "compare", "plot")
READING = "It reads records and measures nothing."
MEASURING = "What a run costs is told in the section OVERHEAD of the manual page trace_run(8)."
WORKLOAD = "It has no probes: what it costs is the load that it makes."
FILES = ((RUNS_FOLDERS.replace(" or ", "\n.TQ\n.I "),
          "records, unless COPYSCOPE_RUNS names a folder"),
         ("/var/cache/copyscope\n.TQ\n.I ~/.cache/copyscope",
          "kernels and images of guests, unless COPYSCOPE_CACHE names a folder"))
# Pages of one tool under several names.
SAME = {"run": "trace_run", "list": "copyscope-records", "show": "copyscope-records"}


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


def page(name: str, helps: list[Help]) -> str:
    """The page of a command."""
    tool = name.removeprefix("copyscope-")
    cost = READING if tool in READS_ONLY else WORKLOAD if name in ROLES else MEASURING
    line = helps[0].about.partition(". ")[0].rstrip(".")
    files = [line for where, what in FILES for line in (".TP", f".I {where}", what)]
    text = [
        '.\\" SPDX-License-Identifier: GPL-2.0', f'.\\" Made from what {name} \\-\\-help prints.',
        f'.TH {name.upper()} {SECTION} "" copyscope "System Administration"',
        *section("NAME", [f"{escaped(name)} \\- {escaped(line[:1].lower() + line[1:])}"]),
        *section("SYNOPSIS", synopsis(helps[0])), *section("DESCRIPTION", described(helps)),
        *section("OPTIONS", [line for each in helps for line in tagged(each.options)]),
        *section("OVERHEAD", [cost]),
        *section("EXIT STATUS", [escaped(each.ends) for each in helps if each.ends]),
        *section("FILES", [] if name in ROLES else files),
        *section("EXAMPLES", [line for each in helps for example in each.examples
                              for line in (".PP", ".B " + escaped(example))]),
        *section("SEE ALSO", [".BR copyscope (8),", ".BR trace_run (8)"])]
    return "\n".join(text) + "\n"


def said(program: Path, *words: str) -> Help:
    """What the help of a command says."""
    done = subprocess.run([program, *words, "--help"], stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, timeout=HELP_S, check=False)
    if done.returncode or not done.stdout:
        raise Unusable(f"{program} has no help: {done.stderr.strip()}")
    return read(done.stdout)


def of_role(program: Path, role: str) -> Help:
    """What the help of a role says, with the role in each heading."""
    found = said(program, role)
    for row in found.options:
        row.heading = row.heading and f"{role}: {row.heading}"
    return found


def write(words: list[str]) -> int:
    """Write all pages."""
    if len(words) != 2:
        raise Unusable("give the folder of the commands and that of the pages")
    programs, pages = map(Path, words)
    for program in sorted(programs.iterdir()):
        file = pages / f"{program.name}.{SECTION}"
        if not file.exists():
            roles = ROLES.get(program.name, ())
            helps = [said(program), *(of_role(program, role) for role in roles)]
            file.write_text(page(program.name, helps), encoding="utf-8")
    for word in WORDS:
        file = pages / f"copyscope-{word.name}.{SECTION}"
        if not file.exists():
            file.symlink_to(f"{SAME[word.name]}.{SECTION}")
    return 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    return cli.run(write, words, "manual")
