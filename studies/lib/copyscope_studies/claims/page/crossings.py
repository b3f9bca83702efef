# SPDX-License-Identifier: GPL-2.0
"""From which size one way to send beats another: what searches found, beside what reports said."""
from __future__ import annotations

from collections import Counter
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
    Fold,
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
    "sudo ./tools/trace_run A3 64k 1 --path peer --host HOST --pass timed    # two hosts, by ssh")


def read(folder: Path) -> list[Found]:
    """The searches of a folder."""
    return [(file, documents.load(file, "crossover", "run tools/crossover again"))
            for file in sorted(folder.glob("*.json"))] if folder.is_dir() else []


def bytes_text(size: int) -> str:
    """A size with its thousands apart."""
    found = size_text(size)
    return f"{size:,} B" if found.endswith(" B") else found


def named(data: dict[str, Any]) -> tuple[str, str]:
    """What the report, or else copyscope, calls both."""
    first, second = data.get("labels") or [data["first"], data["second"]]
    return first, second


def labels(data: dict[str, Any]) -> dict[str, str]:
    """What both are called, by their place and by their variant."""
    keys = ("first", "second", data["first"], data["second"])
    return dict(zip(keys, named(data) * 2))


def decided(data: dict[str, Any], sizes: list[dict[str, Any]]) -> str:
    """What was decided at these sizes."""
    found = []
    for winner in ("first", "second", "alike", "undecided"):
        at = [bytes_text(each["bytes"]) for each in sizes if each["winner"] == winner]
        if at:
            label = labels(data).get(winner)
            says = f"{label} is faster" if label else winner
            found.append(f"{says} at {', '.join(at)}")
    return "; ".join(found)


def crossed(data: dict[str, Any]) -> str:
    """Where the winner changes, in a search that found it."""
    found, label = data["answer"], labels(data)
    below, above = (label.get(found[key], "alike") for key in ("faster_below", "faster_above"))
    return f"{below} up to {bytes_text(found['low_bytes'])}, " \
        f"{above} from {bytes_text(found['high_bytes'])} on"


def answer(data: dict[str, Any]) -> str:
    """The answer of one search, with its interval, and what does not fit it."""
    found, sizes = data["answer"], data["sizes"]
    if found["kind"] == "none" and found["faster_above"]:
        winner = {data["first"]: "first", data["second"]: "second"}[found["faster_above"]]
        others = [each for each in sizes if each["winner"] != winner]
        ends = f"{bytes_text(data['low_bytes'])} to {bytes_text(data['high_bytes'])}"
        return f"{labels(data)[winner]} is faster at {len(sizes) - len(others)} of " \
            f"{len(sizes)} sizes, {ends}" + (f"; {decided(data, others)}" if others else "")
    if found["kind"] != "crossover":
        return decided(data, sizes) or "undecided"
    odd = [each for each in sizes if found["low_bytes"] < each["bytes"] < found["high_bytes"] or
           each["bytes"] in found["contrary_bytes"]]
    return crossed(data) + (f"; {decided(data, odd)}" if odd else "")


def brief(data: dict[str, Any]) -> str:
    """The same in few words, to stand beside those of other numbers of connections."""
    found, sizes = data["answer"], data["sizes"]
    if data["machine"].get("emulated"):
        return "emulated, so no answer"
    if found["kind"] == "crossover":
        odd = len(found["contrary_bytes"])
        return crossed(data) + (f", but not at {odd} of {len(sizes)} sizes" if odd else "")
    wins = Counter(labels(data).get(each["winner"]) for each in sizes)
    told = [f"{label} at {'every size' if wins[label] == len(sizes) else wins[label]}"
            for label in named(data) if wins[label]]
    some = f" of {len(sizes)} sizes" if told and len(sizes) not in wins.values() else ""
    start = ["undecided"] if found["kind"] == "undecided" else []
    return "; ".join([*start, *([", ".join(told) + some] if told else [])])


def how(data: dict[str, Any]) -> str:
    """How a search knows what it says."""
    emulated = ", emulated, so no answer" if data["machine"].get("emulated") else ""
    wide = len(data["answer"].get("wide_bytes") or ())
    said_of = f"; at {wide} of them the interval is wider than asked for" if wide else ""
    most = f" to {data['most_pairs']}" if data.get("most_pairs", 0) > data["pairs"] else ""
    repeats = "starts" if data.get("method", "").startswith("turns") else "pairs"
    return f"{data['pairs']}{most} {repeats} at each of " \
        f"{len(data['sizes'])} sizes{said_of}{emulated}"


def matches(wanted: dict[str, Any], data: dict[str, Any]) -> bool:
    """Tell whether a search is of what a report spoke of."""
    return data.get("profile") == wanted["profile"] and \
        {wanted["first"], wanted["second"]} == set(named(data))


def title(data: dict[str, Any]) -> str:
    """What one search shares with those of other numbers of connections."""
    of = (data.get("profile") or "").upper()
    pattern = "" if data["pattern"] == "stream" else ", request and reply"
    return f"{of + ' ' if of else ''}{data['path']['kind']}{pattern}: {' or '.join(named(data))}"


