# SPDX-License-Identifier: GPL-2.0
"""What a watch found of CPU time: shares of samples, with their intervals."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from copyscope.common.tables import column

from .page import BAD, folded, labelled, tinted

Document = dict[str, Any]
MEANING = column("cpu_classes", "meaning")
USER = column("cpu_user_kinds", "meaning")
# Fewer say next to nothing of a process.
LEAST = 20
MOST_THREADS = 4
# Of 95 % on both sides of a normal distribution.
Z = 1.959964


@dataclass(frozen=True)
class Use:
    """The CPU time of one process."""

    sentence: str
    doubt: str                          # "" if its samples add up
    rows: list[tuple[float, str, str]]  # share; the same in words; what it went into
    threads: list[str]


def interval(part: int, whole: int) -> Document:
    """The share that a sample suggests, and where it lies at 95 % (E. B. Wilson, 1927)."""
    # A damaged record may have less than a part of it.
    whole = max(whole, part, 1)
    z, share = Z, part / whole
    widened = 1 + z * z / whole
    middle = (share + z * z / (2 * whole)) / widened
    reach = z / widened * math.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    return {"share": share, "share_low": middle - reach if part else 0,
            "share_high": middle + reach if part < whole else 1}


def share(found: Document) -> str:
    """31 % (29 to 33), with tenths below ten."""
    digits = 1 if found["share"] < 0.0995 else 0
    middle, low, high = (f"{100 * found[key]:.{digits}f}"
                         for key in ("share", "share_low", "share_high"))
    return f"{middle} % ({low} to {high})"


def row(name: str, found: Document) -> tuple[float, str, str]:
    """One class."""
    beside = f"; {found['softirq_samples']:,} of {found['samples']:,} samples in softirqs" \
        if found["softirq_samples"] else ""
    return found["share"], share(found), MEANING[name] + beside


def rows(use: Document) -> list[tuple[float, str, str]]:
    """What it worked at; what user space is made of comes behind it."""
    found = []
    for name, each in use["classes"].items():
        if each["samples"]:
            found.append(row(name, each))
        if name == "user":
            found += [(part["share"], share(part), f"of it {USER[kind]}")
                      for kind, part in (use.get("user_space") or {}).items() if part["samples"]]
    return found


def threads(use: Document) -> list[str]:
    """Those with most samples, if there are several."""
    found, whole = use.get("by_thread") or [], use["samples"]
    if len(found) < 2:
        return []
    named = [each for each in found[:MOST_THREADS] if each["tid"]]
    rest = [each for each in found if each not in named]
    said = [f"thread {each['comm']}, tid {each['tid']}: "
            f"{share(interval(each['samples'], whole))} of these samples; copying payload "
            f"{share(interval(each['copies'], each['samples']))} of its own" for each in named]
    samples, count = (sum(each[key] for each in rest) for key in ("samples", "threads"))
    if samples:
        who = f"{count} more threads" if count else "threads that are not told"
        said.append(f"{who}: {share(interval(samples, whole))}")
    return said


def doubt(use: Document) -> str:
    """That its samples do not add up."""
    if use["clock_law"] != "broken":
        return ""
    skipped = use.get("skipped_seconds", 0)
    rest = f", the clock skipped {skipped:.2f} s" if skipped else ""
    return f"Do not trust these shares: the samples of its {use['threads']} threads stand for " \
           f"{use['sampled_seconds']:.2f} s{rest}, and they had a processor for " \
           f"{use['clock_seconds']:.2f} s."


def of_process(name: str, use: Document, hz: int) -> Use:
    """What one process worked at."""
    text = f"{name}: {share(use['copies'])} of its CPU time went into copying payload; " \
           f"{use['samples']:,} samples, about {use['samples'] / hz:.2f} s of CPU time"
    return Use(text, doubt(use), rows(use), threads(use))


def sampled(data: Document) -> list[tuple[str, Document]]:
    """Name and CPU time of each process that a sample found, those that copied longest first."""
    found = [(verdict["process"], each["cpu"]) for each, verdict
             in zip(data["processes"], data["verdicts"]) if each.get("cpu")]
    return sorted(found, key=lambda each: (-each[1]["copies"]["samples"], -each[1]["samples"]))


def processes(data: Document) -> list[Use]:
    """Those with samples enough; the one with most in any case."""
    if not (data.get("cpu") or {}).get("clock"):
        return []
    found = sampled(data)
    shown = [*found[:1], *(each for each in found[1:] if each[1]["samples"] >= LEAST)]
    return [of_process(name, use, data["cpu"]["hz"]) for name, use in shown]


def head(data: Document) -> str:
    """How it was sampled, or why not; "" if nobody asked."""
    if not data.get("cpu"):
        return ""
    asked = data["cpu"]
    if not asked["clock"]:
        return f"not measured: {asked['why']}"
    return f"sampled {asked['hz']} times a second by {asked['clock']}, with 95 % intervals; what " \
           "runs in a softirq is charged to whom it interrupted"


def use_lines(use: Use) -> list[str]:
    """The part of one process."""
    said = folded("", use.sentence, 2)
    said += tinted(BAD, "  ", use.doubt, 2) if use.doubt else []
    for _, text, meaning in use.rows:
        said += folded(f"  {text:22} ", meaning, 25)
    for thread in use.threads:
        said += folded("  ", thread, 4)
    return said


def lines(data: Document, top: int) -> list[str]:
    """The part of a report."""
    if not head(data):
        return []
    said = ["", *labelled("CPU time", head(data))]
    if not data["cpu"]["clock"]:
        return said
    if data["cpu"]["lost_samples"]:
        said.append(f"{data['cpu']['lost_samples']:,} samples found no room and are in no share.")
    if data["cpu"].get("names_why"):
        said += folded("", f"No function of user space has a name: {data['cpu']['names_why']}", 2)
    found = processes(data)[:top]
    for use in found:
        said += use_lines(use)
    rest = sampled(data)[len(found):]
    if rest:
        said.append(f"{len(rest)} more process{'es' * (len(rest) != 1)}: "
                    f"{sum(use['samples'] for _, use in rest)} samples.")
    return said if found else [*said, "No sample found a process of the subject on a processor."]
