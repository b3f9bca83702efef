# SPDX-License-Identifier: GPL-2.0
"""The claims by report, verdict and category; each in full with what it rests on."""
from __future__ import annotations

from collections import Counter
from typing import Any

from .blocks import (
    Block,
    Bullets,
    Code,
    Facts,
    Group,
    Heading,
    Line,
    Link,
    Table,
    Word,
    joined,
    line,
    said,
)

CATEGORIES = {"CI": "which copies there are", "PP": "pinning of pages", "CO": "completions",
              "DMA": "transfers by a device", "CA": "caches", "CS": "context switches",
              "SC": "scaling", "XO": "crossovers", "CC": "cost in cycles",
              "OS": "cost of the system's operations", "TP": "throughput and latency",
              "ME": "methods and machines"}
# Lines of one claim: the record has all of them.
MOST_LINES = 8
RECORD = "verdicts.json"
WORDS = ("CONFIRMED", "REFUTED", "DIFFERS HERE", "CONTRADICTED BY ITS OWN NUMBERS", "UNDECIDED",
         "OUT OF SCOPE")
# What a reason for UNDECIDED holds: what it lacks. The first that fits counts.
LACKS = (("hardware counter", "a machine with hardware counters (a PMU)"), ("PMU", ""),
         ("cpus >=", "a machine with more processors"), ("processors", ""),
         ("NUMA", "a machine with two nodes"), ("not emulated", "a machine that is not emulated"),
         ("4.14", "guests with kernels before 4.14"),
         ("caches were modelled", "a sweep in modelled caches"),
         ("more pairs", "more pairs of runs"),
         ("trampoline", "a kernel with trampolines, which see it"),
         ("reads notifications", "a variant that reads notifications"),
         ("no record passes", "runs that were not made yet"),
         ("repeats", "more repeats without probes"),
         ("without probes", ""), ("interval is too wide", ""), ("narrow the selection", ""))
OTHER = "a quantity that no record has yet"

Verdict = dict[str, Any]


def anchors(found: list[Verdict]) -> Line:
    """Links to claims."""
    return joined([line(Link(each["id"], f"#{each['id']}")) for each in found])


def summary(document: dict[str, Any]) -> Table:
    """How many claims of each report have which verdict."""
    rows, verdicts = [], document["verdicts"]
    for report in [*document["reports"], None]:
        name = report["name"] if report else None
        mine = Counter(each["verdict"] for each in verdicts if name in (None, each["report"]))
        label = line(Link(name, f"#report-{name}")) if report else line("all")
        rows.append((label, *(line(str(mine[word])) for word in WORDS),
                     line(str(sum(mine.values())))))
    return Table("Verdicts by report", ("report", *(word.lower() for word in WORDS), "claims"),
                 tuple(rows), frozenset(range(1, 6)))


def lists(verdicts: list[Verdict]) -> list[Block]:
    """The claims by verdict and by category, as links."""
    by_word = [line(Word(word), ": ", *anchors([each for each in verdicts
                                               if each["verdict"] == word]))
               for word in WORDS if any(each["verdict"] == word for each in verdicts)]
    by_category = [line(f"{key}, {says}: ", *anchors([each for each in verdicts
                                                      if each["category"] == key]))
                   for key, says in CATEGORIES.items()
                   if any(each["category"] == key for each in verdicts)]
    return [Heading(3, "Claims by verdict", "by-verdict"), Bullets(tuple(by_word)),
            Heading(3, "Claims by category", "by-category"), Bullets(tuple(by_category))]


def shortened(found: list[Line]) -> tuple[Line, ...]:
    """As many lines as a claim shows, and where the others are."""
    more = len(found) - MOST_LINES
    end = [line(f"and {more} more in ", Link(RECORD, RECORD))] if more > 0 else []
    return (*found[:MOST_LINES], *end)


def step(each: dict[str, Any]) -> Line:
    """One comparison."""
    word = {True: "true", False: "false", None: "undecided"}[each["truth"]]
    return line(f"{word}: ", Code(each["said"]), f", {each['left']} against {each['right']}")


def whole(of: Verdict) -> Group:
    """One claim in full."""
    place = ", ".join(each for each in (of["where"], CATEGORIES.get(of["category"] or "",
                                                                   of["category"])) if each)
    facts: list[tuple[str, tuple[Line, ...]]] = []
    if of["words"]:
        facts.append(("the report's words", (line(of["words"]),)))
    if of["why"]:
        facts.append(("why", shortened([line(each) for each in of["why"]])))
    if of["given"]:
        facts.append(("holds for machines where", (line(Code(of["given"])),)))
    if of["predicate"]:
        facts.append(("predicate", (line(Code(of["predicate"])),)))
    if of["steps"]:
        facts.append(("comparisons", shortened([step(each) for each in of["steps"]])))
    if of["evidence"]:
        facts.append(("evidence, and how it is known",
                      shortened([line(each["shown"]) for each in of["evidence"]])))
    if of["verdict"] == "UNDECIDED" and of["commands"]:
        facts.append(("its runs", tuple(line(Code(each)) for each in of["commands"])))
    return Group("claim", (
        Heading(4, f"{of['id']}: {of['statement']}", of["id"]),
        said(Word(of["verdict"]), f" ({place})" if place else ""), Facts(tuple(facts))))


def of_report(document: dict[str, Any], report: dict[str, str]) -> list[Block]:
    """All claims of a report: a table, then each in full."""
    mine = [each for each in document["verdicts"] if each["report"] == report["name"]]
    rows = tuple((line(Link(each["id"], f"#{each['id']}")), line(each["category"] or ""),
                  line(each["statement"]), line(Word(each["verdict"]))) for each in mine)
    return [Heading(3, f"{report['name']}: {report['title']}", f"report-{report['name']}"),
            Table(f"Claims of {report['name']}", ("claim", "category", "says", "verdict"), rows),
            *map(whole, mine)]


def lack_of(of: Verdict) -> str:
    """What would have to be there for a verdict."""
    why = of["why"][0] if of["why"] else ""
    for number, (needle, lacks) in enumerate(LACKS):
        if needle in why:
            # One without words means the same as the one before it.
            return lacks or next(LACKS[at][1] for at in range(number, -1, -1) if LACKS[at][1])
    return OTHER


def undecided(verdicts: list[Verdict]) -> list[Block]:
    """What stays undecided, and what would decide it."""
    mine = [each for each in verdicts if each["verdict"] == "UNDECIDED"]
    found: list[Block] = [Heading(2, "What stays undecided, and what would decide it", "undecided")]
    if not mine:
        return [*found, said("Nothing.")]
    rows = []
    for lack in sorted({lack_of(each) for each in mine}):
        for each in mine:
            if lack_of(each) == lack:
                rows.append((line(Link(each["id"], f"#{each['id']}")), line(lack),
                             line(each["why"][0] if each["why"] else ""),
                             line(each["undecidable"] or "")))
    return [*found, Table("Claims without a verdict", ("claim", "it takes", "missing",
                                                       "what leaves it undecided"), tuple(rows))]


def section(document: dict[str, Any]) -> list[Block]:
    """All claims."""
    return [Heading(2, "Claims and verdicts", "claims"),
            said("Counts are judged exactly; times by the 95 % interval of at least 6 repeats "
                 "without probes on a machine that is not emulated. OUT OF SCOPE is what a report "
                 "says of itself: it is calculated from its own numbers where it prints them."),
            *lists(document["verdicts"]),
            *(block for each in document["reports"] for block in of_report(document, each))]
