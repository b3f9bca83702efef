# SPDX-License-Identifier: GPL-2.0
"""Documents lead where they say: links, the index, the commands that a reader pastes."""
from __future__ import annotations

import functools
import json
import re
import subprocess
from pathlib import Path

from helpers.help_texts import help_of

ROOT = Path(__file__).resolve().parents[2]
README, INDEX = ROOT / "README.md", ROOT / "docs/INDEX.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "results/README.md", ROOT / "results/bench.md",
         ROOT / "results/caches/README.md", ROOT / "results/baseline/report.md",
         *sorted((ROOT / "docs").glob("*.md"))]
MOST_LINES = 140
MOST_ROWS = 12
# Of README, docs/, CONTRIBUTING and CHANGELOG together.
MOST_WORDS = 40_000
# What a clone takes for results; with pictures as outlines, and all tables unpacked, it was twice as much.
MOST_RESULTS = 14_500_000
LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)|src(?:set)?=\"([^\"]+)\"")
# Of the tree, as a line or a sentence begins a command.
TOOL = re.compile(r"(?:^|[\s`])(?:\./)?(tools/[\w/]+|tests/(?:run|campaign|bench))(?=[\s`])", re.MULTILINE)
COPYSCOPE = re.compile(r"\./tools/copyscope (\w+)")
COMMAND = re.compile(r"(?:\./)?tools/(\w+)((?: +[^\s|`#&>;)]+)*)")
# Words of tools/claims and tools/baseline that have options of their own.
OF_THEIR_OWN = [[word] for word in ("check", "report", "plot", "mistakes", "agree", "keep")]


def anchors(page: Path) -> set[str]:
    """The names by which headings of a page can be linked, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {"#" + re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def lost_links(page: Path) -> list[str]:
    """Links of a page that lead to no file, or to no heading of it."""
    found = []
    for name, anchor, image in LINK.findall(page.read_text(encoding="utf-8")):
        if name.startswith("http"):
            continue
        target = page.parent / (name or image or page.name)
        # What a command of the page writes is not there before.
        if not target.exists() and "claims/" not in str(target) or anchor and anchor not in anchors(target):
            found.append(f"{page.relative_to(ROOT)}: {name or image}{anchor}")
    return found


def test_every_link_leads_to_a_file_and_to_a_heading():
    assert not [link for page in PAGES for link in lost_links(page)]


def test_commands_to_paste_name_what_there_is():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name in TOOL.findall(text):
            assert (ROOT / name).exists() or (ROOT / name).with_suffix(".bt").exists(), (page, name)
        for word in COPYSCOPE.findall(text):
            assert f"\n  {word} " in help_of("copyscope"), (page, word)


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Each tool that a page starts, with the words that are its own."""
    found = []
    for tool, words in COMMAND.findall(text):
        if (ROOT / "tools" / tool).is_file():
            own = words.split(" -- ")[0].split()
            found.append((tool, own))
    return found


def test_commands_to_paste_have_the_options_that_they_name():
    for tool, words in [each for page in PAGES for each in commands(page.read_text(encoding="utf-8"))]:
        options = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        if not options:
            continue
        first = words[:1] if tool == "copyscope" and words[0][0] != "-" or words[:1] in OF_THEIR_OWN else []
        text = help_of(tool, *first) + (help_of("trace_run") if tool == "peers" else "")
        for option in options:
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", text), (tool, words, option)


def test_a_page_says_of_each_command_which_kernel_it_needs():
    text = (ROOT / "docs/RUNNING.md").read_text(encoding="utf-8")
    rows = re.search(r"^\| command \| the kernel that it needs \|\n\|---\|---\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    words = set(re.findall(r"^  (\w+) ", help_of("copyscope"), re.MULTILINE)) - {"help", "completion"}
    assert len(words) > 10 and words <= set(re.findall(r"`(\w+)", rows[1]))


def test_the_picture_is_that_of_the_results():
    name = "copies-by-site.svg"
    # A release and an install have docs/ and no results/.
    assert (ROOT / "docs" / name).read_bytes() == (ROOT / "results/standard/figures" / name).read_bytes(), \
        f"copy results/standard/figures/{name} to docs/"


@functools.cache
def kept() -> list[str]:
    """What git keeps in results/."""
    done = subprocess.run(["git", "-C", ROOT, "ls-files", "results"], capture_output=True, text=True, check=False)
    return done.stdout.split()


def test_results_keep_a_picture_once_as_a_drawing():
    assert not [name for name in kept() if name.endswith(".png")], "git rm --cached them"


def test_results_keep_records_and_tables_of_their_rows_packed():
    unpacked = re.compile(r"/runs/|/(tidy|points|modelled_sites)\.csv$|/baseline/record-")
    assert not list(filter(unpacked.search, kept())), "docs/SWEEPS.md says how they are packed"


def test_results_are_small():
    assert sum((ROOT / name).stat().st_size for name in kept()) < MOST_RESULTS


def test_the_index_has_every_page():
    listed = INDEX.read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page == INDEX or f"]({page.name})" in listed, page.name


def test_the_readme_is_short():
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES
    tables = "".join("|" if line.startswith("|") else " " for line in lines).split()
    assert max(map(len, tables)) - 2 <= MOST_ROWS


def test_the_documents_are_short():
    pages = [README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")]
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= MOST_WORDS, \
        "cut what stands twice, history, and what a command says itself"


def alike(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A table; readers disagree about which of two equal keys counts."""
    made = dict(pairs)
    assert len(made) == len(pairs), sorted(key for key, _ in pairs)
    return made


def test_no_table_of_a_committed_document_has_a_key_twice():
    files = [each for folder in ("docs", "studies", "tools", "tests", "results")
             for each in (ROOT / folder).rglob("*.json")]
    assert {"crossover.schema.json", "tables.json", "run-A3-host.json"} <= {each.name for each in files}
    for file in files:
        try:
            json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=alike)
        except AssertionError as error:
            raise AssertionError(f"{file}: {error}") from None
