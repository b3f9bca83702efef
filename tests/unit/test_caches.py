# SPDX-License-Identifier: GPL-2.0
"""Descriptions of caches are read whole or refused in one line; trace_run says where a model goes."""
from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from copyscope.common.errors import Refused, Unusable
from copyscope.common.tree import CACHES
from copyscope.guest import architectures, machine
from copyscope.records import caches

ROOT = Path(__file__).resolve().parents[2]
USUAL = (CACHES / f"{caches.DEFAULT}.toml").read_text()
BAD = {
    "no number": ("ways = 8", "ways = \"8\"", "l1d.ways: must be a whole number 1 to 64"),
    "no sets": ("bytes = 32768", "bytes = 32769", "l1d.bytes: 32769 is no multiple of 8 ways of 64"),
    "a slip": ("write_allocate", "write_alocate", "write_alocate: unknown key"),
    "a gap": ("[llc]", "[l3]", "l3: unknown key"),
    "a kind": ("victim\"\n\n", "exclusive\"\n\n", "llc_kind: must be inclusive, non-inclusive, victim"),
    "a line": ("line_bytes = 64", "line_bytes = 48", "line_bytes: must be one of 16, 32, 64"),
    "upside down": ("bytes = 1048576", "bytes = 16384", "l2.bytes: must not be smaller"),
    "no TOML": ("[l1d]", "[l1d", "TOML: "),
    "no table": ("[l2]\nbytes = 1048576\nways = 16", "", "l2: it is missing"),
}


@pytest.mark.parametrize("name", sorted(each.stem for each in CACHES.glob("*.toml")))
def test_every_file_of_ours_can_be_used(name):
    found = caches.load(name)
    assert found.name == name and len(found.plugin_words()) == 6
    assert all(size % (ways * found.line_bytes) == 0 for size, ways in found.levels)


def test_without_a_name_it_is_the_usual_one():
    assert caches.load("") == caches.load(caches.DEFAULT)
    assert caches.load("").levels[0] == (32768, 8)


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_is_refused_in_one_line(kind, tmp_path):
    was, becomes, complaint = BAD[kind]
    assert was in USUAL
    file = tmp_path / "mine.toml"
    file.write_text(USUAL.replace(was, becomes, 1))
    with pytest.raises(Unusable) as refused:
        caches.load(str(file))
    assert complaint in str(refused.value) and "\n" not in str(refused.value)


def test_a_name_that_is_none_is_told_those_that_are():
    with pytest.raises(Unusable, match="caches here: .*cascade-lake.*zen2"):
        caches.load("pentium")


@pytest.mark.parametrize("words, complaint", [
    (["--counters", "model"], "needs a guest: give --kernel"),
    (["--counters", "pmu", "--kernel", "6.12"], "it must be model"),
    (["--counters=model:", "--kernel", "6.12"], "it must be model"),
    (["--counters"], "--counters needs a value"),
    (["--counters", "model:pentium", "--kernel", "6.12", "--messages", "9"], "caches here"),
])
def test_the_launcher_refuses_what_makes_no_sense(words, complaint):
    done = subprocess.run([ROOT / "tools" / "trace_run", "A1", "64", "1", *words], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 2 and complaint in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("what, fault", [("found", "was built without plugins"),
                                         ("missing", "apt-get install qemu-system-x86"),
                                         ("unbuilt", "run make first")])
def test_an_emulator_that_cannot_is_refused(what, fault, monkeypatch, tmp_path):
    said = subprocess.CompletedProcess([], 0, "QEMU emulator version 7.2.22\n-device dev\n", "")
    monkeypatch.setattr(machine.programs, "find", lambda name: None if what == "missing" else name)
    monkeypatch.setattr(machine.programs, "run", lambda words: said)
    monkeypatch.setattr(machine, "PLUGIN", tmp_path / "gone" if what == "unbuilt" else tmp_path)
    with pytest.raises(Refused, match=fault):
        machine.emulator(architectures.get("amd64"))
