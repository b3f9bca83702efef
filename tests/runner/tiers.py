# SPDX-License-Identifier: GPL-2.0
"""The two tiers: which tests wait for make test-long, and the record that such a run leaves.

A test of the long tier has the mark `pytest.mark.long`; CONTRIBUTING.md says of each file why. A record is
written by a run of the whole tier alone, and committed by whoever made it.
"""
from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from .jobs import ROOT
from .progress import Progress

RECORD = ROOT / "results/tests/long.json"
# By a mark of its own, or by what tests/guest/boots.py deals out.
MARK = re.compile(r"\bpytest\.mark\.long\b|\bsoon=")
DAY_S = 86400


def has_long(file: Path) -> bool:
    """Has the file tests of the long tier?"""
    return bool(MARK.search(file.read_text(encoding="utf-8")))


def git(*words: str) -> str:
    """What git says, or nothing."""
    try:
        done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def processor() -> str:
    """The model of the processor."""
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else platform.machine()


def write(progress: Progress, seconds: float) -> None:
    """Leave the record of a run of the whole long tier."""
    stages = {stage.name: {each: stage.sums[each] for each in ("passed", "failed", "skipped")} |
              {"wall_s": round(stage.took_s), "processor_s": round(stage.processor_s)}
              for stage in progress.stages.values()}
    sums = progress.sums()
    told = {
        "commit": git("rev-parse", "HEAD") or "unknown",
        "changed": bool(git("status", "--porcelain", "--untracked-files=no")),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"kernel": platform.release(), "processor": processor(), "processors": os.cpu_count(),
                    "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")},
        **{each: sums[each] for each in ("passed", "failed", "skipped")},
        "wall_s": round(seconds),
        "stages": stages,
        "failures": [name for each in progress.ended for name in each.failed],
    }
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    RECORD.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def counted(number: int, what: str) -> str:
    """A number of things."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def age(now: datetime | None = None) -> str:
    """One line: how the long tier ended last, and how long ago that was."""
    try:
        told = json.loads(RECORD.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "long tier: no record of a run: make test-long"
    days = int(((now or datetime.now(UTC)) - datetime.fromisoformat(told["date"])).total_seconds() / DAY_S)
    since = git("rev-list", "--count", f"{told['commit']}..HEAD")
    commits = counted(int(since), "commit") if since else "unknown number of commits"
    how = f"{told['failed']} failed" if told["failed"] or not told["passed"] else "passed"
    changed = " with changes" if told["changed"] else ""
    return f"long tier: {how} at {told['commit'][:8]}{changed}, {counted(days, 'day')} ago, {commits} since"
