# SPDX-License-Identifier: GPL-2.0
"""The recipes of CONTRIBUTING.md work: a variant, a path and a law are added to a copy of the tree and run."""
from __future__ import annotations

import json
import re
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from helpers import records
from helpers.names import ROOT

pytestmark = records.needs_root

# What a recipe may cost at most, in files that are edited by hand.
MOST_FILES = {"variant": 2, "path": 5, "site": 7, "law": 2, "cause": 4, "kernel": 6, "figure": 6}
# Of build/, with the programs and archives themselves: what make made of the sources.
BUILT_FOLDERS = {"userspace", "bpf", "tests"}
# File -> what a regular expression finds there, and what comes in its place; of a new file what it is copied
# from, before these two.
VARIANT = {
    "userspace/tables/variants.h": (
        r"^\tX\(a2, .*\n.*\n", r"""\g<0>\tX(a9_test, "A9-test", "sendmsg()", VARIANT_PLAIN, "as A2") \\\n"""),
    "userspace/workload/send/variants.c": (
        r"^VARIANT\(a2, .*\n", r"""\g<0>VARIANT(a9_test, false, message_alloc_fields, sendmsg_fields, NULL)\n"""),
}
PATH = {
    "userspace/tables/paths.h": (
        r"^\tX\(lo, .*\n", r"""\g<0>\tX(lo9_test, "lo9-test", PATH_ONE_DEVICE, "as lo") \\\n"""),
    "userspace/path/kinds/lo9_test.c": ("userspace/path/kinds/lo.c", r"path_lo\b", "path_lo9_test"),
    "tools/lib/copyscope/matrix/cells.py": (
        r'^    "lo": .*\n', r"""\g<0>    "lo9-test": "--path lo9-test",\n"""),
    "tests/host/test_books.py": (r"^PATHS = \[", r"""\g<0>"lo9-test", """),
}
LAW = {
    "userspace/judge/laws/laws.c": (
        r"(?s)^/\*\n \* Every law, in the order.*?{ \"pin\", .*?},\n", r"""static struct sides syn_sides(const struct books *b)
{
	return (struct sides){ b->count[COUNT_fastopen_sends], 0 };
}

static void law_syn(const struct record *r, struct law *law)
{
	weigh_books(r, law, syn_sides,
			record_probe_attached(r, "accepted") ? NULL : "sends are not measured");
}

\g<0>	{ "test of SYN", "sends that put bytes into the SYN", "none", 0, false, law_syn },
"""),
    "tests/unit/expected_laws.h": (
        r"(?s)^/\* Every law, in the order.*?{ \"pin\", .*?},\n", r"""static void break_syn(struct made *m, int flow, int n)
{
	made_tx(m, flow)->count[COUNT_fastopen_sends] += n;
}

\g<0>	{ "test of SYN", break_syn, true, NEEDS_HOOKS, "accepted," },
"""),
}
ADDED = VARIANT | PATH | LAW


