# SPDX-License-Identifier: GPL-2.0
"""Instructions that a message takes, with probes of each kind and without any.

The guest has one processor, and its clock ticks once for each instruction (tools/guest --icount), so
the time between the first byte and the last one is the number of instructions. What a run does once
cancels out in the difference between two runs of different length.
"""
from __future__ import annotations

import json
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("none", "empty", "bpftrace", "ours")
# Messages of the shorter and of the longer run; the first ones meet cold tables.
COUNTS = {64: (1000, 3000), 512: (1000, 3000), 4096: (500, 1500), 65536: (50, 150)}
# A stream of 64 KiB fills the receiver's buffer, and how often the kernel then collapses the queue is
# chance: the base was 119,800 in one run and 181,200 in another. Replies that are waited for fill
# nothing.
PATTERNS = {65536: "rr"}
# Far above what a run takes, which on 7.2 was 26 s beside other work of the machine: 144 of them took an hour.
RUN_TIMEOUT_S = 120
# What ours is to be at most: of empty programs on the same hooks, for plain sends and for zero copy; of
# copies.bt; of a run without probes, for zero copy of 64 KiB.
MOST_OF_EMPTY = {"A3": 2.0}
MOST_OF_EMPTY_PLAIN, MOST_OF_BPFTRACE = 1.3, 0.5
MOST_OF_WHOLE = {("A3", 65536): 1.15}
COLUMNS = {"whole": "whole", "of_empty": "/empty", "of_bpftrace": "/bpftr."}


@dataclass(frozen=True)
class Case:
    """One variant and size."""

    variant: str
    size: int

    def words(self, messages: int) -> str:
        """What trace_run is told."""
        return (f"{self.variant} {self.size} 1 --path lo --messages {messages} "
                f"--pattern {PATTERNS.get(self.size, 'stream')}")

    def name(self, kind: str, messages: int | str, number: int) -> str:
        """The name of one of its runs."""
        return f"{self.variant}.{self.size}.{kind}.{messages}.{number}"


def run_list(cases: list[Case], repeats: int) -> str:
    """All runs of one guest, a line each."""
    lines = []
    for case in cases:
        for number in range(repeats):
            for messages in COUNTS[case.size]:
                lines += [f"{case.name(kind, messages, number)} {kind} {case.words(messages)}"
                          for kind in KINDS]
        messages = COUNTS[case.size][1]
        lines.append(f"{case.name('events', messages, 0)} events {case.words(messages)}")
    return "".join(f"{line}\n" for line in lines)


def boot(release: str, script: str, listing: str, folder: Path, times: int = 1) -> Path:
    """Have a script make all runs of a list in a guest, each so many times; return the folder of their records."""
    runs, out = folder / f"runs.{release}", folder / release
    runs.write_text(listing, encoding="utf-8")
    subprocess.run([str(word) for word in (
        ROOT / "tools" / "guest", "--kernel", release, "--icount", "--with", "bpftrace",
        "--timeout", RUN_TIMEOUT_S * listing.count("\n") * times, "--add", runs, "--out", out, "--", script,
        # What lies below the tree is elsewhere in a guest.
        runs.relative_to(ROOT) if runs.is_relative_to(ROOT) else runs)],
                   check=True, stdin=subprocess.DEVNULL)
    return out


def elapsed(folder: Path, name: str) -> int:
    """Instructions between the first byte and the last one of a run."""
    passes = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["experiment"]["passes"]
    return (passes["counted"] or passes["timed"])["elapsed_ns"]


def slope(folder: Path, few: int, many: int, name: str) -> float:
    """Instructions of a message, from a shorter and a longer run; {} in their name is how many they send."""
    return (elapsed(folder, name.format(many)) - elapsed(folder, name.format(few))) / (many - few)


def per_message(folder: Path, case: Case, kind: str, repeats: int) -> tuple[float, float]:
    """Median over the repeats, and how far they lie apart."""
    slopes = [slope(folder, *COUNTS[case.size], case.name(kind, "{}", number)) for number in range(repeats)]
    return statistics.median(slopes), max(slopes) - min(slopes)


def events_per_message(folder: Path, case: Case) -> float:
    """Runs of our programs for one message."""
    messages = COUNTS[case.size][1]
    record = json.loads((folder / f"{case.name('events', messages, 0)}.json")
                        .read_text(encoding="utf-8"))
    return record["overhead"]["events"] / messages


def measure(release: str, cases: list[Case], repeats: int, folder: Path) -> list[dict]:
    """A row for each case: what a message takes, and what each kind of probe adds."""
    out, rows = boot(release, "tests/cost/runs.sh", run_list(cases, repeats), folder), []
    for case in cases:
        found = {kind: per_message(out, case, kind, repeats) for kind in KINDS}
        base, spread = found["none"]
        added = {kind: round(found[kind][0] - base) for kind in KINDS[1:]}
        events = events_per_message(out, case)
        rows.append({
            "kernel": release, "variant": case.variant, "bytes": case.size, "base": round(base),
            # Of one repeat there is none.
            "spread": round(max(spread, found["ours"][1])) if repeats > 1 else None, "events": round(events, 2), **added,
            "ours_per_event": round(added["ours"] / events),
            "whole": round(1 + added["ours"] / base, 2),
            "of_empty": round(added["ours"] / added["empty"], 2) if added["empty"] > 0 else None,
            "of_bpftrace": round(added["ours"] / added["bpftrace"], 2)
            if added["bpftrace"] > 0 else None})
    return rows


def missed(row: dict) -> list[str]:
    """The goals that a row misses, by the names of their columns."""
    most = {"whole": MOST_OF_WHOLE.get((row["variant"], row["bytes"])),
            "of_empty": MOST_OF_EMPTY.get(row["variant"], MOST_OF_EMPTY_PLAIN),
            "of_bpftrace": MOST_OF_BPFTRACE}
    return [COLUMNS[key] for key, value in most.items()
            if value is not None and row[key] is not None and row[key] > value]


def text_of(rows: list[dict]) -> list[str]:
    """The table for people."""
    lines = [f"{'kernel':7} {'variant':9} {'bytes':>6} {'base':>8} {'spread':>7} {'events':>7} "
             f"{'ours':>7} {'empty':>7} {'bpftr.':>7} {'/event':>7} {COLUMNS['whole']:>6} "
             f"{COLUMNS['of_empty']:>7} {COLUMNS['of_bpftrace']:>7}  goals missed"]
    for row in rows:
        ratios = [f"{row[key]:7.2f}" if row[key] is not None else f"{'-':>7}"
                  for key in ("of_empty", "of_bpftrace")]
        spread = "-" if row["spread"] is None else row["spread"]
        lines.append(
            f"{row['kernel']:7} {row['variant']:9} {row['bytes']:6} {row['base']:8} "
            f"{spread:>7} {row['events']:7.2f} {row['ours']:7} {row['empty']:7} "
            f"{row['bpftrace']:7} {row['ours_per_event']:7} {row['whole']:6.2f} {' '.join(ratios)}  "
            f"{' '.join(missed(row)) or 'none'}")
    return [*lines, f"Goals: {COLUMNS['of_empty']} at most {MOST_OF_EMPTY_PLAIN} for plain sends and "
            f"{MOST_OF_EMPTY['A3']} for zero copy; {COLUMNS['of_bpftrace']} at most {MOST_OF_BPFTRACE}; "
            f"{COLUMNS['whole']}, with probes over without, at most {MOST_OF_WHOLE['A3', 65536]} for A3 "
            "of 65,536 bytes."]
