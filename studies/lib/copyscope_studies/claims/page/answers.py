# SPDX-License-Identifier: GPL-2.0
"""The sentences on top, and the questions of the reports: answered from records alone."""
from __future__ import annotations

from typing import Any

from copyscope.common.text import spoken

from .blocks import (
    Block,
    Bullets,
    Code,
    Fold,
    Heading,
    Line,
    Link,
    Table,
    Word,
    joined,
    line,
    said,
    spelled,
)
from .front import claim_page


def sentences(document: dict[str, Any]) -> list[tuple[str, str, Line]]:
    """The sentences on top: what each asks, the part of the page that shows it, and its text. A
    part that records do not decide says what is not known."""
    found: dict[str, list[dict[str, Any]]] = {}
    for each in document["answers"]:
        if each["kind"] == "sentence":
            found.setdefault(each["asks"], []).append(each)
    return [(asks, parts[0]["leads"], spelled(" ".join(
        each["conclusion"] or each["unknown"] for each in parts))) for asks, parts in found.items()]


def top(document: dict[str, Any], page: str = "") -> list[Block]:
    """The sentences as a list of links; `page` is the one that they lead to."""
    found = tuple(line(Link(asks, f"{page}#{leads}"), " ", *text)
                  for asks, leads, text in sentences(document))
    return [Bullets(found, numbered=True)] if found else []


def value(row: dict[str, Any]) -> Line:
    """A number with its interval, or why there is none."""
    if row["shown"] is not None:
        return line(spoken(row["shown"]))
    # What follows in brackets is the expression, which the row says in words.
    why = row["missing"][0].partition(" (")[0] if row["missing"] else "no reason is known"
    return line("not measured: ", why)


def how(row: dict[str, Any]) -> str:
    """How a number is known."""
    count = f"; n = {row['n']}" if row["n"] else ""
    return f"{', '.join(row['hows'])}{count}" if row["shown"] is not None else ""


def conclusion(answer: dict[str, Any]) -> Line:
    """What the records come to."""
    if answer["conclusion"]:
        return spelled(answer["conclusion"])
    missing = [*answer["missing"], "no reason is known"][0].partition(" (")[0]
    return line(f"Not known; missing: {missing}.")


def claims(answer: dict[str, Any], words: dict[str, str]) -> Line:
    """The claims that an answer is of, each with its verdict."""
    return joined([line(Link(each, claim_page(each)), " ", Word(words[each])) if each in words else
                   line(each) for each in answer["claims"]])


def one(answer: dict[str, Any], words: dict[str, str]) -> list[Block]:
    """One question and its answer; what it rests on folds away."""
    found: list[Block] = [Heading(3, answer["asks"], f"answer-{answer['id']}"),
                          said(*conclusion(answer))]
    behind: list[Block] = []
    if answer["rows"]:
        rows = tuple((line(each["say"]), value(each), line(how(each))) for each in answer["rows"])
        behind.append(Table("In numbers: median, and its interval where it is a time",
                            ("what", "value", "how it is known"), rows))
    if answer["predicate"]:
        behind.append(said("Decided by: ", Code(answer["predicate"])))
    if behind:
        # Its table folds with it, and not once more.
        found.append(Fold("The numbers behind it", tuple(behind)))
    if answer["claims"]:
        found.append(said("Claims: ", *claims(answer, words), "."))
    return found


def section(document: dict[str, Any], kind: str, title: str) -> list[Block]:
    """All answers of one kind."""
    words = {each["id"]: each["verdict"] for each in document["verdicts"]}
    mine = [each for each in document["answers"] if each["kind"] == kind]
    return [Heading(2, title, f"{kind}s"),
            *(block for each in mine for block in one(each, words))] if mine else []
