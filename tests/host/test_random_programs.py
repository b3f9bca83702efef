# SPDX-License-Identifier: GPL-2.0
"""Random programs on this kernel: each number of a watch is what their own calls said, or not measured."""
from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from fuzz.compare import Fault, compare
from fuzz.draw import LAST, LIFE, PROTOCOLS, UDP, WHOLE, Draw, draw, draws
from fuzz.known import KNOWN
from fuzz.suite import run_one
from helpers import records
from helpers.records import ROOT
from helpers.watch_tool import broken, watch

pytestmark = records.needs_root

# With each option of a watch, and without any.
SLICE = [draw([1], (), WHOLE, ()), draw([2], (), LIFE, ("--books", "calls", "--interval", "1")),
         draw([3], (), LAST, ("--detail", "--sizes")), draw([4], (), WHOLE, ("--stacks", "--books", "calls")),
         draw(range(5, 9), (), LIFE, ("--cpu",)), draw(range(13, 16), (), WHOLE, ("--sizes",)),
         draw(range(1, 5), (), LAST, ("--detail",), UDP), draw(range(9, 13), (), WHOLE, ("--books", "calls"), UDP)]
LONG = {protocol: draws(1000, 1320, 8, protocol=protocol) for protocol in PROTOCOLS}


def faults(folder: Path, drawn: Draw) -> list[Fault]:
    """What is wrong with the record of one watch."""
    return [fault for one in compare(folder, run_one(folder, drawn)) for fault in one.faults]


@pytest.mark.parametrize("drawn", SLICE, ids=lambda each: each.name)
def test_a_watch_says_what_the_calls_of_a_random_program_said(tmp_path, drawn):
    assert not faults(tmp_path, drawn)


@pytest.mark.long
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_so_it_does_of_hundreds(tmp_path, protocol):
    assert not [f"{drawn}: {fault.said}" for drawn in LONG[protocol] for fault in faults(tmp_path, drawn)]


@pytest.mark.long
def test_no_law_breaks_in_windows_that_open_amid_their_calls(tmp_path):
    # They share sockets among threads and processes: a call may be under way at either end of a window.
    windows, first = 0, 5000
    while windows <= 10:
        command = [ROOT / "tests/random_programs", "--seeds", f"{first}:{first + 64}", "--together", "16", "--way", LIFE,
                   "--out", tmp_path / "out"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as programs:
            while programs.poll() is None:
                windows += 1
                done = watch("--all", "--seconds", "0.1", "--json", tmp_path / "record.json")
                # Too many sockets to hold each against the schema.
                assert done.returncode == 0, done.stdout
                assert not broken(json.loads((tmp_path / "record.json").read_text()))
            assert programs.returncode == 0, programs.stdout.read()
        first += 64


@pytest.mark.parametrize("known", KNOWN, ids=lambda each: each.name)
def test_what_was_wrong_once_is_right(tmp_path, known):
    assert not faults(tmp_path, known.drawn())


def test_the_command_counts_what_it_ran():
    done = subprocess.run([ROOT / "tests/random_programs", "--seeds", "1:3"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("2 programs, ") and "0 wrong numbers, 0 false BROKEN" in done.stdout
