# SPDX-License-Identifier: GPL-2.0
"""Each row of the table of wrong changes fits the tree, and each law and each place that counts has a row."""
from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest

from helpers.names import LAWS, WATCH_LAWS, names
from wrong.change import Misplaced, collected, is_program, resolved
from wrong.table import CHANGES

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("change", CHANGES, ids=[change.name for change in CHANGES])
def test_the_text_that_it_replaces_is_in_its_file_once(change):
    assert (ROOT / change.file).read_text().count(change.text) == 1
    assert change.instead != change.text and change.wrong and change.found_by


def test_the_tests_that_are_to_find_it_are_there():
    tests = {test for change in CHANGES for test in change.found_by}
    ids = collected(ROOT, tests)
    for test in tests:
        if is_program(test):
            assert (ROOT / test.removeprefix("build/")).with_suffix(".c").exists(), test
        else:
            assert resolved(test, ids)


def test_each_has_a_name_of_its_own():
    assert len({change.name for change in CHANGES}) == len(CHANGES) >= 30


def test_each_law_and_each_file_that_counts_has_one():
    told, files = {change.name for change in CHANGES}, {change.file for change in CHANGES}
    assert {f"law: {law}" for law in (*LAWS, *names("laws", of_runs=True, of_tls=True))} <= told
    assert {f"watch: {law}" for law in WATCH_LAWS} <= told
    assert {f"bpf/{name}.bpf.c" for name in ("sends", "receives", "packets", "completions", "datagrams", "tls",
                                             "sockets", "balances", "gather", "refuse")} <= files
    assert "userspace/engine/hooks.c" in files and "bpf/include/compat.bpf.h" in files


def test_one_that_fits_no_more_is_named(tmp_path):
    change = dataclasses.replace(CHANGES[0], file="a.c", text="x", instead="y")
    for text in ("", "x x"):
        (tmp_path / "a.c").write_text(text)
        with pytest.raises(Misplaced, match=f"^{change.name}: a.c has its text"):
            change.apply(tmp_path)
    (tmp_path / "a.c").write_text("1 x 2")
    assert change.apply(tmp_path) == "1 x 2" and (tmp_path / "a.c").read_text() == "1 y 2"


def test_a_test_that_is_not_there_is_named():
    with pytest.raises(Misplaced, match="no test is 'tests/host/test_x.py some words'"):
        resolved("tests/host/test_x.py some words", ["tests/host/test_x.py::test_some[other]"])


def test_the_command_lists_them_by_name_and_stage():
    done = subprocess.run([ROOT / "tests/wrong_changes", "--list", "--stage", "unit", "--only", "law: pin"],
                          capture_output=True, text=True, check=True)
    change = next(each for each in CHANGES if each.name == "law: pin")
    assert done.stdout == f"law: pin: {change.file}: {change.wrong}\n  found by {change.found_by[0]}\n"
