# SPDX-License-Identifier: GPL-2.0
"""A page that a zero-copy send holds is neither swapped out nor moved; the same page later is both."""
from __future__ import annotations

import json
import subprocess

from guest.boots import TIMEOUT_S
from helpers.records import ROOT


def test_held_pages_stay_in_their_frames_and_others_do_not():
    done = subprocess.run([ROOT / "tools/facts", "--only", "held", "--json", "-"], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
    numbers = {(each["name"], each["of"]): each["number"] for each in json.loads(done.stdout)["facts"]}
    for name in ("pages-swapped", "pages-moved"):
        assert [numbers[name, of] for of in ("held", "unheld", "released")] == [0, 64, 64]
