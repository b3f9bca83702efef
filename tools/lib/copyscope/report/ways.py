# SPDX-License-Identifier: GPL-2.0
"""The report of ways to send on one path: which pays from which size to which, and what is best."""
from __future__ import annotations

from typing import Any

from copyscope.common.outcomes import ALIKE, UNDECIDED, spans
from copyscope.common.text import laid_out, listed, size_text, wrapped
from copyscope.records import copies
from copyscope.records.ways import BASES, CALLS, best, decided

from .alternation import percent
from .page import plural

Document = dict[str, Any]
FROM = ("memory", "file", "pieces")


def cell(found: Document) -> str:
    """A ratio in per cent with what it decides: its sign says pays or costs."""
    if found["ratio"] is None:
        return "?"
    if found["outcome"] == ALIKE:
        return "alike"
    away = percent(found["ratio"]["median"]).replace(" %", "")
    return f"{away}?" if found["outcome"] == UNDECIDED else away


def copied(data: Document, name: str) -> str:
    """Copies of each byte that probes counted."""
    found = next((each for each in data["counted"] if each["variant"] == name), None)
    total = found and found["copies_per_byte"]
    return "-" if total is None else copies.number(total)


def table(data: Document) -> list[str]:
    """A row for each way, below what it is used in place of; a column for each size."""
    sizes = sorted({each["bytes"] for way in data["ways"] for each in way["sizes"]})
    rows = [["processor time, %", "copies", *map(size_text, sizes)]]
    for source in FROM:
        mine = [way for way in data["ways"] if way["source"] == source]
        if mine:
            name = BASES[source]
            rows.append([f"{source}: {CALLS[name]}", copied(data, name), *("0" for _ in sizes)])
        for way in mine:
            known = {each["bytes"]: each["processor_time"] for each in way["sizes"]}
            rows.append([f"  {way['call']}", copied(data, way["variant"]),
                         *(cell(known[size]) if size in known else "-" for size in sizes)])
    return laid_out(rows, set(range(1, len(rows[0]))))


def answers(data: Document) -> list[str]:
    """What to send by, from which size to which, by where the bytes are."""
    rows = []
    for source in FROM:
        chosen = best(data["ways"], source)
        if chosen:
            rows.append([source, "; ".join(
                f"{CALLS[name]} " + listed([
                    size_text(low) if low == high else f"{size_text(low)} to {size_text(high)}"
                    for low, high in spans(chosen, name)])
                for name in dict.fromkeys(chosen[size] for size in sorted(chosen)))])
    return laid_out(rows)


def notes(data: Document) -> list[str]:
    """What the numbers are."""
    clear, cells = decided(data)
    starts = sorted({len(each["processor_time"]["starts"]) for way in data["ways"]
                     for each in way["sizes"]})
    said = [f"Processor time of both ends, beside the first row of its part: below 0 a way pays. "
            f"{clear} of {cells} are decided or alike within {data['alike_within'] * 100:g} %; of "
            f"one with ? the 95 % interval holds 0. "
            f"{' to '.join(map(str, dict.fromkeys((starts[0], starts[-1]))))} starts of "
            f"{data['seconds']:g} s each."]
    if data.get("answer_bytes"):
        said.append(f"The sender waits for an answer after {size_text(data['answer_bytes'])}.")
    if data["others_median"] is not None:
        said.append(f"Other programs used {data['others_median'] * 100:.0f} % of the CPUs.")
    by_why: dict[str, list[str]] = {}
    for each in data["absent"]:
        at = listed([size_text(size) for size in each["bytes"]])
        by_why.setdefault(each["why"], []).append(f"{CALLS[each['variant']]} at {at}")
    return [*said, *(f"Not measured, {listed(names)}: {why}." for why, names in by_why.items())]


def head(data: Document) -> str:
    """What was asked, and where."""
    machine = data["machine"]
    return f"Which way to send pays on path {data['path']['kind']}, " \
        f"{plural(data['threads'], 'connection')}, kernel {machine['kernel']}, " \
        f"{machine['cpu_model']}, {plural(machine['cpus'], 'CPU')}"


def lines(data: Document) -> list[str]:
    """The whole report."""
    return [*wrapped(head(data)), "", *answers(data), "", *table(data), "",
            *wrapped(" ".join(notes(data)))]
