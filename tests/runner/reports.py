# SPDX-License-Identifier: GPL-2.0
"""Sums what test runners report, and counts a runner that died as a failure."""
from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

ALL_PASSED, SOME_FAILED, USAGE, NOTHING_COLLECTED = 0, 1, 4, 5


def status_of(case: ElementTree.Element) -> str:
    """Read one test case: an error while it was set up or cleaned up is a failure."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "passed" if case.find("skipped") is None else "skipped"


def cases_of(report: Path) -> dict[tuple, str]:
    """The tests of a JUnit report; one told twice (call and clean-up) once, at its worst."""
    worst: dict[tuple, str] = {}
    rank = ("skipped", "passed", "failed")
    for case in ElementTree.parse(report).iter("testcase"):
        key = (case.get("classname"), case.get("name"))
        worst[key] = max(worst.get(key, "skipped"), status_of(case), key=rank.index)
    return worst


def judge(status: int | None, report: Path, expected: tuple[int, ...]) -> tuple[Counter, list[str], str]:
    """Turn a runner's exit status and report into a sum and the names of what failed, and say how it died if it
    did."""
    failed: list[str] = []
    try:
        cases = cases_of(report)
        sums = Counter(cases.values())
        failed = [f"{of or report.stem}::{name}" for (of, name), told in cases.items() if told == "failed"]
    except (OSError, ElementTree.ParseError):
        # pytest leaves no report when it collects nothing, and then it says so by its status.
        sums = Counter() if status == NOTHING_COLLECTED else Counter(failed=1)
    if status in expected and (status in (ALL_PASSED, NOTHING_COLLECTED) or sums["failed"]):
        return sums, failed, ""
    sums["failed"] = max(sums["failed"], 1)
    died = "was killed after its time was up" if status is None else f"ended with {status}"
    return sums, failed, f"the runner {died}"


def sentence(sums: Counter) -> str:
    """Say a sum as the last line does."""
    skipped = f", {sums['skipped']} skipped" if sums["skipped"] else ""
    return f"{sums['passed']} passed, {sums['failed']} failed{skipped}"
