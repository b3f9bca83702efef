# SPDX-License-Identifier: GPL-2.0
"""The report of variants that took turns: what each took, what that decides, how it is known."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from copyscope.common.outcomes import MOST_REPEATS, UNDECIDED
from copyscope.common.text import laid_out, listed, short, size_text, wrapped
from copyscope.records import copies

from .page import plural

Document = dict[str, Any]
BESIDE = {"processor_time": "processor time", "wall_time": "time"}
PLACES = {"together": "on one processor", "apart": "on two"}
# What may move an answer: its key, its name, and a part of it in words.
PARTS: tuple[tuple[str, str, Callable[[Document], str]], ...] = (
    ("by_length", "the length of turns", lambda part: f"in turns of {part['asked_ms']} ms"),
    ("by_place", "where both ends run", lambda part: PLACES[part["ends"]]))


def percent(ratio: float) -> str:
    """How far a ratio is from 1: +41 %, -3.2 %; of a large one how many times."""
    if ratio >= 10:
        return f"{ratio:.0f} times"
    away = (ratio - 1) * 100
    return f"{away:+.0f} %" if abs(away) >= 9.95 else f"{away:+.1f} %"


def bounds(found: Document | None) -> str:
    """+41 % (+39 to +43 %); not measured."""
    if found is None:
        return "not measured"
    low, high = (percent(found[end]).removesuffix(" %") for end in ("low", "high"))
    return f"{percent(found['median'])} ({low} to {high})"


def cell(found: Document) -> str:
    """What a ratio decides, and the ratio."""
    return f"{found['outcome']} {bounds(found['ratio'])}"


def copied(data: Document, name: str) -> str:
    """Copies of each byte that probes counted."""
    found = next(each for each in data["counted"] if each["variant"] == name)
    total = found["copies_per_byte"]
    return "not counted" if total is None else copies.number(total)


def table(data: Document) -> list[str]:
    """What each variant took by itself."""
    rows = [["variant", "copies a byte", "processor, ns a KiB", "Gbit/s"]]
    for each in data["variants"]:
        used, wall = each["processor_ns_per_byte"], each["wall_ns_per_byte"]
        rows.append([each["variant"], copied(data, each["variant"]),
                     short(used["median"] * 1024) if used else "-",
                     short(8 / wall["median"]) if wall else "-"])
    return laid_out(rows, {1, 2, 3})


def decided(data: Document) -> list[str]:
    """What each variant takes beside the first one."""
    rows = [[f"beside {data['variants'][0]['variant']}"]]
    for what in BESIDE.values():
        rows[0] += [what, ""]
    for each in data["comparisons"]:
        rows.append([each["variant"]])
        for key in BESIDE:
            rows[-1] += [each[key]["outcome"], bounds(each[key]["ratio"])]
    return laid_out(rows)


def undecided(data: Document) -> list[str]:
    """Of each answer that is not decided why, and what would decide it."""
    said = []
    for each in data["comparisons"]:
        for key, what in BESIDE.items():
            found = each[key]
            if found["outcome"] != UNDECIDED:
                continue
            all_starts = len(data["starts"]) + (found["more_starts"] or 0)
            would = f"about {found['more_s']} s more would decide it (--starts {all_starts})" \
                if found["more_starts"] else f"{MOST_REPEATS:,} starts would not decide it"
            said.append(f"The {what} of {each['variant']} is undecided: {found['why']}; {would}.")
    return said


def apart(data: Document, lengths: list[Document]) -> bool:
    """Whether ratios by the length of turns have nothing in common, and are not alike."""
    low, high = min(each["high"] for each in lengths), max(each["low"] for each in lengths)
    middles = [each["median"] for each in lengths]
    return low < high and max(middles) > min(middles) * (1 + data["alike_within"])


def moved(data: Document) -> list[str]:
    """Comparisons that come out otherwise by the length of turns, or by where both ends run."""
    said = []
    for each in data["comparisons"]:
        for key, what, told in PARTS:
            parts = each["processor_time"].get(key)
            if parts and apart(data, [one["ratio"] for one in parts]):
                by = listed([f"{bounds(one['ratio'])} {told(one)}" for one in parts])
                said.append(f"The processor time of {each['variant']} moves with {what}: {by}.")
    return said


def machine(data: Document) -> list[str]:
    """What the machine as a whole spent, which softirqs on other processors are part of."""
    known = [f"{each['variant']} {cell(each['machine_time'])}" for each in data["comparisons"]
             if each["machine_time"]["ratio"]]
    return [f"The whole machine with other programs, sampled by its ticks: {listed(known)}."] \
        if known else []


def made(data: Document) -> str:
    """How many starts, rounds and turns, and how long turns were."""
    starts = data["starts"]
    rounds = sum(len(each["way"]) // len(each["variants"]) for each in starts)
    asked = listed([str(each) for each in sorted({each["asked_ms"] for each in starts})])
    real = [each["length_ms"] for each in starts if each["length_ms"]]
    said = f" ({short(min(real), 2)} to {short(max(real), 2)} ms by the clock)" if real else ""
    return f"{plural(len(starts), 'start')} of {data['seconds']:g} s, {plural(rounds, 'round')} " \
        f"of turns of {asked} ms of work{said}."


def notes(data: Document) -> list[str]:
    """What the numbers are."""
    others = [each["others"] * 100 for each in data["starts"] if each["others"] is not None]
    lost = sum(bool(each) for start in data["starts"] for each in start["lost_bytes"])
    said = [made(data), f"In brackets: {data['interval']} over starts." if data["interval"] else
            "One start has no interval.",
            f"Alike: all of it within {data['alike_within'] * 100:g} %.",
            "Processor time is of both ends and of the kernel's softirq threads."]
    if any(each.get("ends") for each in data["starts"]):
        said.append("Both ends of a connection run on one processor and on two, in turn.")
    if others:
        said.append(f"Other programs used {min(others):.0f} to {max(others):.0f} % of the CPUs.")
    if lost:
        said.append(f"{plural(lost, 'turn')} lost datagrams: their rounds are left out.")
    return said


def uncounted(data: Document) -> list[str]:
    """Why copies are not known, by reason."""
    whys: dict[str, list[str]] = {}
    for each in data["counted"]:
        if each["why"]:
            less = "not counted" if each["copies_per_byte"] is None else "at least so many"
            whys.setdefault(f"{less}: {each['why']}", []).append(each["variant"])
    return [f"Copies of {listed(names)} are {why}." for why, names in whys.items()]


def received(data: Document, names: list[str]) -> str:
    """Who receives; a variant may name its own (A1:splice)."""
    named = [":" in each for each in names]
    where = " where none is named" if any(named) else ""
    return "" if all(named) else f"to {data['receiver']}{where}, "


def lines(data: Document) -> list[str]:
    """The whole report."""
    names = [each["variant"] for each in data["variants"]]
    head = f"{listed(names)} in turns: {size_text(data['bytes'])}, " \
        f"{plural(data['threads'], 'connection')}, {received(data, names)}path " \
        f"{data['path']['kind']}, kernel {data['machine']['kernel']}"
    told = [line for each in (*undecided(data), *moved(data)) for line in wrapped(each)]
    return [*wrapped(head), "", *table(data), "", *decided(data), *[""] * bool(told), *told, "",
            *wrapped(" ".join([*notes(data), *machine(data), *uncounted(data)]))]
