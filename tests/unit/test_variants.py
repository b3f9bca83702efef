# SPDX-License-Identifier: GPL-2.0
"""One list of variants: the workload has it, and all that name variants name the same ones."""
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import books, workload

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "lib"))

from copyscope.crossover import command as crossover  # noqa: E402

NAME = r"(A\d[-\w]*)"


def said(*words: str) -> str:
    """What a program says, on either stream."""
    done = subprocess.run([ROOT / words[0], *words[1:]], capture_output=True, text=True,
                          check=False, timeout=10)
    return done.stdout + done.stderr


@pytest.fixture(scope="module", name="variants")
def fixture_variants() -> list[str]:
    """The variants that the workload says it has, in its order."""
    text = said("build/workload", "server", "--help").split("VARIANT is how")[1]
    found = re.findall(rf"^\s*{NAME}\s", text, re.MULTILINE)
    assert len(found) == 10 and len(set(found)) == 10
    return found


def test_trace_run_takes_the_same(variants):
    told = said("build/trace_run", "A9", "64", "1").split("one of ")[1].split(";")[0]
    assert told.split() == variants


def test_the_readme_and_the_manual_page_explain_each(variants):
    readme = re.findall(rf"^\| {NAME} \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    manual = re.findall(rf"^\.B {NAME}$", (ROOT / "docs/trace_run.8").read_text(), re.MULTILINE)
    assert list(dict.fromkeys(readme)) == variants
    assert sorted(set(manual)) == sorted(variants)


def test_a_crossover_compares_all_that_deliver_what_was_sent(variants):
    assert list(crossover.VARIANTS) == [each for each in variants if each != "A3-reuse"]


def test_the_tests_try_all_of_them(variants):
    assert books.VARIANTS == workload.VARIANTS == variants
