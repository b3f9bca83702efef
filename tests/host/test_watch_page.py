# SPDX-License-Identifier: GPL-2.0
"""copyscope watch --html: the watch as it would be, and its report as a page."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import processes, watch_tool
from helpers.records import needs_root

pytestmark = needs_root


@pytest.mark.parametrize("words", [("--html", "page.html"), ("--html=page.html", "--json", "record.json")])
def test_a_command_is_watched_as_ever_and_its_report_is_a_page(words, tmp_path):
    command = [sys.executable, "-c", f"import sys\n{watch_tool.TALK}\nprint('done')\nsys.exit(7)", "1", "0"]
    done = watch_tool.watch("--cpu", *words, "--", *command, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (7, "done\n"), done.stderr
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "send copied all of 94.1 kB" in page and "<svg" in page and "CPU time" in page
    assert (tmp_path / "record.json").exists() == ("--json" in words)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(
        ["page.html", *["record.json"] * ("--json" in words)])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_watch_and_the_page_is_written(number, tmp_path):
    with watch_tool.start("--html", tmp_path / "page.html", "--all") as running:
        assert "window is open" in running.stderr.readline()
        for pid in (running.pid, *processes.descendants(running.pid)) if number == signal.SIGINT else (running.pid,):
            processes.os.kill(pid, number)
        running.communicate(timeout=60)
    assert running.returncode == 0
    assert "What must be equal" in (tmp_path / "page.html").read_text(encoding="utf-8")


def ignore_hangup() -> None:
    """As nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def test_a_watch_outlives_a_hangup_that_is_ignored_and_not_who_writes_its_page(tmp_path):
    with watch_tool.start("--html", tmp_path / "page.html", "--all", preexec_fn=ignore_hangup,
                          env={**os.environ, "TMPDIR": str(tmp_path)}) as running:
        assert "window is open" in running.stderr.readline()
        below = processes.descendants(running.pid)
        running.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(0.5)
        running.kill()
        processes.wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below), timeout_s=60)


@pytest.mark.parametrize("words, why", [
    (("--html",), "needs a value"), (("--html=", "--all"), "needs a name"),
    (("--html", "x", "--json", "-", "--all"), "made of a record"), (("--html", "/nowhere/x", "--all"), "/nowhere"),
    (("--html", "x", "--cpu=0", "--all"), "--cpu")])
def test_bad_words_are_one_line_before_anything_is_watched(words, why, tmp_path):
    done = watch_tool.watch(*words, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1 and why in done.stderr
    assert not list(tmp_path.iterdir())