def recipe(name: str) -> tuple[int, list[list[str]]]:
    """How many files a recipe names in its heading, and the files of each of its steps."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    heading, body = re.search(rf"^### A {name}: (\d+) files\n(.*?)(?=^##)", text, re.M | re.S).groups()
    steps = re.split(r"^\d\. ", body.split("\nTest: ")[0], flags=re.M)[1:]
    return int(heading), [re.findall(r"`([\w/.]+\.\w+)`", step) for step in steps]


@pytest.mark.parametrize("name", MOST_FILES)
def test_a_recipe_names_as_many_files_as_its_heading_says(name):
    count, steps = recipe(name)
    assert count == len(steps) <= MOST_FILES[name]
    for step in steps:
        assert step
        for file in step:
            assert re.search("SYMBOL|QUESTION", file) or (ROOT / file).exists(), file


def apply(tree: Path, changes: dict) -> None:
    """Make the changes of a recipe by hand, as it were."""
    for name, (*source, found, instead) in changes.items():
        old = (tree / (source[0] if source else name)).read_text()
        text, count = re.subn(found, instead, old, count=0 if source else 1, flags=re.M)
        assert count, name
        (tree / name).write_text(text)


def run(tree: Path, *words: str) -> str:
    """Run a command in the copy, which must succeed."""
    done = subprocess.run(words, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def judged(tree: Path, *words: str) -> str:
    """What pytest says of the copy's own tests."""
    done = subprocess.run(["build/venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider",
                           *words], cwd=tree, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def left_out(folder: str, found: list[str]) -> set[str]:
    """What the copy does without: results, kernels, environments, builds of other kinds."""
    if Path(folder) == ROOT:
        return {".git", "results"}
    if Path(folder) == ROOT / "build":
        return {name for name in found
                if (ROOT / "build" / name).is_dir() and name not in BUILT_FOLDERS}
    return {"__pycache__"} & set(found)


@pytest.fixture(scope="module", name="tree")
def fixture_tree(tmp_path_factory) -> Path:
    """A copy of the tree and of what was built of it, with a variant, a path and a law added."""
    tree = tmp_path_factory.mktemp("recipes") / "tree"
    shutil.copytree(ROOT, tree, symlinks=True, ignore=left_out)
    (tree / "build/venv").symlink_to(ROOT / "build/venv")
    apply(tree, ADDED)
    run(tree, "make", "-j2", "all")
    (tree / "before").write_text(judged(tree, "tests/unit/test_tables.py"))
    run(tree, "make", "tables")
    return tree


@pytest.mark.parametrize("name, changes", [("variant", VARIANT), ("path", PATH), ("law", LAW)])
def test_following_a_recipe_touches_the_files_that_it_names(name, changes):
    _, steps = recipe(name)
    new = {"path": "lo9_test"}.get(name, "")
    named = [[file.replace("SYMBOL", new) for file in step] for step in steps]
    assert len(changes) == len(steps)
    assert all(sum(file in step for file in changes) == 1 for step in named)


def test_without_make_tables_a_test_names_what_is_stale(tree):
    before = (tree / "before").read_text()
    for name in ("README.md", "docs/trace_run.8", "docs/record.schema.json", "docs/METHOD.md"):
        assert f"{name}: is not up to date: run make tables" in before
    said = judged(tree, "tests/unit/test_tables.py")
    assert " failed" not in said and " passed" in said, said


def test_no_file_but_those_that_recipes_name_was_edited_by_hand(tree):
    made = set(re.findall(r"(\S+): is not up to date", (tree / "before").read_text()))
    files = {str(file.relative_to(tree)) for folder in ("bpf", "docs", "tests", "tools", "userspace")
             for file in (tree / folder).rglob("*") if file.is_file() and file.suffix != ".pyc"}
    changed = {name for name in files | {"README.md", "Makefile", "CONTRIBUTING.md"}
               if not (ROOT / name).is_file() or
               (ROOT / name).read_bytes() != (tree / name).read_bytes()}
    assert changed - made == set(ADDED)


def test_the_new_variant_runs_and_its_books_balance(tree):
    said = judged(tree, "tests/host/test_books.py", "-k", "A9-test and lo")
    assert " failed" not in said and " passed" in said, said


def test_the_books_of_a_run_on_the_new_path_balance(tree):
    said = judged(tree, "tests/host/test_books.py", "-k", "94139_at_each_site and lo9-test and not A9-test")
    assert " failed" not in said and " passed" in said, said


def test_the_new_law_is_in_the_record_and_balances(tree):
    record = json.loads(run(tree, "build/trace_run", "A9-test", "4093", "2", "--path", "lo",
                            "--messages", "23", "--quiet", "--json", "-"))
    assert [each["law"] for each in record["laws"]] == names(tree, "laws")
    law, = (each for each in record["laws"] if each["law"] == "test of SYN")
    assert law["status"] == "balanced" and law["left_is"] == "sends that put bytes into the SYN"


def names(tree: Path, table: str) -> list[str]:
    """The names in a table of the copy."""
    tables = json.loads((tree / "tools/lib/copyscope/common/tables.json").read_text())
    return [row["name"] for row in tables[table] if row.get("of_runs", True)]


@contextmanager
def without(file: Path, row: str):
    """The file as it is without a row."""
    whole = file.read_text()
    file.write_text("".join(line for line in whole.splitlines(True) if row not in line))
    assert file.read_text() != whole
    yield
    file.write_text(whole)


def test_a_law_is_broken_by_its_row_and_one_without_a_row_is_told(tree):
    program = "build/tests/unit/laws_test"
    run(tree, "make", program)
    assert "FAILED" not in run(tree, program)
    with without(tree / "tests/unit/expected_laws.h", '"test of SYN"'):
        run(tree, "make", program)
        done = subprocess.run([tree / program], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "test of SYN" in done.stdout + done.stderr
