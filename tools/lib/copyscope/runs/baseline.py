# SPDX-License-Identifier: GPL-2.0
"""Starts tools/baseline for some of its rows; what it leaves is kept only if all are valid."""
from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from copyscope.common.errors import CommandError, Refused
from copyscope.common.programs import kill_with_parent
from copyscope.common.tree import BUILD, ROOT
from copyscope.records import documents

PROGRAM = BUILD / "baseline"
# What measures another host.
FAR = ("/usr/bin/python3", "-SB", ROOT / "tools/lib/launch.py",
       "copyscope.dispatch.far_run", "baseline")
# A row's own value, beside its curve, is not used: as few runs of it as there can be.
ONCE = ("--runs", "2")
INVALID = 1                 # exit status: a row did not prove what it measures
ATTEMPTS = 3                # other programs can disturb a proof
# Measured in turn: so often, but none is begun that would end later; two make an interval.
TURNS, LEAST_TURNS = 3, 2
MOST_SECONDS = 20.0


class Failed(CommandError):
    """Something else has said what went wrong; its exit status is passed on."""

    def __init__(self, what: str, status: int) -> None:
        super().__init__(what)
        self.status = status


def invalid_rows(record: bytes) -> str:
    """Which rows of a record are not valid, and why."""
    try:
        data = documents.parse_json(record, "the baseline's record")
        documents.check(data, "baseline", "the baseline's record", "run it again")
    except documents.BadRecord:
        return "it failed, see above"
    rows = data["rows"]
    found = [f"{row['row']} is {row['status']}: {row['why']}" for row in rows
             if row["status"] != "valid"]
    return "; ".join(found) or "it failed, see above"


def words_of(rows: Iterable[str], quick: bool) -> list[str]:
    """What the program is told."""
    return [*(word for row in rows for word in ("--only", row)), *["--quick"] * quick, "--quiet",
            "--json", "-"]


def check_built() -> None:
    """Refuse to begin without the program."""
    if not PROGRAM.exists():
        raise Refused("build/baseline is not there: run make first")


def bad_rows(record: bytes, optional: Iterable[str]) -> list[str] | None:
    """The rows of a record that must be measured again: but for optional ones, if the kernel has no
    such thing; None if it is no record."""
    try:
        rows = json.loads(record)["rows"]
    except (ValueError, KeyError):
        return None
    return [row["row"] for row in rows if row["status"] != "valid" and not
            (row["row"] in optional and row["status"] == "not_measured")]


def replaced(record: bytes, again: bytes) -> bytes:
    """A record with the rows that another has, too, as that has them."""
    whole, rows = json.loads(record), {row["row"]: row for row in json.loads(again)["rows"]}
    whole["rows"] = [rows.get(row["row"], row) for row in whole["rows"]]
    return json.dumps(whole).encode()


def measure(rows: Iterable[str], quick: bool, optional: Iterable[str] = (),
            more: Iterable[str] = (), program: tuple[Path | str, ...] = (PROGRAM,)) -> bytes:
    """Measure rows, and those again that are not valid; the record, of which all are, but for
    optional ones that this kernel refuses."""
    check_built()
    wanted, record = [*rows, *optional], b""
    for _ in range(ATTEMPTS):
        words = [*more, *words_of(wanted, quick)]
        done = subprocess.run([*program, *words], check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, preexec_fn=kill_with_parent())
        bad = bad_rows(done.stdout, optional)
        if bad is None or done.returncode not in (0, INVALID):
            record = done.stdout
            break
        record = replaced(record, done.stdout) if record else done.stdout
        if not bad:
            return record
        wanted = bad
    raise Failed(f"the baseline: {invalid_rows(record)}",
                 done.returncode if done.returncode > 0 else INVALID)


def joined(records: list[bytes]) -> bytes:
    """One record of several: a point of a curve has their median, and ends that hold all."""
    found = [json.loads(each) for each in records]
    for rows in zip(*(each["rows"] for each in found)):
        for points in zip(*(row["curve"]["points"] for row in rows if row["curve"])):
            points[0].update(
                value=median(each["value"] for each in points),
                low=min(each["low"] for each in points), high=max(each["high"] for each in points),
                n=sum(each["n"] for each in points))
    return json.dumps(found[0], indent=1).encode()


def measure_in_turn(rows: tuple[str, ...], optional: tuple[str, ...] = (),
                    far: Iterable[str] = ()) -> bytes:
    """Measure the curves of rows roughly, one after the other and all of them again: what slows
    the machine for some seconds then widens their intervals instead of their differences. `far`
    are the words that name another host."""
    turns: list[bytes] = []
    began = time.monotonic()
    while len(turns) < TURNS:
        spent = time.monotonic() - began
        if len(turns) >= LEAST_TURNS and spent * (len(turns) + 1) / len(turns) > MOST_SECONDS:
            break
        turns.append(measure(rows, quick=True, optional=optional, more=(*ONCE, *far),
                             program=FAR if far else (PROGRAM,)))
    return joined(turns)