def by_pair(there: list[Found]) -> dict[str, list[Found]]:
    """The searches of each pair on each path, from the fewest connections to the most."""
    pairs: dict[str, list[Found]] = {}
    for each in sorted(there, key=lambda each: (title(each[1]), each[1]["threads"])):
        pairs.setdefault(title(each[1]), []).append(each)
    return pairs


def by_report(there: list[Found]) -> dict[str, list[Found]]:
    """The searches of each report, pair by pair."""
    reports: dict[str, list[Found]] = {}
    for mine in by_pair(there).values():
        profile = mine[0][1].get("profile")
        reports.setdefault(profile.upper() if profile else "no report", []).extend(mine)
    return reports


def connections(count: int) -> str:
    """How many connections."""
    return f"{count} connection{'' if count == 1 else 's'}"


def counts(there: list[Found]) -> list[int]:
    """The numbers of connections that were searched with: a column each."""
    return sorted({data["threads"] for _, data in there}) or [1]


def cells(place: Place, mine: list[Found], numbers: list[int]) -> tuple[Line, ...]:
    """The answers of a pair, by its numbers of connections."""
    return tuple(joined([line(Link(brief(data), place.link(file))) for file, data in mine
                         if data["threads"] == number], "; ") or line("not searched")
                 for number in numbers)


def of_zero_copy(place: Place, there: list[Found], paths: tuple[str, ...]) -> Table:
    """The searches on these paths of which one side is MSG_ZEROCOPY."""
    there = [(file, data) for file, data in there
             if data["path"]["kind"] in paths and data["second"].startswith("A3") and
             not data["machine"].get("emulated")]
    rows, numbers = [], counts(there)
    for name, mine in by_pair(there).items():
        data = mine[0][1]
        both = [f"{label} is {variant}" for label, variant in
                zip(named(data), (data["first"], data["second"])) if label != variant]
        rows.append((line(name + (f" ({'; '.join(both)})" if both else "")),
                     *cells(place, mine, numbers)))
    return Table(f"MSG_ZEROCOPY (A3) beside other ways over {' and '.join(paths)}: who is faster",
                 ("which", *map(connections, numbers)), tuple(rows))


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
    """The whole section: zero copy first, then what reports spoke of, then every search."""
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
            said("Undecided: the interval at the smallest or the largest size holds 1, as it does "
                 "wherever fewer sizes are named than were tried."),
            spoken_of(place, there, document["spoken_crossovers"]), *every(place, there)]


def spoken_of(place: Place, there: list[Found], spoken: list[dict[str, Any]]) -> Table:
    """What reports spoke of, then what else was searched for: a row for each pair."""
    rows, numbers, pairs = [], counts(there), by_pair(there)
    used: list[str] = []
    for each in spoken:
        claims = joined([line(Link(claim, claim_page(claim))) for claim in each["claims"]])
        says = line(each["says"], *((" (", *claims, ")") if claims else ()))
        mine = [pair for pair, found in pairs.items() if matches(each, found[0][1])]
        used += mine
        name = f"{each['second']} over {each['first']}, {each['profile']}"
        missing = line("not measured: ", Code(f"sudo ./tools/crossover --profile {each['profile']} "
                                              "--out results/crossovers"), " makes it")
        rows += [(line(name), says, *cells(place, pairs[pair], numbers)) for pair in mine] or [
            (line(name), says, missing, *([line("")] * (len(numbers) - 1)))]
    for found in (found for pair, found in pairs.items() if pair not in used):
        data = found[0][1]
        name = f"{' over '.join(reversed(named(data)))}, {data.get('profile') or 'no profile'}"
        rows.append((line(name), line("no report spoke of it"), *cells(place, found, numbers)))
    return Table("Crossovers, beside what the reports said",
                 ("which", "the report said", *map(connections, numbers)), tuple(rows))


def every(place: Place, there: list[Found]) -> list[Block]:
    """A figure and a table of the searches of each report; all but the first figure fold away."""
    if not there:
        return [said("No search was made.")]
    found: list[Block] = []
    for report, mine in by_report(there).items():
        drawn = Drawing(chart.svg([chart.Search(title(data), data["threads"], answer(data), tuple(
            (each["bytes"], each["winner"]) for each in data["sizes"])) for _, data in mine]))
        rows = tuple((line(title(data).removeprefix(f"{report} ")), line(str(data["threads"])),
                      line(Link(answer(data), place.link(file))), line(how(data)))
                     for file, data in mine)
        told = Table(f"Each search of {report}",
                     ("which", "connections", "which is faster", "how it is known"), rows,
                     frozenset((1,)))
        number = f"{len(mine)} search{'' if len(mine) == 1 else 'es'}"
        found += [Fold(f"{report}: {number}", (drawn, told))] if found else \
            [drawn, told if told.folds else Fold(told.caption, (told,))]
    return found
