# SPDX-License-Identifier: GPL-2.0
"""The claims of a report on a page of its own, each with its verdict and what that rests on."""
from __future__ import annotations

from collections import Counter
from typing import Any

from copyscope.common.text import listed, spoken

from .blocks import (
    Block,
    Code,
    Commands,
    Facts,
    Fold,
    Group,
    Heading,
    Line,
    Link,
    Page,
    Table,
    Word,
    joined,
    line,
    said,
)
from .front import claim_page, report_page

CATEGORIES = {"CI": "which copies there are", "PP": "pinning of pages", "CO": "completions",
              "DMA": "transfers by a device", "CA": "caches", "CS": "context switches",
              "SC": "scaling", "XO": "crossovers", "CC": "cost in cycles",
              "OS": "cost of the system's operations", "TP": "throughput and latency",
              "ME": "methods and machines"}
# Lines of one claim: the record has all of them.
MOST_LINES = 8
RECORD = "verdicts.json"
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
# Which program judges a claim that stands twice.
AS = {"published": "as published", "described": "as described"}


def summary(document: dict[str, Any]) -> Table:
    """How many claims of each report have which verdict."""
    rows, verdicts = [], document["verdicts"]
    for report in [*document["reports"], None]:
        name = report["name"] if report else None
        mine = Counter(each["verdict"] for each in verdicts if name in (None, each["report"]))
        label = line(Link(name, report_page(name)), f": {report['title']}") \
            if report and name else line("all")
        rows.append((label, *(line(str(mine[word])) for word in document["words"]),
                     line(str(sum(mine.values())))))
    return Table("Verdicts by report",
                 ("report", *(word.lower() for word in document["words"]), "claims"), tuple(rows),
                 frozenset(range(1, 2 + len(document["words"]))))


def meanings(document: dict[str, Any]) -> Facts:
    """What each word says."""
    return Facts(tuple((word, (line(means),)) for word, means in document["words"].items()))


def every(document: dict[str, Any]) -> Table:
    """All verdicts in one table."""
    rows = tuple((line(Link(each["id"], claim_page(each["id"]))), line(each["statement"]),
                  line(Word(each["verdict"]))) for each in document["verdicts"])
    return Table("Every claim and its verdict", ("claim", "says", "verdict"), rows)


def shortened(found: list[Line]) -> tuple[Line, ...]:
    """As many lines as a claim shows, and where the others are."""
    more = len(found) - MOST_LINES
    end = [line(f"and {more} more in ", Link(RECORD, RECORD))] if more > 0 else []
    return (*found[:MOST_LINES], *end)


def step(each: dict[str, Any]) -> Line:
    """One comparison."""
    word = {True: "true", False: "false", None: "undecided"}[each["truth"]]
    return line(f"{word}: ", Code(each["said"]), f", {spoken(each['left'])} against "
                f"{spoken(each['right'])}")


def known(each: dict[str, Any]) -> tuple[Line, ...]:
    """One quantity: what it is, its value, how it is known."""
    said_of, _, shown = each["shown"].partition(" = ")
    value = shown.partition(" (")[0] if shown else ""
    count = f"; n = {each['n']}" if each["n"] else ""
    return (line(Code(each["said"] if shown else said_of)), line(spoken(value)),
            line(f"{', '.join(each['hows'])}{count}"))


def behind(of: Verdict) -> Fold:
    """What a verdict rests on, folded away."""
    found: list[Block] = []
    facts: list[tuple[str, tuple[Line, ...]]] = []
    if of["given"]:
        facts.append(("holds for machines where", (line(Code(of["given"])),)))
    if of["predicate"]:
        facts.append(("predicate", (line(Code(of["predicate"])),)))
    if of["fixed"]:
        # In the words of the reason that such a verdict has (judge.py).
        seen = f"{'after' if of['fixed']['after_numbers'] else 'before'} results had been judged"
        facts.append(("its predicate was fixed",
                      (line(f"{seen} ({of['fixed']['commit']}, {of['fixed']['date']})"),)))
    if of["steps"]:
        facts.append((f"comparisons made: {of['comparisons']}",
                      shortened([step(each) for each in of["steps"]])))
    if facts:
        found.append(Facts(tuple(facts)))
    if of["evidence"]:
        more = len(of["evidence"]) - MOST_LINES
        found.append(Table("Evidence", ("quantity", "value", "how it is known"),
                           tuple(known(each) for each in of["evidence"][:MOST_LINES])))
        if more > 0:
            found.append(said(f"And {more} more in ", Link(RECORD, RECORD), "."))
    if of["verdict"] == "UNDECIDED" and of["commands"]:
        found += [said("Its runs:"), Commands(tuple(of["commands"]))]
    return Fold("Evidence", tuple(found) or (said("None: no record is of it."),))


