# SPDX-License-Identifier: GPL-2.0
"""Makes records of watch, of the tables alone, for tests of what reads them."""
from __future__ import annotations

from typing import Any

from copyscope.common.tables import TABLES, names

from .names import WATCH_LAWS

BALANCES = names("balances")
COUNTS = names("counts")


def sites(**known: int | None) -> dict[str, Any]:
    """Every site, 0 unless it is named; None is not measured."""
    return {each: {"bytes": known.get(each, 0),
                   "how": "not_measured" if known.get(each, 0) is None else "measured"}
            for each in names("sites")}


def moved(sent: int, received: int, **known: int | None) -> dict[str, Any]:
    """What books hold that moved this much."""
    return {"opening": dict.fromkeys(BALANCES, 0), "closing": dict.fromkeys(BALANCES, 0),
            "sites": sites(**known),
            "counts": {**dict.fromkeys(COUNTS, 0), "accepted_bytes": sent,
                       "returned_bytes": received},
            "fate": {"uncopied_bytes": 0, "copied_later_bytes": 0, "unknown_bytes": 0,
                     "held_bytes": 0, "passed_on_bytes": 0}}


def process(pid: int, comm: str, books: dict[str, Any]) -> dict[str, Any]:
    """One process."""
    return {"pid": pid, "comm": comm, "cgroup": "/user.slice", "joined": False, "ended": False,
            "sum": {"sockets": 1, "born": 1, "died": 0, **books}, "causes": []}


def socket(of: dict[str, Any], cookie: int) -> dict[str, Any]:
    """The only socket of a process."""
    books = {key: value for key, value in of["sum"].items()
             if key not in ("sockets", "born", "died")}
    balanced = {"status": "balanced", "left": 1, "right": 1, "residual": 0, "why": None}
    return {"cookie": str(cookie), "pid": of["pid"], "comm": of["comm"], "cgroup": of["cgroup"],
            "netns": 4026531840, "local": "10.0.0.1:80", "remote": "[2001:db8::1]:40000",
            "whole": False, "born": True, "died": False, "handed_on": False, **books,
            "causes": [], "laws": {each: dict(balanced) for each in WATCH_LAWS}}


def watch_record(*processes: dict[str, Any]) -> dict[str, Any]:
    """A record of these processes, the total of which is the first one's."""
    total = processes[0]["sum"]
    whys = {site: {**each, "calls": None, "why": "nobody looked" if each["bytes"] is None else None}
            for site, each in total["sites"].items()}
    return {
        "schema": "copyscope.record/4", "id": "20261122T140000.000-1",
        "started": "2026-11-22T14:00:00Z", "command": ["copyscope", "watch"],
        "tool": {"version": TABLES["release"], "commit": "0"},
        "verdicts": [{"pid": each["pid"], "process": f"{each['comm']}, pid {each['pid']}",
                      "verdict": "copies", "sentence": "copied."} for each in processes],
        "machine": {"kernel": "6.12.0", "arch": "x86_64", "cpu_model": "one", "cpus": 2,
                    "virt": "none", "lockdown": "none", "memory_bytes": 1 << 30,
                    "emulated": False, "instruction_clock": False},
        "subject": {"kind": "pids", "asked": "812", "words": None, "exit_status": None},
        "window": {"seconds": 5.0, "ended_by": "seconds"}, "books": "sequence", "detail": False,
        "backend": {"name": "trampoline", "why": "asked", "probes": [
            {"site": "accepted", "hook": "tp_btf/sock", "status": "attached", "why": None, "runs": 7,
             "run_time_ns": 700, "missed_runs": 0, "unseen_firings": None}]},
        "sites": whys, "counts": total["counts"], "count_whys": {}, "causes": [], "referenced_peak_pages": 0,
        "laws": [{"law": law, "left_is": "one", "right_is": "other", "status": "balanced",
                  "left": 1, "right": 1, "residual": 0, "why": None} for law in WATCH_LAWS],
        "overhead": {"events": 7, "ns_per_event": 100.0, "share": 0.001, "own_cpu_seconds": 0.1,
                     "memory_bytes": 4096},
        "losses": {"lost_events": 0, "unbooked_sockets": 0, "folded_sockets": 0, "unseen_events": 0},
        "not_covered": [{"what": "MPTCP", "seen": True, "sockets": 1, "why": "of another law"}],
        "total": total, "processes": list(processes),
        "sockets": [socket(each, number) for number, each in enumerate(processes, 1)],
    }


def interval(name: str = "nginx, pid 812", **more: object) -> dict:
    """An interval of half a second in which one row moved."""
    row = {"name": name, "sockets": 1, "sent_bytes": 9_000_000, "received_bytes": 0, "copied_bytes": None,
           "copied_least_bytes": 9_000_000, "uncopied_bytes": 0, "needless_bytes": None}
    return {"seconds": 5.0, "over_ns": 500_000_000, "sums_short": None, "by": "process", "rows": [row],
            "top": 200, "further": 0, **more}
