# SPDX-License-Identifier: GPL-2.0
"""The questions of the reports, answered from records, and where reports contradict each other."""
from __future__ import annotations

from typing import Any

from .blocks import Block, Code, Heading, Line, Link, Table, Word, joined, line, said

NOT_MADE = "not answered"


def value(row: dict[str, Any]) -> Line:
    """A number with its interval, or why there is none."""
    if row["shown"] is not None:
        return line(row["shown"])
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
        return line(answer["conclusion"])
    if answer["predicate"] is None:
        return line("The table has what was measured.")
    missing = [*answer["missing"], "no reason is known"][0]
    return line(f"{NOT_MADE.capitalize()}: {missing}.")


def claims(answer: dict[str, Any], words: dict[str, str]) -> Line:
    """The claims that an answer is of, each with its verdict."""
    return joined([line(Link(each, f"#{each}"), " ", Word(words[each])) if each in words else
                   line(each) for each in answer["claims"]])


def one(answer: dict[str, Any], words: dict[str, str]) -> list[Block]:
    """One question and its answer."""
    found: list[Block] = [Heading(3, answer["asks"], f"answer-{answer['id']}"),
                          said(*conclusion(answer))]
    if answer["rows"]:
        rows = tuple((line(each["say"]), value(each), line(how(each))) for each in answer["rows"])
        found.append(Table(f"{answer['asks']} In numbers", ("what", "value", "how it is known"),
                           rows))
    if answer["predicate"]:
        found.append(said("Decided by: ", Code(answer["predicate"])))
    if answer["claims"]:
        found.append(said("Claims: ", *claims(answer, words), "."))
    return found


def section(document: dict[str, Any], kind: str, title: str) -> list[Block]:
    """All answers of one kind."""
    words = {each["id"]: each["verdict"] for each in document["verdicts"]}
    mine = [each for each in document["answers"] if each["kind"] == kind]
    return [Heading(2, title, f"{kind}s"),
            *(block for each in mine for block in one(each, words))] if mine else []
