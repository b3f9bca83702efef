# SPDX-License-Identifier: GPL-2.0
"""A run's folder goes with the run; what a SIGKILL leaves of one, the next run removes."""
from __future__ import annotations

import subprocess
import sys

from copyscope.files import cache
from helpers.records import ROOT

HOLD = """import sys; sys.path.insert(0, sys.argv[1])
from pathlib import Path
from copyscope.files import cache
with cache.scratch_folder(Path(sys.argv[2])) as mine:
    (mine / "deep").mkdir()
    (mine / "deep" / "record.json").write_text("{}")
    print(mine, flush=True)
    sys.stdin.read()
"""


def test_what_a_kill_leaves_is_removed_and_nothing_else_is(tmp_path):
    place, theirs = tmp_path / "scratch", tmp_path / "precious"
    theirs.mkdir()
    (theirs / "file").write_text("precious")
    words = [sys.executable, "-c", HOLD, ROOT / "tools" / "lib", place]
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, **options) as killed, subprocess.Popen(words, **options) as alive:
        left, kept = killed.stdout.readline().strip(), alive.stdout.readline().strip()
        killed.kill()
        killed.wait()
        (place / "mine").mkdir()
        (tmp_path / left / "link").symlink_to(theirs)
        with cache.scratch_folder(place) as new:
            assert {str(each) for each in place.iterdir()} == {kept, str(place / "mine"), str(new)}
        alive.stdin.close()
        assert alive.wait(20) == 0
    assert [each.name for each in place.iterdir()] == ["mine"]
    assert (theirs / "file").read_text() == "precious"


MEET = """import os, sys; sys.path.insert(0, sys.argv[1])
from pathlib import Path
from copyscope.files import cache
for turn in range(100):
    go, children = os.pipe(), []
    for _ in range(4):
        child = os.fork()
        if not child:
            os.close(go[1])
            os.read(go[0], 1)
            try:
                with cache.scratch_folder(Path(sys.argv[2], str(turn), "scratch")):
                    pass
            except BaseException as error:
                print(error)
            os._exit(0)
        children.append(child)
    os.close(go[1])
    os.close(go[0])
    for child in children:
        os.waitpid(child, 0)
"""


def test_runs_that_begin_and_end_at_once_do_not_meet(tmp_path):
    done = subprocess.run([sys.executable, "-c", MEET, ROOT / "tools" / "lib", tmp_path],
                          capture_output=True, text=True, check=True)
    assert not done.stdout + done.stderr
    assert len(list(tmp_path.glob("*/scratch"))) == 100
    assert not list(tmp_path.glob("*/scratch/*"))
