# SPDX-License-Identifier: GPL-2.0
"""Puts the pages together: answers first, then what shows them, folders and machines last."""
from __future__ import annotations

from typing import Any

from copyscope.common.tree import DOCS

from . import answers, as_html, as_markdown, beside, copies, crossings, front, gallery, verdicts
from .blocks import Block, Bullets, Group, Line, Link, Page, Table, line, said
from .front import Place

TITLE = "Where TCP payload is copied, and when zero copy pays"
FIRST, BESIDE, FIGURES = "index.html", "beside.html", "figures.html"
MARKDOWN = "README.md"


def lead(document: dict[str, Any], place: Place) -> Line:
    """What all of it rests on."""
    return line(f"Answers from measurements, and {len(document['verdicts'])} claims of "
                f"{len(document['reports'])} reports put to the test. ",
                Link("How each number is known", place.link(DOCS / "METHOD.md")), ".")


def contents(document: dict[str, Any]) -> Group:
    """Where everything is."""
    kinds = {each["kind"] for each in document["answers"]}
    lines = [line(Link(text, f"#{anchor}")) for anchor, text, there in (
        ("copies", "copy maps", True), ("paths", "paths and kernels", bool(document["causes"])),
        ("crossovers", "crossovers", True), ("questions", "questions", "question" in kinds),
        ("contradictions", "contradictions", "contradiction" in kinds),
        ("claims", "claims", True), ("results", "folders and machines", True)) if there]
    return Group("nav", (Bullets(tuple(lines)),), "Contents")


def machines(document: dict[str, Any]) -> list[Block]:
    """The machines that the records are of."""
    made = document["made_from"]
    rows = tuple((line(each["machine"]), line(each["kernel"]),
                  line("yes: counts, no times" if each["emulated"] else "no"),
                  line(str(each["records"]))) for each in made["machines"])
    counts = ", ".join(f"{count} of {kind}" for kind, count in made["records"].items())
    return [Table("Machines of the records", ("machine", "kernel", "emulated", "records"), rows),
            said(f"Records: {counts or 'none'}. ", Link("Every figure", FIGURES), "; ",
                 Link(verdicts.RECORD, verdicts.RECORD), " has each verdict with all evidence.")]


def first(document: dict[str, Any], place: Place) -> Page:
    """The page that answers."""
    return Page(TITLE, (
        *answers.top(document), contents(document), *copies.section(place, document),
        *crossings.section(place, document),
        *answers.section(document, "question", "Questions of the reports"),
        *answers.section(document, "contradiction", "Where reports contradict each other"),
        *verdicts.section(document), *front.index(place), *machines(document)),
        lead(document, place))


def markdown(document: dict[str, Any], place: Place) -> Page:
    """The first screen and the verdicts, for who reads Markdown."""
    return Page(TITLE, (
        *answers.top(document, FIRST),
        said("The page itself is ", Link(FIRST, FIRST), ": copy maps, tables, figures and the "
             "evidence behind each verdict. It needs no network and no script. ",
             Link("Each figure and table of the reports", BESIDE),
             " stands there as published and as measured."),
        verdicts.summary(document), verdicts.every(document)), lead(document, place))


def pages(document: dict[str, Any], place: Place) -> dict[str, str]:
    """Name and text of each file."""
    made = {FIRST: first(document, place),
            **{front.report_page(each["name"]): verdicts.page(document, each)
               for each in document["reports"]},
            BESIDE: Page("Published, and measured here", tuple(beside.section(place, document)),
                         beside.lead(), broad=True),
            FIGURES: Page("Every figure", tuple(gallery.section(place)))}
    menu = ((FIRST, "answers"), *((front.report_page(each["name"]), each["name"])
                                  for each in document["reports"]),
            (BESIDE, "published and here"), (FIGURES, "figures"))
    return {**{name: as_html.page(page, name, menu) for name, page in made.items()},
            MARKDOWN: as_markdown.page(markdown(document, place))}
