# SPDX-License-Identifier: GPL-2.0
"""Puts the page together, and writes it both ways."""
from __future__ import annotations

from typing import Any

from copyscope.common.tree import DOCS

from . import answers, as_html, as_markdown, copies, crossings, front, gallery, verdicts
from .blocks import Block, Bullets, Group, Heading, Link, Table, joined, line, said
from .front import Place

TITLE = "What copies cost: claims of five reports, each put to the test"


def begins(document: dict[str, Any], place: Place) -> list[Block]:
    """The title, what it is made from, and where everything is."""
    made = document["made_from"]
    counts = ", ".join(f"{count} of {kind}" for kind, count in made["records"].items())
    rows = tuple((line(each["machine"]), line(each["kernel"]),
                  line("yes: counts, no times" if each["emulated"] else "no"),
                  line(str(each["records"]))) for each in made["machines"])
    return [
        Heading(1, TITLE, "top"),
        said(f"{len(document['verdicts'])} claims, judged by records of this folder alone: "
             f"{counts or 'none'}. ", Link(verdicts.RECORD, verdicts.RECORD),
             " has every verdict with all of its evidence. ",
             Link("docs/METHOD.md", place.link(DOCS / "METHOD.md")),
             " says how a predicate follows from a report's words, and what is measured how."),
        verdicts.summary(document),
        Group("nav", (Bullets((
            line(Link("What is in results/", "#results")),
            line(Link("Where do the copies occur?", "#copies")),
            line(Link("From what size does one way beat another?", "#crossovers")),
            *([line(Link("Questions of the reports", "#questions"))]
              if any(each["kind"] == "question" for each in document["answers"]) else []),
            *([line(Link("Where reports contradict each other", "#contradictions"))]
              if any(each["kind"] == "contradiction" for each in document["answers"]) else []),
            line(Link("Claims and verdicts", "#claims"), ": ",
                 *joined([line(Link(each["name"], f"#report-{each['name']}"))
                          for each in document["reports"]])),
            line(Link("What stays undecided", "#undecided")),
            line(Link("Every figure", "#figures")))),)),
        Table("Machines of the records", ("machine", "kernel", "emulated", "records"), rows)]


def parts(document: dict[str, Any], place: Place) -> list[Block]:
    """The whole page."""
    return [*begins(document, place), *front.index(place), *copies.section(place, document["ways"]),
            *crossings.section(place, document["spoken_crossovers"]),
            *answers.section(document, "question", "Questions of the reports, and answers"),
            *answers.section(document, "contradiction", "Where reports contradict each other"),
            *verdicts.section(document), *verdicts.undecided(document["verdicts"]),
            *gallery.section(place)]


def pages(document: dict[str, Any], place: Place) -> dict[str, str]:
    """Name and text of each file."""
    found = parts(document, place)
    return {"index.html": as_html.page(TITLE, found), "README.md": as_markdown.page(found)}
