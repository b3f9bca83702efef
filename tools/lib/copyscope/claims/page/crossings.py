# SPDX-License-Identifier: GPL-2.0
"""From which size one way to send beats another: what searches found, beside what reports said."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from copyscope.common.text import size_text
from copyscope.records import documents

from .blocks import Block, Code, Heading, Line, Link, Table, joined, line, said
from .front import Place

Found = tuple[Path, dict[str, Any]]


def read(folder: Path) -> list[Found]:
    """The searches of a folder."""
    return [(file, documents.load(file, "crossover", "run tools/crossover again"))
            for file in sorted(folder.glob("*.json"))] if folder.is_dir() else []


def answer(data: dict[str, Any]) -> str:
    """The answer of one search, with its interval."""
    found, names = data["answer"], data.get("labels") or [data["first"], data["second"]]
    label = dict(zip((data["first"], data["second"]), names))
    low, high = size_text(found["low_bytes"]), size_text(found["high_bytes"])
    said_of = {each: label.get(found[each], found[each]) for each in ("faster_below",
                                                                     "faster_above")}
    if found["kind"] == "none":
        return f"{said_of['faster_above']} is faster from {low} to {high}"
    if found["kind"] == "undecided":
        return f"undecided between {low} and {high}"
    contrary = f"; otherwise at {', '.join(map(size_text, found['contrary_bytes']))}" \
        if found["contrary_bytes"] else ""
    below, above = said_of["faster_below"], said_of["faster_above"]
    return f"{below} up to {low}, {above} from {high} on{contrary}"


def how(data: dict[str, Any]) -> str:
    """How a search knows what it says."""
    emulated = ", emulated, so no answer" if data["machine"].get("emulated") else ""
    return f"{data['pairs']} pairs at each of {len(data['sizes'])} sizes, without probes; " \
        f"{data['interval']}{emulated}"


def matches(wanted: dict[str, Any], data: dict[str, Any]) -> bool:
    """Tell whether a search is of what a report spoke of."""
    names = data.get("labels") or [data["first"], data["second"]]
    return data.get("profile") == wanted["profile"] and \
        {wanted["first"], wanted["second"]} == set(names)


def row(place: Place, name: str, says: Line, found: Found | None, profile: str) -> tuple[Line, ...]:
    """One row of the table."""
    if found is None:
        return (line(name), says, line("not measured: ", Code(
            f"sudo ./tools/crossover --profile {profile} --out results/crossovers"), " makes it"),
            line(""), line(""))
    file, data = found
    return (line(name), says, line(Link(answer(data), place.link(file))),
            line(f"{data['path']['kind']}, {data['pattern']}, {data['threads']} "
                 f"connection{'' if data['threads'] == 1 else 's'}"), line(how(data)))


def section(place: Place, spoken: list[dict[str, Any]]) -> list[Block]:
    """The whole section: what reports spoke of, then what else was searched for."""
    there, rows, used = read(place.results / "crossovers"), [], []
    for each in spoken:
        claims = joined([line(Link(claim, f"#{claim}")) for claim in each["claims"]])
        says = line(each["says"], *((" (", *claims, ")") if claims else ()))
        mine = [found for found in there if matches(each, found[1])]
        used += mine
        name = f"{each['second']} over {each['first']}, {each['profile']}"
        rows += [row(place, name, says, found, each["profile"]) for found in mine or [None]]
    for file, data in there:
        if (file, data) not in used:
            names = data.get("labels") or [data["first"], data["second"]]
            name = f"{names[1]} over {names[0]}, {data.get('profile') or 'no profile'}"
            rows.append(row(place, name, line("no report spoke of it"), (file, data), ""))
    return [Heading(2, "From what size does one way to send beat another?", "crossovers"),
            said("A search runs both in turn, without probes, and decides a size if the 95 % "
                 "interval of the median of the paired ratios leaves out 1."),
            Table("Crossovers, beside what the reports said",
                  ("which", "the report said", "found", "path, pattern", "how it is known"),
                  tuple(rows))]
