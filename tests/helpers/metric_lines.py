# SPDX-License-Identifier: GPL-2.0
"""Lines of a watch that are made up, scrapes as numbers, and promtool's word on them."""
from __future__ import annotations

import subprocess
from collections import Counter
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from copyscope.common.tables import COUNTS, SITES
from helpers import foreign

CLASSES = ("send_copy", "user")
MOMENT = "2026-01-02T03:04:05.000Z"


def part(moved: dict[str, int] | None = None) -> dict[str, Any]:
    """What moved: sites and counts by name; the others are 0."""
    moved = moved or {}
    return {"open": 1, "verdict": "copies", "needless_bytes": moved.get("needless", 0), "causes": [],
            "sites": {site: {"bytes": moved.get(site, 0), "how": "measured"} for site in SITES},
            "counts": {count: moved.get(count, 0) for count in COUNTS}}


def process(pid: int, moved: dict[str, int] | None = None, comm: str = "one", cgroup: int | None = None,
            **more: Any) -> dict[str, Any]:
    """One process of a line."""
    return {"pid": pid, "comm": comm, "cgroup": None, "cgroup_id": cgroup, "laws_broken": [], **part(moved),
            **more}


def line(processes: list[dict], total: dict[str, int] | None = None, watch: str = "a", **more: Any) -> dict[str, Any]:
    """A line; what moved in all is the sum over its processes unless it is given."""
    if total is None:
        total = Counter()
        for each in processes:
            total.update({site: own["bytes"] or 0 for site, own in each["sites"].items()})
            total.update({count: own or 0 for count, own in each["counts"].items()})
    return {"schema": "copyscope.watch-line/1", "id": watch, "end": MOMENT, "backend": "tracepoint", "laws_broken": [],
            "losses": {"lost_events": 0, "unbooked_sockets": 0, "unseen_events": 0},
            "overhead": {"programs_seconds": None, "own_cpu_seconds": 0.5},
            "total": {"born": 0, "died": 0, **part(dict(total))}, "processes": processes, **more}


def samples(text: str) -> dict[tuple, float]:
    """Samples by name and labels."""
    return {(each.name, *sorted(each.labels.items())): each.value
            for family in text_string_to_metric_families(text) for each in family.samples}


def summed(text: str, name: str, **labels: str) -> float | None:
    """The sum over the series of a metric that have these labels; None: there is none."""
    found = [value for (metric, *own), value in samples(text).items()
             if metric == name and labels.items() <= dict(own).items()]
    return sum(found) if found else None


def complaints(text: str) -> str:
    """What promtool says; silence is none."""
    done = subprocess.run([*foreign.words("promtool"), "check", "metrics"], input=text, capture_output=True,
                          text=True, check=False)
    return done.stdout + done.stderr + (f"exit {done.returncode}" if done.returncode else "")