def whole(of: Verdict) -> Group:
    """One claim: what is said, the verdict, why; its evidence folds away."""
    place = [each for each in (AS.get(of["as"] or ""), of["where"] and f"section {of['where']}",
                               CATEGORIES.get(of["category"] or "", of["category"])) if each]
    found: list[Block] = [
        Heading(3, f"{of['id']}: {of['statement']}", of["id"]),
        said(Word(of["verdict"]), f" ({', '.join(place)})" if place else "",
             f": {reason(of)}" if reason(of) else "")]
    facts: list[tuple[str, tuple[Line, ...]]] = []
    if of["words"]:
        facts.append(("the report's words", (line(f"\u201c{of['words']}\u201d"),)))
    if of["program"]:
        facts.append(("the published program", (line(of["program"]),)))
    for key, term in (("here", "here"), ("there", "in the report"), ("ratio", "here over there")):
        if of[key]:
            facts.append((term, (line(spoken(of[key])),)))
    if facts:
        found.append(Facts(tuple(facts)))
    return Group("claim", (*found, behind(of)))


def reason(of: Verdict) -> str:
    """Why, in one line."""
    first = of["why"][0].partition(" (")[0] if of["why"] else ""
    more = f", and {len(of['why']) - 1} more" if len(of["why"]) > 1 else ""
    return f"{first}{more}"


def together(verdicts: list[Verdict]) -> list[list[Verdict]]:
    """Claims in their order; one that stands twice with its twin behind it."""
    twins = {each["of"]: each for each in verdicts if each["of"]}
    ids = {each["id"] for each in verdicts}
    return [[each, twins[each["id"]]] if each["id"] in twins else [each] for each in verdicts
            if each["of"] not in ids]


def page(document: dict[str, Any], report: dict[str, str]) -> Page:
    """All claims of a report: by verdict as links, then each in full."""
    mine = [each for each in document["verdicts"] if each["report"] == report["name"]]
    counts = Counter(each["verdict"] for each in mine)
    lead = listed([f"{counts[word]} {word.lower()}" for word in document["words"] if counts[word]])
    rows = tuple((line(Word(word)), line(str(counts[word])), joined([
        line(Link(each["id"].partition("-")[2] or each["id"], f"#{each['id']}"))
        for each in mine if each["verdict"] == word]))
        for word in document["words"] if counts[word])
    found: list[Block] = [
        Table("Claims by verdict", ("verdict", "claims", "which"), rows, frozenset((1,))),
        Fold("What the verdicts mean", (meanings(document),)),
        Heading(2, "Each claim", "claims")]
    for each in together(mine):
        parts = tuple(map(whole, each))
        found += [Group("pair", parts, f"{each[0]['id']}, as published and as described")] \
            if len(parts) > 1 else parts
    return Page(f"{report['name']}: {report['title']}",
                (*found, *undecided(mine)), line(f"{len(mine)} claims: {lead}."))


def lack_of(of: Verdict) -> str:
    """What would have to be there for a verdict."""
    why = of["why"][0] if of["why"] else ""
    for number, (needle, lacks) in enumerate(LACKS):
        if needle in why:
            # One without words means the same as the one before it.
            return lacks or next(LACKS[at][1] for at in range(number, -1, -1) if LACKS[at][1])
    return OTHER


def undecided(mine: list[Verdict]) -> list[Block]:
    """What stays undecided, and what would decide it."""
    found: dict[str, list[Verdict]] = {}
    for each in mine:
        if each["verdict"] == "UNDECIDED":
            found.setdefault(lack_of(each), []).append(each)
    rows = tuple((line(lack), joined([line(Link(each["id"], f"#{each['id']}")) for each in of]))
                 for lack, of in sorted(found.items()))
    return [Heading(2, "What would decide the undecided", "undecided"),
            Table("What each undecided claim takes", ("it takes", "claims"), rows)] if rows else []


def section(document: dict[str, Any]) -> list[Block]:
    """The claims on the first page: how many of each verdict, and where they are."""
    return [Heading(2, "Claims, report by report", "claims"),
            said("A claim has a predicate over records, and the records decide. Each report has a "
                 "page with its claims, their verdicts and the evidence."),
            summary(document), Fold("What the verdicts mean", (meanings(document),))]
