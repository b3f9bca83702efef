# SPDX-License-Identifier: GPL-2.0
"""What ways to look add to a round trip, a message of a stream or a connection, in instructions, and the table of it.

A guest's clock counts instructions (see instructions.py), so that guests beside each other disturb no number. A
round trip is a message and its answer of a byte, both ends.
"""
from __future__ import annotations

import itertools
import json
import statistics
from pathlib import Path
from typing import Any

from copyscope.common import spread
from cost.instructions import boot
from cost.sockets import BUSY, FEW, MANY, Work

RESULTS = Path(__file__).resolve().parents[2] / "results"
# What a watch looks at, by what it is told, and what a look of others costs.
LOOKS = ("sequence", "calls", "sizes", "detail", "cpu", "stacks", "sampled", "tracepoints", "others", "one", "tcptop")
# Hooks of packets and of datagrams stay attached: who needs them is beside a look of its own.
WORKS = ((Work("copy", FEW, 2000, 64), Work("copy", FEW, 500, 65536), Work("stream", FEW, 10_000, 64),
          Work("connect", 0, 500, 64)),
         (Work("datagrams", FEW, 2000, 1200),),
         (Work("behind-file", FEW, 2000, 64), Work("zerocopy", FEW, 1000, 64), Work("zerocopy", FEW, 400, 65536),
          Work("sendfile", FEW, 400, 65536)))
CROWDS = ((Work("copy", MANY, 2000, 64),), (Work("zerocopy", MANY, 1000, 64),))
# The least that a ratio of bare over watched is to be.
GOALS = {("copy", 64, "sequence"): 0.993, ("zerocopy", 64, "sequence"): 0.965, ("zerocopy", 65536, "sequence"): 0.985,
         ("sendfile", 65536, "sequence"): 0.980, ("connect", 64, "sequence"): 0.950,
         ("datagrams", 1200, "sequence"): 0.960, ("datagrams", 1200, "others"): 0.995,
         ("sendfile", 65536, "others"): 0.995, ("behind-file", 64, "others"): 0.991, ("copy", 64, "sampled"): 0.90,
         ("stream", 64, "sampled"): 0.90, ("copy", 64, "sizes"): 0.97, ("copy", 64, "detail"): 0.96}
NAMES = {"copy": "plain", "behind-file": "plain, behind a sendfile of anybody", "stream": "plain, in a stream",
         "connect": "a connection", "datagrams": "UDP", "zerocopy": "MSG_ZEROCOPY", "sendfile": "sendfile"}
# A row that got dearer than by that of what it takes is not as it was.
DEARER = 0.02


def measure(release: str, folder: Path, works: tuple[tuple[Work, ...], ...], looks: tuple[str, ...], turns: int
            ) -> list[dict[str, Any]]:
    """Rows of one kernel, by one guest."""
    kinds = ("none", *looks)
    listing = " ".join([str(turns), *kinds]) + "\n" + \
        "fresh\n".join("".join(f"{work.name} {work.words()}\n" for work in beside) for beside in works)
    place = folder / f"looks-{works[0][0].name}"
    place.mkdir(exist_ok=True)
    out = boot(release, "tests/cost/socket_runs.sh", listing, place, 2 * turns * len(kinds))
    rows = []
    for work in itertools.chain(*works):
        took = {kind: [int(line) / work.count for line in (out / f"{work.name}.{kind}").read_text().split()]
                for kind in kinds}
        rows.append({"way": work.way, "sockets": work.sockets, "bytes": work.bytes,
                     "bare": round(statistics.median(took["none"])),
                     "looks": {look: added(took["none"], took[look]) for look in looks}})
    return rows


def added(bare: list[float], watched: list[float]) -> dict[str, float]:
    """What a look adds, and bare over watched; the least and the largest of the turns."""
    ratio = spread.spread([alone / beside for alone, beside in zip(bare, watched)])
    return {"adds": round(statistics.median(beside - alone for alone, beside in zip(bare, watched))),
            "ratio": round(ratio.middle, 4), "low": round(ratio.low, 4), "high": round(ratio.high, 4)}


def cell(row: dict[str, Any], look: str) -> str:
    """What it adds and the ratio, bold where that misses its goal."""
    found = row["looks"].get(look)
    if found is None:
        return "-"
    told, goal = f"{found['adds']} ({found['ratio']:.3f})", GOALS.get((row["way"], row["bytes"], look))
    return told if goal is None else f"{told}, goal {goal}" if found["ratio"] >= goal else \
        f"**{told}**, goal {goal}"


def named(row: dict[str, Any]) -> str:
    """What stands first in a line."""
    crowd = f", {row['sockets']} sockets of which {BUSY:,} work" if row["sockets"] == MANY else ""
    return NAMES[row["way"]] + ("" if row["way"] == "connect" else f", {row['bytes']} B") + crowd


def text_of(data: dict[str, Any]) -> str:
    """The table in Markdown, a part for each kernel."""
    lines = ["<!-- SPDX-License-Identifier: GPL-2.0 -->", "# What looking costs, in instructions", "",
             "`tests/watch_cost` makes this page, in guests whose clock counts instructions. Both ends are in each number. A "
             "round trip is a message and its answer of a byte, on lo; a message of a stream has no answer, and a connection "
             "carries one message. A copy of 64 KiB counts 8,192, as the processor has neither erms nor fsrm. A cell is what "
             "a look adds, and the ratio of bare over watched: medians of the turns. Bold misses its goal.", "",
             "`others` is a watch of another process, `sampled` is `--stacks=64`, `one` a program that does nothing at the "
             "entry of tcp_recvmsg_locked, `tcptop` bcc's, which counts less.", ""]
    for release, part in data.items():
        rows = part["rows"]
        looks = [look for look in LOOKS if any(look in row["looks"] for row in rows)]
        lines += [f"## Linux {release}", "", f"Commit {part['commit']}, {part['turns']} turns.", "",
                  "| work | bare | " + " | ".join(looks) + " |", "|---|---|" + "---|" * len(looks)]
        lines += [f"| {named(row)} | {row['bare']} | " + " | ".join(cell(row, look) for look in looks) + " |"
                  for row in rows]
        lines.append("")
    return "\n".join(lines)


def key(row: dict[str, Any]) -> tuple[str, int, int]:
    """What a row is of."""
    return row["way"], row["sockets"], row["bytes"]


def dearer(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[str]:
    """What takes more of a kernel than it did, by all turns; a line each."""
    known, found = {key(row): row["looks"] for row in before}, []
    for row in now:
        for look, each in row["looks"].items():
            was = known[key(row)][look]
            if each["high"] < was["low"] * (1 - DEARER):
                found.append(f"{named(row)}, {look}: {each['ratio']}, where {was['ratio']} stood")
    return found


def read(folder: Path) -> dict[str, Any]:
    """What is kept, by kernel."""
    file = folder / "looks.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def write(data: dict[str, Any], folder: Path) -> None:
    """Keep it, for programs and for people."""
    (folder / "looks.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    (folder / "looks.md").write_text(text_of(data), encoding="utf-8")
