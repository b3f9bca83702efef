# SPDX-License-Identifier: GPL-2.0
"""Full, tiny and read-only disks under every tool that writes."""
from __future__ import annotations

import json
import os
from pathlib import Path

from attacks import judge, started
from attacks.attack import Attack, Broken, Case
from helpers.records import ROOT

DATA = ROOT / "tests" / "data"
TOOLS = {
    "trace_run": "tools/trace_run A1 4093 2 --messages 23 --quiet --json {disk}/record.json",
    "trace_run again": "tools/trace_run A3 65536 2 --messages 23 --quiet --json {disk}/old.json",
    "sweep": "tools/sweep --profile standard --sizes 64 --threads 1 --variants A1,A2 --repeats 1 "
             "--seconds 0.1 --others-at-most 1 --quiet --out {disk}/sweep",
    "plot": "tools/plot {data}/run-A3-host.json --out {disk}/figures",
    "baseline": "build/baseline --only loop --quick --runs 2 --quiet --json {disk}/record.json",
    "baseline keep": "tools/baseline keep {data}/baseline-host.json --out {disk}/kept",
    "crossover": "tools/crossover A1 A2 --path lo --low 64 --high 128 --repeats 6 --seconds 0.02 "
                 "--others-at-most 1 --quiet --json {disk}/record.json",
}
OLD = '{"older": "and whole"}\n'
# Mounted for one command alone: nobody else sees it. The listing tells what was left on it.
SCRIPT = r"""
set -e
mount -t tmpfs -o size=$SIZE,nr_inodes=$INODES disk "$DISK"
cp "$OLD" "$DISK/old.json"
if [ "$FILL" = yes ]; then cat /dev/zero > "$DISK/full" 2> /dev/null || :; fi
if [ "$RO" = yes ]; then mount -o remount,ro "$DISK"; fi
status=0
"$@" || status=$?
cp "$DISK/old.json" "$KEPT/old.json" || :
find "$DISK" -type f -name '*.json' -exec cp --parents -t "$KEPT" {} + || :
find "$DISK" > "$KEPT/listing"
exit $status
"""


def try_disk(case: Case) -> None:
    """One tool on one bad disk."""
    dice = case.dice
    tool = dice.choice(sorted(TOOLS))
    disk, kept = case.place / "disk", case.place / "kept"
    disk.mkdir()
    kept.mkdir()
    (case.place / "older").write_text(OLD)
    environment = started.environment(
        case.place, DISK=str(disk), KEPT=str(kept), OLD=str(case.place / "older"),
        SIZE=dice.choice(["4k", "16k", "64k", "256k", "1m", "1m", "2m"]),
        INODES=dice.choice(["2", "3", "5", "0", "0", "0"]), FILL=dice.choice(["yes", "no"]),
        RO=dice.choice(["yes", "no", "no"]))
    words = TOOLS[tool].format(disk=disk, data=DATA).split()
    done = started.run(["unshare", "--mount", "--", "bash", "-c", SCRIPT, "disk", *words], case.place,
                       env=environment, cwd=ROOT, timeout_s=180)
    how = {key: environment[key] for key in ("SIZE", "INODES", "FILL", "RO")}
    try:
        judge.ended_soundly(done)
        check(kept, done, tool == "trace_run again")
    except Broken as broken:
        raise Broken(f"{tool} on {how}: {broken}") from None


def check(kept: Path, done: started.Done, may_replace: bool) -> None:
    """What was there is whole, what is new is whole, and no temporary file is left."""
    old = kept / "old.json"
    if old.exists() and old.read_text() != OLD and not (may_replace and done.status == 0):
        raise Broken(f"an older file was damaged: {old.read_text()[:200]!r}: {done}")
    for file in kept.rglob("*.json"):
        try:
            json.loads(file.read_text())
        except ValueError as error:
            raise Broken(f"{file.name} is not whole ({error}): {done}") from None
    left = [line for line in (kept / "listing").read_text().splitlines()
            if line.endswith(".part") or os.path.basename(line).startswith(("tmp", ".#"))] \
        if (kept / "listing").exists() else []
    if left:
        raise Broken(f"left behind: {left}: {done}")


ATTACKS = [Attack(
    "disks", "On a disk of 4 KiB to 2 MiB, with few inodes, full or read-only, every tool that "
    "writes ends with a status of its table; what was there stays whole, what it wrote is whole, "
    "and no temporary file is left.", "runs", 300, 6, try_disk, batch=20)]
