# SPDX-License-Identifier: GPL-2.0
"""What a watch found of CPU time, as its record has it: shares of samples, with their intervals."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from copyscope.common.tables import column
from copyscope.common.text import wrapped
from copyscope.records.run_record import Record

from .tables import labelled, plural

MEANING = column("cpu_classes", "meaning")
USER = column("cpu_user_kinds", "meaning")
# Fewer say next to nothing of a process.
LEAST = 20
MOST_THREADS = 4


@dataclass(frozen=True)
class Use:
    """The CPU time of one process."""

    sentence: str
    rows: list[tuple[float, str, str]]  # share; the same in words; what it went into
    threads: list[str]


def share(found: dict[str, Any]) -> str:
    """31 % (29 to 33), with tenths below ten."""
    digits = 1 if found["share"] < 0.0995 else 0
    middle, low, high = (f"{100 * found[key]:.{digits}f}"
                         for key in ("share", "share_low", "share_high"))
    return f"{middle} % ({low} to {high})"


def row(name: str, found: dict[str, Any]) -> tuple[float, str, str]:
    """One class."""
    beside = f"; {found['softirq_samples']:,} of {plural(found['samples'], 'sample')} in " \
        "softirqs" if found["softirq_samples"] else ""
    return found["share"], share(found), MEANING[name] + beside


def rows(use: dict[str, Any]) -> list[tuple[float, str, str]]:
    """What it worked at; what user space is made of comes behind it."""
    found = []
    for name, each in use["classes"].items():
        if each["samples"]:
            found.append(row(name, each))
        if name == "user":
            found += [(part["share"], share(part), f"of it {USER[kind]}")
                      for kind, part in (use.get("user_space") or {}).items() if part["samples"]]
    return found


def threads(use: dict[str, Any]) -> list[str]:
    """Those with most samples, if there are several."""
    found = [each for each in use.get("by_thread", []) if each["samples"] and use["samples"]]
    told = [f"{each['comm']}, tid {each['tid']}: {100 * each['samples'] / use['samples']:.1f} % of "
            f"these samples; copying payload {100 * each['copies'] / each['samples']:.1f} % of its "
            "own" for each in found[:MOST_THREADS] if each["tid"]]
    rest = use["samples"] - sum(each["samples"] for each in found[:len(told)])
    if rest:
        told.append(f"all others: {100 * rest / use['samples']:.1f} %")
    return told if len(found) > 1 else []


def of_process(name: str, use: dict[str, Any], hz: int) -> Use:
    """What one process worked at."""
    text = f"{name}: {share(use['copies'])} of its CPU time went into copying payload; " \
           f"{plural(use['samples'], 'sample')}, about {use['samples'] / hz:.2f} s of CPU time"
    if use["clock_law"] == "broken":
        text += ". Do not trust these shares: the samples stand for " \
                f"{use['sampled_seconds']:.2f} s, and they had a processor for " \
                f"{use['clock_seconds']:.2f} s"
    return Use(text, rows(use), threads(use))


def processes(record: Record) -> list[Use]:
    """Those with samples enough, most first; the one with most in any case."""
    if not record.at("cpu.clock"):
        return []
    names = {each["pid"]: each["process"] for each in record.data["verdicts"]}
    found = sorted(((each["pid"], each["cpu"]) for each in record.data["processes"]
                    if each.get("cpu")),
                   key=lambda each: -each[1]["samples"])
    return [of_process(names.get(pid, f"pid {pid}"), use, record.data["cpu"]["hz"])
            for number, (pid, use) in enumerate(found) if not number or use["samples"] >= LEAST]


def head(record: Record) -> str:
    """How it was sampled, or why not; "" if nobody asked."""
    if not record.data.get("cpu"):
        return ""
    asked = record.data["cpu"]
    if not asked["clock"]:
        return f"not measured: {asked['why']}"
    return f"sampled {asked['hz']} times a second by {asked['clock']}, with 95 % intervals; what " \
           "runs in a softirq is charged to whom it interrupted"


def lines(record: Record) -> list[str]:
    """The part of a report."""
    if not head(record):
        return []
    said = ["", *labelled("CPU time", head(record))]
    for use in processes(record):
        said += wrapped(use.sentence, "  ")
        for _, text, meaning in use.rows:
            said += wrapped(f"  {text:22} {meaning}", " " * 25)
        for thread in use.threads:
            said += wrapped(f"  thread {thread}" if "tid" in thread else f"  {thread}", "    ")
    return said
