# SPDX-License-Identifier: GPL-2.0
"""What is shown of a run's record is what the run printed, to the letter: of each kind of run, one."""
from __future__ import annotations

import os
import subprocess

import pytest

from helpers.records import ROOT, WELL, needs_root, run

pytestmark = needs_root
LOOKS = {"--exact", "--laws"}


@pytest.mark.parametrize("columns, words", [
    ("120", ("A1-8send", 512, 3, "--messages", 40, "--pass", "counted", "--laws")),
    ("80", ("A3-unset", 4096, 1, "--messages", 20, "--path", "lo", "--pattern", "rr", "--exact")),
    ("80", ("udp-zc", 1201, 2, "--messages", 23, "--pass", "counted")),
    ("80", ("sendfile", 4093, 1, "--messages", 23, "--receiver", "splice", "--tap", "tx", "--cost", "--laws")),
    ("120", ("uring-zc", 4093, 1, "--messages", 23, "--no-probes", "--exact")),
    ("80", ("A3", 4093, 1, "--messages", 23, "--pass", "counted", "--break", "lose-update"))])
def test_a_record_is_shown_as_its_run_was(columns, words, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    file = tmp_path / "run.json"
    done = run(*words, "--json", file)
    assert done.code in ((1,) if "--break" in words else WELL), done.err
    shown = subprocess.run([ROOT / "tools/records", "show", file, *LOOKS & {*words}], capture_output=True,
                           text=True, timeout=60, check=True, env={**os.environ, "COLUMNS": columns})
    again, origin = shown.stdout.rsplit("\n\n", 1)
    said, place = done.out.rsplit("\n\n", 1)
    assert again == said and origin.startswith("record 20") and place.startswith("record  ")
