# SPDX-License-Identifier: GPL-2.0
"""From which size one way to send beats another: what searches found, beside what reports said."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from copyscope.common.text import size_text
from copyscope.records import documents

from . import chart
from .blocks import (
    Block,
    Code,
    Commands,
    Drawing,
    Heading,
    Line,
    Link,
    Table,
    joined,
    line,
    said,
    spelled,
)
from .front import Place, claim_page

Found = tuple[Path, dict[str, Any]]
# What a reader types who has two NICs, or a second host.
TO_FIND_OUT = (
    "sudo ./tools/copyscope watch --comm PROGRAM --seconds 3    # needless must be 0",
    "sudo ./tools/crossover A2 A3 --path nic    # two idle NICs of one machine, joined by a cable",
    "sudo ./tools/trace_run --path peer --listen ADDRESS --key-file KEY    # two hosts: the sender",
    "sudo ./tools/trace_run A3 64k 1 --path peer --connect ADDRESS --key-file KEY --pass timed")


def read(folder: Path) -> list[Found]:
    """The searches of a folder."""
    return [(file, documents.load(file, "crossover", "run tools/crossover again"))
            for file in sorted(folder.glob("*.json"))] if folder.is_dir() else []


def bytes_text(size: int) -> str:
    """A size with its thousands apart."""
    found = size_text(size)
    return f"{size:,} B" if found.endswith(" B") else found


def decided(data: dict[str, Any], sizes: list[dict[str, Any]]) -> str:
    """What was decided at these sizes."""
    label = dict(zip(("first", "second"), names(data)))
    found = []
    for winner in ("first", "second", "undecided"):
        at = [bytes_text(each["bytes"]) for each in sizes if each["winner"] == winner]
        if at:
            says = f"{label[winner]} is faster" if winner in label else "undecided"
            found.append(f"{says} at {', '.join(at)}")
    return "; ".join(found)


def answer(data: dict[str, Any]) -> str:
    """The answer of one search, with its interval, and what does not fit it."""
    found, sizes = data["answer"], data["sizes"]
    label = dict(zip((data["first"], data["second"]), names(data)))
    if found["kind"] == "none":
        winner = {data["first"]: "first", data["second"]: "second"}[found["faster_above"]]
        others = [each for each in sizes if each["winner"] != winner]
        ends = f"{bytes_text(data['low_bytes'])} to {bytes_text(data['high_bytes'])}"
        return f"{label[found['faster_above']]} is faster at {len(sizes) - len(others)} of " \
            f"{len(sizes)} sizes, {ends}" + (f"; {decided(data, others)}" if others else "")
    if found["kind"] == "undecided":
        return decided(data, sizes) or "undecided"
    low, high = found["low_bytes"], found["high_bytes"]
    odd = [each for each in sizes if low < each["bytes"] < high or
           each["bytes"] in found["contrary_bytes"]]
    return f"{label[found['faster_below']]} up to {bytes_text(low)}, " \
        f"{label[found['faster_above']]} from {bytes_text(high)} on" + \
        (f"; {decided(data, odd)}" if odd else "")


def how(data: dict[str, Any]) -> str:
    """How a search knows what it says."""
    emulated = ", emulated, so no answer" if data["machine"].get("emulated") else ""
    wide = len(data["answer"].get("wide_bytes") or ())
    said_of = f"; at {wide} of them the interval is wider than asked for" if wide else ""
    most = f" to {data['most_pairs']}" if data.get("most_pairs", 0) > data["pairs"] else ""
    return f"{data['pairs']}{most} pairs at each of {len(data['sizes'])} sizes{said_of}{emulated}"


def matches(wanted: dict[str, Any], data: dict[str, Any]) -> bool:
    """Tell whether a search is of what a report spoke of."""
    return data.get("profile") == wanted["profile"] and \
        {wanted["first"], wanted["second"]} == set(names(data))


def row(place: Place, name: str, says: Line, found: Found | None, profile: str) -> tuple[Line, ...]:
    """One row of the table."""
    if found is None:
        return (line(name), says, line("not measured: ", Code(
            f"sudo ./tools/crossover --profile {profile} --out results/crossovers"), " makes it"),
            line(""), line(""))
    file, data = found
    return (line(name), says, line(Link(answer(data), place.link(file))),
            line(f"{data['path']['kind']}, {data['pattern']}, {connections(data)}"),
            line(how(data)))


def names(data: dict[str, Any]) -> tuple[str, str]:
    """What the report, or else copyscope, calls both."""
    first, second = data.get("labels") or [data["first"], data["second"]]
    return first, second


def title(data: dict[str, Any]) -> str:
    """What one search shares with those of other numbers of connections."""
    of = (data.get("profile") or "").upper()
    pattern = "" if data["pattern"] == "stream" else ", request and reply"
    return f"{of + ' ' if of else ''}{data['path']['kind']}{pattern}: {' or '.join(names(data))}"


def figure(there: list[Found]) -> Drawing:
    """All searches in one figure."""
    found = [chart.Search(title(data), data["threads"], answer(data), tuple(
        (each["bytes"], each["winner"]) for each in data["sizes"])) for _, data in there]
    return Drawing(chart.svg(sorted(found, key=lambda each: (each.title, each.connections))))


def connections(data: dict[str, Any]) -> str:
    """How many connections."""
    return f"{data['threads']} connection{'' if data['threads'] == 1 else 's'}"


def of_zero_copy(place: Place, there: list[Found], paths: tuple[str, ...]) -> Table:
    """The searches on these paths of which one side is MSG_ZEROCOPY."""
    rows = []
    for file, data in there:
        if data["path"]["kind"] in paths and data["second"].startswith("A3") and \
                not data["machine"].get("emulated"):
            both = [f"{label} is {variant}" for label, variant in
                    zip(names(data), (data["first"], data["second"])) if label != variant]
            named = f" ({'; '.join(both)})" if both else ""
            rows.append((line(title(data) + named), line(str(data["threads"])),
                         line(Link(answer(data), place.link(file))), line(how(data))))
    return Table(f"MSG_ZEROCOPY (A3) beside other ways, over {' and '.join(paths)}",
                 ("which", "connections", "which is faster", "how it is known"), tuple(rows),
                 frozenset((1,)))


def answered(document: dict[str, Any], leads: str) -> list[Block]:
    """The sentences on top whose evidence this part is."""
    return [said(*spelled(each["conclusion"] or each["unknown"])) for each in document["answers"]
            if each["kind"] == "sentence" and each["leads"] == leads]


def through_a_nic(place: Place, there: list[Found]) -> list[Block]:
    """What is known of NICs, and how a reader finds out for one."""
    rows = of_zero_copy(place, there, ("nic", "peer", "forward"))
    return [rows] if rows.rows else [
        said("Two things decide. First, whether your bytes leave uncopied: ",
             Link("the table of paths", "#paths"), " says when they do not, and watch tells it of "
             "a program that runs. Then the size: crossover tries both ways in turn at sizes from "
             "64 bytes to 1 MiB, and prints the size from which A3 is faster, or that there is "
             "none. Between two hosts run A2 and A3 at the sizes that you send, and compare."),
        Commands(TO_FIND_OUT)]


def section(place: Place, document: dict[str, Any]) -> list[Block]:
    """The whole section: zero copy first, then all searches, then what reports spoke of."""
    there = read(place.results / "crossovers")
    local = of_zero_copy(place, there, ("lo", "veth"))
    return [Heading(2, "From what size does one way to send beat another?", "crossovers"),
            said("A search runs both in turn, without probes, and decides a size if the 95 % "
                 "interval of the median of the paired ratios leaves out 1. The ways are called "
                 "as the reports call them."),
            Heading(3, "Does MSG_ZEROCOPY pay over loopback?", "pays-here"),
            *answered(document, "pays-here"), *([local] if local.rows else []),
            Heading(3, "And through a NIC? How do I find out for mine?", "pays-through-a-nic"),
            *answered(document, "pays-through-a-nic")[:1], *through_a_nic(place, there),
            Heading(3, "All searches", "searches"),
            *([figure(there)] if there else [said("None was made.")]),
            spoken_of(place, there, document["spoken_crossovers"])]


def spoken_of(place: Place, there: list[Found], spoken: list[dict[str, Any]]) -> Table:
    """What reports spoke of, then what else was searched for."""
    rows, used = [], []
    for each in spoken:
        claims = joined([line(Link(claim, claim_page(claim))) for claim in each["claims"]])
        says = line(each["says"], *((" (", *claims, ")") if claims else ()))
        mine = [found for found in there if matches(each, found[1])]
        used += mine
        name = f"{each['second']} over {each['first']}, {each['profile']}"
        rows += [row(place, name, says, found, each["profile"]) for found in mine or [None]]
    for file, data in there:
        if (file, data) not in used:
            name = f"{' over '.join(reversed(names(data)))}, {data.get('profile') or 'no profile'}"
            rows.append(row(place, name, line("no report spoke of it"), (file, data), ""))
    return Table("Crossovers, beside what the reports said",
                 ("which", "the report said", "found", "path, pattern", "how it is known"),
                 tuple(rows))
