# SPDX-License-Identifier: GPL-2.0
"""What a record is shown as again is what its run printed, line by line."""
from __future__ import annotations

import subprocess

import pytest

from helpers.records import ROOT, WELL, needs_root, run

pytestmark = needs_root


def paragraphs(text: str) -> list[str]:
    """A report's paragraphs, without the verdict: that of a record gives every digit."""
    return text.strip().split("\n\n")[1:]


@pytest.mark.parametrize("words", [
    ("A3", 65536, 1, "--messages", 20), ("A1-8send", 512, 3, "--messages", 40, "--pass", "counted"),
    ("A3-unset", 4096, 1, "--messages", 20, "--path", "lo", "--pattern", "rr"),
    ("A2", 4096, 1, "--messages", 20, "--no-probes")])
def test_a_record_is_shown_as_its_run_was(words, tmp_path):
    file = tmp_path / "run.json"
    done = run(*words, "--json", file)
    assert done.code in WELL, done.err
    shown = subprocess.run([ROOT / "tools/records", "show", file], capture_output=True, text=True,
                           timeout=60, check=True)
    *again, origin = paragraphs(shown.stdout)
    *said, place = paragraphs(done.out)
    assert again == said and origin.startswith("record 20") and place.startswith("record  ")
