# SPDX-License-Identifier: GPL-2.0
"""A sweep touches nothing that is not provably its own, whatever lies in its folder."""
from __future__ import annotations

import contextlib
import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from copyscope import sweep as command
from helpers.records import ROOT, needs_root
from helpers.victims import assert_refused, give_away, snapshot, victim

pytestmark = needs_root
RESULTS = ROOT / "results" / "standard"
PROFILE = """
title = "one run"
report = ""
sizes = [4096]
threads = [1]
seconds = 0.2
end = "sender"
[corrected]
note = "for tests"
path = "lo"
pattern = "stream"
threads_are = "connections"
variants = [{ label = "one", variant = "A1" }]
"""
RUN = "one_4096B_1T.r1.json"


@pytest.fixture(name="words")
def one_run(tmp_path):
    """The words of a sweep of one run."""
    profile = tmp_path / "one.toml"
    profile.write_text(PROFILE)
    return ["--profile", str(profile), "--repeats", "1", "--others-at-most", "1", "--quiet", "--out"]


def sweep(words, out) -> subprocess.CompletedProcess:
    """Run it into a folder, in this process: to start one takes longer than to refuse a folder."""
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()) as told:
        status = command.main([*words, str(out)])
    return subprocess.CompletedProcess(words, status, said.getvalue(), told.getvalue())


def begun(out: Path) -> Path:
    """A folder of a sweep that was begun, and of which no run is made."""
    plan = json.loads((RESULTS / "plan.json").read_text())
    out.mkdir()
    (out / "plan.json").write_text(json.dumps(plan))
    return out


@pytest.mark.parametrize("name", ["pending", "runs", "failed", "tidy.csv", "plan.json"])
def test_a_folder_that_is_not_a_sweeps_is_not_touched(words, tmp_path, name):
    out = victim(tmp_path / "out")
    if "." in name:
        (out / name).write_text("mine\n")
    else:
        victim(out / name)
    before = snapshot(out)
    assert_refused(sweep(words, out), "not empty", "choose another --out")
    assert snapshot(out) == before


@pytest.mark.parametrize("name", ["pending", "runs", "failed"])
@pytest.mark.parametrize("ours", [False, True])
def test_a_link_to_a_folder_is_not_followed(words, tmp_path, name, ours):
    theirs = victim(tmp_path / "theirs")
    (theirs / RUN).write_text("precious\n")
    out = begun(tmp_path / "out") if ours else tmp_path / "out"
    out.mkdir(exist_ok=True)
    (out / name).symlink_to(theirs)
    before = snapshot(theirs)
    assert_refused(sweep(words, out), "is a link" if ours else "not empty")
    assert snapshot(theirs) == before


@pytest.mark.parametrize("name", ["plan.json", ".plan.json.part", ".tidy.csv.part", "tidy.csv",
                                  "PROVENANCE.md", f"failed/{RUN}", f"pending/{RUN}"])
@pytest.mark.parametrize("ours", [False, True])
def test_a_link_to_a_file_is_not_written_through(words, tmp_path, name, ours):
    theirs = victim(tmp_path / "theirs")
    out = tmp_path / "out"
    if ours:
        begun(out)
    (out / name).parent.mkdir(parents=True, exist_ok=True)
    (out / name).unlink(missing_ok=True)
    (out / name).symlink_to(theirs / "precious.txt")
    before = snapshot(theirs)
    sweep(words, out)
    assert snapshot(theirs) == before
    assert (out / name).is_symlink()


def test_what_is_pending_is_removed_by_name_and_only_if_it_is_a_file(words, tmp_path):
    out, theirs = tmp_path / "out", victim(tmp_path / "theirs")
    assert sweep(words, out).returncode == 0
    pending = out / "pending"
    (pending / "notes.txt").write_text("kept")
    (pending / "theirs").symlink_to(theirs)
    (pending / RUN).write_text("half a record")
    (out / "runs" / RUN).unlink()
    before = snapshot(theirs)
    assert sweep(words, out).returncode == 0
    assert snapshot(theirs) == before and (out / "runs" / RUN).exists()
    assert {each.name for each in pending.iterdir()} == {"notes.txt", "theirs"}


@pytest.mark.parametrize("mode, said", [(0o755, "belongs to user"), (0o1777, "belongs to user")])
def test_root_refuses_a_folder_of_another_user(words, tmp_path, mode, said):
    out = give_away(tmp_path / "out", mode)
    before = snapshot(out)
    assert_refused(sweep(words, out), said)
    # Nor is one made in it, nor found by way of it.
    assert_refused(sweep(words, out / "deeper" / "out"), said)
    assert snapshot(out) == before


@pytest.mark.parametrize("mode, fine", [(0o777, False), (0o1777, True), (0o775, True)])
def test_root_refuses_a_folder_that_others_can_change(words, tmp_path, mode, fine):
    for where in ("out", "out/inner"):
        out = tmp_path / "out"
        out.mkdir()
        out.chmod(mode)
        done = sweep(words, tmp_path / where)
        if fine:
            assert done.returncode == 0, done.stderr
        else:
            assert_refused(done, "other users may write")
            assert not list(out.iterdir())
        shutil.rmtree(out)


def test_root_does_not_follow_a_link_that_another_user_made(words, tmp_path):
    theirs = victim(tmp_path / "theirs")
    (tmp_path / "empty").mkdir()
    for target in (theirs, tmp_path / "empty"):
        link = tmp_path / f"to-{target.name}"
        link.symlink_to(target)
        subprocess.run(["chown", "-h", "nobody", link], check=True)
        before = snapshot(target)
        assert_refused(sweep(words, link), "a link of user")
        assert_refused(sweep(words, link / "new"), "a link of user")
        assert snapshot(target) == before


def test_the_folders_that_are_committed_can_be_gone_on_with(tmp_path):
    out = tmp_path / "standard"
    shutil.copytree(RESULTS, out)
    subprocess.run(["tar", "-xf", out / "runs.tar.xz", "-C", out], check=True)
    plan = json.loads((out / "plan.json").read_text())
    done = subprocess.run([ROOT / "tools" / "sweep", "--profile", plan["profile"], "--mode",
                           plan["mode"], "--seconds", str(plan["seconds"]), "--repeats",
                           str(plan["repeats"]), "--kernel", plan["kernel"], "--pass", plan["pass"], "--quiet", "--out",
                           out], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "PROVENANCE.md" in done.stdout and not list((out / "pending").iterdir())
