# SPDX-License-Identifier: GPL-2.0
"""A run's folder goes with the run; what a SIGKILL leaves of one, the next run removes."""
from __future__ import annotations

import subprocess
import sys

from helpers.records import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from copyscope import scratch  # noqa: E402  pylint: disable=wrong-import-position

HOLD = """import sys; sys.path.insert(0, sys.argv[1])
from pathlib import Path
from copyscope import scratch
with scratch.folder(Path(sys.argv[2])) as mine:
    (mine / "deep").mkdir()
    (mine / "deep" / "record.json").write_text("{}")
    print(mine, flush=True)
    sys.stdin.read()
"""


def test_what_a_kill_leaves_is_removed_and_nothing_else_is(tmp_path):
    place, theirs = tmp_path / "scratch", tmp_path / "precious"
    theirs.mkdir()
    (theirs / "file").write_text("precious")
    words = [sys.executable, "-c", HOLD, ROOT / "tools", place]
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, **options) as killed, subprocess.Popen(words, **options) as alive:
        left, kept = killed.stdout.readline().strip(), alive.stdout.readline().strip()
        killed.kill()
        killed.wait()
        (place / "mine").mkdir()
        (tmp_path / left / "link").symlink_to(theirs)
        with scratch.folder(place) as new:
            assert {str(each) for each in place.iterdir()} == {kept, str(place / "mine"), str(new)}
        alive.stdin.close()
        assert alive.wait(20) == 0
    assert [each.name for each in place.iterdir()] == ["mine"]
    assert (theirs / "file").read_text() == "precious"
