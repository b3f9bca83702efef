# SPDX-License-Identifier: GPL-2.0
"""The modelled caches agree with cachegrind, which shares no code with them, on the same program."""
from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "studies" / "tests"
PROGRAM, REPLAY = BUILT / "mixed_walk", BUILT / "trace_replay"
# Of L1d and of the last level: bytes, ways. All of cachegrind's caches have lines of 64 bytes here.
SHAPES = [((32 << 10, 8), (256 << 10, 16)), ((16 << 10, 2), (1 << 20, 8)),
          ((64 << 10, 4), (8 << 20, 16))]
EVENTS = ("Dr", "D1mr", "DLmr", "Dw", "D1mw", "DLmw")

pytestmark = [
    pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is missing: run tools/setup"),
    pytest.mark.skipif(not REPLAY.exists(), reason="not built: make unit-tests")]


def valgrind(*words: object) -> None:
    """Run the program under one of valgrind's tools, at the same addresses in each run."""
    subprocess.run(["setarch", "-R", "valgrind", "-q", *map(str, words), PROGRAM], check=True,
                   capture_output=True, timeout=200)


@pytest.fixture(scope="module", name="trace")
def all_accesses(tmp_path_factory) -> Path:
    """Every access to data of the program, as lackey saw it."""
    folder = tmp_path_factory.mktemp("trace")
    valgrind("--tool=lackey", "--trace-mem=yes", f"--log-file={folder}/all")
    file = folder / "accesses"
    with file.open("wb") as accesses:
        # Two lines of three are instructions.
        subprocess.run(["grep", "-v", "^I", folder / "all"], stdout=accesses, check=True)
    (folder / "all").unlink()
    return file


@pytest.mark.parametrize("near, last", SHAPES)
def test_misses_are_those_of_cachegrind_within_1_percent(near, last, trace, tmp_path):
    valgrind("--tool=cachegrind", "--cache-sim=yes", f"--D1={near[0]},{near[1]},64",
             f"--LL={last[0]},{last[1]},64", f"--cachegrind-out-file={tmp_path}/found")
    text = (tmp_path / "found").read_text()
    names = re.search(r"^events: (.*)$", text, re.MULTILINE)[1].split()
    sums = map(int, re.search(r"^summary: (.*)$", text, re.MULTILINE)[1].split())
    theirs = dict(zip(names, sums))
    with open(trace, "rb") as accesses:
        done = subprocess.run([REPLAY, *map(str, (*near, *last, 64))], stdin=accesses, check=True,
                              capture_output=True, text=True)
    ours = dict(zip(EVENTS, map(int, done.stdout.split())))
    assert theirs["D1mr"] > 10_000
    for event in EVENTS:
        # A handful of misses of the last level are those that the program's instructions cause there.
        assert ours[event] == pytest.approx(theirs[event], rel=0.01, abs=100), event
