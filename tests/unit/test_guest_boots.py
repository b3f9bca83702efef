# SPDX-License-Identifier: GPL-2.0
"""A chosen test boots the guest that it asks for, which makes its run and no other; one that dies is one failure."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
# As files of tests/guest are, with guests that say what they would have run. That of 6.18 dies.
FILE = f"""
import sys
sys.path[:0] = ["{TESTS}", "{TESTS.parent}/tools/lib"]
import pytest
from guest import boots

RUNS = {{"a": "A1 64 1", "b": "A3 64 1", "c": "A3 64 2"}}
makes = boots.Maker({{"a": boots.ALL, "b": boots.ALL, "c": ("6.1",)}})
of_runs = boots.where_run(makes)


def boot(release, out, command, options):
    listing = out.with_name(release + ".runs").read_text().split("\\n")
    # In one piece, as others boot at the same time.
    sys.__stderr__.write(" ".join(["booted", release, *(line.split()[0] for line in listing if line)]) + "\\n")
    assert release != "6.18", "the guest died"
    return boots.Outcome(release, out)


@pytest.fixture(scope="module", name="outcomes")
def all_kernels(request, tmp_path_factory):
    boots.boot = boot
    return boots.run_lines(tmp_path_factory.mktemp("x"), RUNS, (), boots.ALL, makes, asked=boots.Asked(request))


@of_runs("run", RUNS)
def test_of_a_run(outcome, run):
    pass


@pytest.mark.parametrize("outcome", boots.ALL, indirect=True)
def test_of_a_kernel(outcome):
    pass


def test_of_all(outcomes):
    assert "6.1" in outcomes and [outcome.release for outcome in outcomes.values()]
"""
WHOLE = {"6.1 a b c", "6.12 a b", "6.18 a b", "7.2 a b"}


def chosen(folder: Path, keyword: str) -> tuple[set[str], str]:
    """What pytest booted for the tests of this name, and its last line."""
    (folder / "test_file.py").write_text(FILE)
    (folder / "conftest.py").write_text((TESTS / "guest" / "conftest.py").read_text())
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-k", keyword, "."],
                          cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    booted = {line.removeprefix("booted ") for line in done.stderr.splitlines() if line.startswith("booted ")}
    return booted, done.stdout.splitlines()[-1]


@pytest.mark.parametrize("keyword, booted", [
    ("test_of_a_run and 6.12-b", {"6.12 b"}),
    ("test_of_a_run and c", {"6.1 c"}),
    ("test_of_a_run and 7.2 or test_of_a_run and 6.1-a", {"7.2 a b", "6.1 a"}),
    ("test_of_a_kernel and 7.2", {"7.2 a b"}),
])
def test_a_chosen_test_boots_its_kernel_for_its_runs(tmp_path, keyword, booted):
    found, said = chosen(tmp_path, keyword)
    assert found == booted and " failed" not in said and " passed" in said


@pytest.mark.parametrize("keyword", ["test_of_all", "test"])
def test_what_names_no_kernel_or_all_boots_each_once_for_all_runs(tmp_path, keyword):
    assert chosen(tmp_path, keyword)[0] == WHOLE


def test_a_guest_that_dies_is_one_failure(tmp_path):
    said = chosen(tmp_path, "test")[1]
    # Two tests of its runs, one of its kernel, one of all: the first fails or does not come up, the others tell.
    assert "1 failed" in said or "1 error" in said
    assert "3 skipped" in said and "10 passed" in said
