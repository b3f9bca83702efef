# SPDX-License-Identifier: GPL-2.0
"""Write README and docs/ for an installed copy: its names of commands, links that land.

tools/install_tree calls it with the folder of the tree and that of the documents.
"""
from __future__ import annotations

import re
import shutil
from pathlib import Path

from copyscope import cli
from copyscope.common.errors import Unusable
from copyscope.common.tree import COMMAND, NAMES

PAGES = ("README.md", "docs/*.md")
PICTURES = ("docs/*.svg",)
# Kept beside the tools, which read them.
SCHEMAS = "docs/*.schema.json"
# From docs/ of the documents, share/doc/copyscope/docs, to those of the tools.
TO_SCHEMAS = "../../../../lib/copyscope/docs"
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
# What else of tools/ and of the tree's own places a page names.
BESIDE = re.compile(r"(?<![\w/])tools/(caches|profiles|copies[\w-]*\.bt)")
RULES = re.compile(r"(?<![\w/])packaging/(prometheus/)")
WORKLOAD = re.compile(r"(?<![\w/])(build/workload)(?!\w)")
RUNS = re.compile(r"(?<![\w/])results/runs(?!\w)")
MANUAL = re.compile(r"man -l docs/([\w-]+)\.8")


def own_names(text: str) -> str:
    """A page with the names that an installed copy has; records are those of root."""
    text = COMMAND.sub(lambda found: NAMES[found[1]], text)
    text = WORKLOAD.sub(r"lib/copyscope/\1", text)
    text = RULES.sub(r"share/copyscope/\1", BESIDE.sub(r"lib/copyscope/tools/\1", text))
    return MANUAL.sub(r"man \1", RUNS.sub("/var/lib/copyscope/runs", text))


def landing(text: str, page: Path, there: set[Path]) -> str:
    """The page without links to what is not installed; their words stay."""
    def kept(found: re.Match[str]) -> str:
        if found[2].startswith("http"):
            return found[0]
        target = Path(*resolved(page.parent / found[2]))
        return found[0] if target in there else found[1]
    return LINK.sub(kept, text)


def resolved(path: Path) -> list[str]:
    """The steps of a path without .. in it."""
    steps: list[str] = []
    for step in path.parts:
        steps = steps[:-1] if step == ".." else [*steps, step]
    return steps


def named_from(tree: Path, patterns: tuple[str, ...]) -> list[Path]:
    """Files of the tree, named from there."""
    return sorted(file.relative_to(tree) for pattern in patterns for file in tree.glob(pattern))


def write(words: list[str]) -> int:
    """Write all documents."""
    if len(words) != 2:
        raise Unusable("give the folder of the tree and that of the documents")
    tree, place = map(Path, words)
    pages, pictures = named_from(tree, PAGES), named_from(tree, PICTURES)
    schemas = named_from(tree, (SCHEMAS,))
    there = {*pages, *pictures, *schemas}
    (place / "docs").mkdir(parents=True, exist_ok=True)
    for page in pages:
        text = landing((tree / page).read_text(encoding="utf-8"), page, there)
        (place / page).write_text(own_names(text), encoding="utf-8")
    for picture in pictures:
        shutil.copyfile(tree / picture, place / picture)
    for schema in schemas:
        (place / schema).symlink_to(f"{TO_SCHEMAS}/{schema.name}")
    return 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    return cli.run(write, words, "documents")
