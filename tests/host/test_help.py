# SPDX-License-Identifier: GPL-2.0
"""Help and versions need no module of others, nothing that is built and nothing that set-up fetches."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from copyscope.cli import fitted
from copyscope.common.tables import RELEASE
from copyscope.dispatch.command import plain
from copyscope.dispatch.words import WORDS
from helpers.records import ROOT
from host.test_python_tools import TOOLS

# What tools/setup installs; PYTHONPATH comes before the system's modules.
FETCHED = ("matplotlib", "numpy", "fastjsonschema", "jinja2")
SHELL = ("trace_run", "baseline")


@pytest.fixture(name="run", scope="module")
def fixture_run(tmp_path_factory):
    """Runs a tool of a tree in which nothing was built, by a Python that lacks modules."""
    tree = tmp_path_factory.mktemp("tree")
    for folder in ("tools", "studies"):
        shutil.copytree(ROOT / folder, tree / folder)
    (tree / "docs").mkdir()
    for page in (ROOT / "docs").iterdir():
        if page.suffix in (".8", ".json"):
            shutil.copy(page, tree / "docs")
    for name in FETCHED:
        (tree / "lacking" / name).mkdir(parents=True)
        (tree / "lacking" / name / "__init__.py").write_text(
            f"raise ModuleNotFoundError(\"No module named '{name}'\", name='{name}')\n")

    def run(tool: str, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([tree / "tools" / tool, *words], stdin=subprocess.DEVNULL, cwd=tree,
                              capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "PYTHONPATH": str(tree / "lacking"), "LC_ALL": "C",
                                   "MANPAGER": "cat"})
    return run


@pytest.mark.parametrize("tool", [*TOOLS, *SHELL])
def test_help_needs_nothing_and_fits_the_terminal_and_so_does_version(tool, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = run(tool, "--help" if len(tool) % 2 else "-h")
    assert shown.returncode == 0 and not shown.stderr and ("sage: " in shown.stdout or "SYNOPSIS" in shown.stdout), shown
    assert tool in SHELL or max(map(len, shown.stdout.splitlines())) <= 80
    told = run(tool, "-V" if len(tool) % 2 else "--version")
    assert (told.returncode, told.stderr, told.stdout) == (0, "", f"copyscope {RELEASE} (not built yet)\n")


def test_a_wider_terminal_is_used(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert 80 < max(map(len, run("sweep", "--help").stdout.splitlines())) <= 100


def test_a_text_that_is_too_wide_keeps_its_terms_and_its_examples():
    text = "one    what it is, at length\n       and on\ntwo    short\n\nA sentence of\nsome words.\n" \
        "exit: 0 done; 2 not\ndone\nexample: ./a --long-option that-is-not-broken"
    assert fitted(text, 100) == text
    assert fitted(text, 24).splitlines() == [
        "one    what it is, at", "       length and on", "two    short", "", "A sentence of some", "words.",
        "exit: 0 done; 2 not done", "example: ./a --long-option that-is-not-broken"]


def test_each_word_of_the_one_command_answers_both(run):
    for word in WORDS:
        if word.program.parent != ROOT / "tools" or word.name in ("list", "run"):
            said = run("copyscope", word.name, "--help")
            assert said.returncode == 0 and not said.stderr and len(said.stdout) > 300, word.name
            assert run("copyscope", word.name, "--version").stdout.startswith(f"copyscope {RELEASE} (")


def test_what_draws_names_the_package_that_is_missing(run, tmp_path):
    """And what says where a record is damaged. Of one that is not, none is missing."""
    record, damaged = ROOT / "tests/data/run-A1-host.json", tmp_path / "damaged.json"
    damaged.write_text(json.dumps({**json.loads(record.read_text()), "started": 7}))
    assert run("compare", str(record), str(record)).returncode == 0
    for tool, *words in (("plot", record, "--out", "figures"), ("predict", "--out", "out"),
                         ("baseline", "plot", ROOT / "tests/data/baseline-host.json", "--out", "figures"),
                         ("compare", record, damaged)):
        done = run(tool, *map(str, words))
        assert done.returncode == 3 and done.stderr.count("\n") == 1, (tool, done.stderr)
        missing = "fastjsonschema" if tool == "compare" else "matplotlib"
        assert f"install the package python3-{missing}" in done.stderr, done.stderr


@pytest.mark.parametrize("tool", ["make_tables", "copies.bt", "copies-host.bt"])
@pytest.mark.parametrize("word", ["-h", "--help"])
def test_what_is_no_command_of_an_install_tells_of_itself_and_does_nothing(tool, word, run):
    done = run(tool, word)
    assert done.returncode == 0 and not done.stderr
    assert re.search(rf"^(Usage|USAGE): (tools/)?{tool}", done.stdout, re.M) and "*/" not in done.stdout


def test_make_tables_refuses_what_it_cannot_use(run):
    for words, status in ((["--chek"], 2), (["--check", "x"], 2), ([], 3)):
        done = run("make_tables", *words)
        assert done.returncode == status and done.stderr.count("\n") == 1, done


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.8")), ids=lambda page: page.name)
def test_a_manual_page_without_man_has_no_macro_left(page: Path):
    assert not [line for line in plain(page.read_text()).splitlines() if line.startswith(".") or "\\f" in line]
