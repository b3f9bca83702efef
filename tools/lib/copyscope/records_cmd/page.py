# SPDX-License-Identifier: GPL-2.0
"""Writes the report of a record as one page of HTML, which fetches nothing and escapes all text."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from copyscope.common.needs import drawing
from copyscope.common.tables import SITES
from copyscope.common.templates import templates
from copyscope.common.text import bytes_text
from copyscope.pictures import flame
from copyscope.pictures.groups import slugs, split
from copyscope.records.reply import reply_alone
from copyscope.records.run_record import Record
from copyscope.records.stacks import has as has_stacks
from copyscope.records.watch_record import watched_of
from copyscope.report import (
    answers,
    counts,
    cpu,
    missing,
    rows,
    run,
    run_missing,
    run_sentence,
    sizes,
    stacks,
    watch,
    zero_copy,
)
from copyscope.report.tables import MEANING, TLS_LAWS, side, tls_moved

# Of processes, those that moved most.
MOST_MAPS = 2
MOST_STACKS = 10
# More would make a page of megabytes, in which nobody reads.
MOST_PROCESSES = 1000
MOST_SERVICES, MOST_SENTENCES = 10, 3
COLUMNS = ("sent", "received", "copied", "avoidable", "sockets")


def subject(record: Record, services: list[list[str]]) -> str:
    """Whom the page is about."""
    if not record.watched:
        return f"{record.variant}, {record.bytes:,} bytes on {record.path}"
    return services[0][0] if len(services) == 1 else f"{len(services)} services"


def site_rows(record: Record) -> list[list[str]]:
    """Every site that bytes passed; where both ends send, of the replies alone."""
    record = reply_alone(record)
    found = [(site, record.site_bytes(site)) for site in SITES]
    return [[site, bytes_text(passed), watch.share_of(record.data, site, passed) if record.watched
             else run.share_of(record, passed),
             record.site_how(site).replace("_", " "), MEANING[site]]
            for site, passed in found if passed]


def cause_rows(record: Record) -> list[list[str]]:
    """Why bytes were copied, and what helps."""
    return [[each["cause"], each["site"], bytes_text(each["bytes"]), each["remedy"] or ""]
            for each in record.data["causes"] if each["bytes"] is not None]


def cells(row: rows.Row) -> list[str]:
    """The columns of numbers."""
    return ["not measured" if (cell := row.cell(each)) == "-" else cell for each in COLUMNS]


def service_rows(services: list[rows.Row]) -> list[list[str]]:
    """What each service moved, and what that comes to."""
    return [[row.shown, *cells(row), answers.outcome(row.sum)] for row in services if row.bytes]


def process_rows(data: dict[str, Any]) -> dict[str, Any]:
    """The same of processes, with the verdicts that its record has."""
    verdicts_of = {each["process"]: each["verdict"] for each in data["verdicts"]}
    found = [row for row in rows.rows_of(data, "process") if row.bytes]
    return {"processes": [[row.name, *cells(row), verdicts_of[row.name]]
                          for row in found[:MOST_PROCESSES]],
            "more_processes": max(0, len(found) - MOST_PROCESSES)}


def law_rows(record: Record) -> list[list[str]]:
    """Every law with both sides; those of kernel TLS where it moved a byte."""
    tls = tls_moved(record.data)
    return [[each["law"], each["status"], side(each.get("left")), side(each.get("right")),
             side(each["residual"]), each.get("why") or ""] for each in record.data["laws"]
            if tls or each["law"] not in TLS_LAWS]


def with_names_of_its_own(drawing: str, name: str) -> str:
    """A drawing without the head of a file, to stand in a page among others."""
    text = drawing[drawing.index("<svg"):].replace('id="', f'id="{name}-')
    return text.replace('href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")


def maps(record: Record, source: Path) -> list[tuple[str, str]]:
    """Name and drawing of the copy map of a run, or of each process that moved most."""
    asked = watched_of(record.data, source, MOST_MAPS) if record.watched else [record]
    art = drawing("copyscope.pictures.copymap")
    group, = split(asked)
    # Two processes may have one name.
    names = slugs(f"{number} {each.label}" for number, each in enumerate(asked, 1))
    return [(name, with_names_of_its_own(art.picture(group, each.label, [each], name), name))
            for each, name in zip(asked, (f"copymap-{name}" for name in names.values()))
            if not art.unseen([each])]


def where(record: Record) -> dict[str, Any]:
    """Stacks of the programs that moved most, if there are any."""
    if not has_stacks(record):
        return {"stacks": []}
    found = stacks.rows(record.data)
    more = len(found) - MOST_STACKS
    rest = [f"{more:,} more stacks"] if more > 0 else []
    return {"stacks": found[:MOST_STACKS], "stacks_head": stacks.head(record.data),
            "stacks_foot": [*rest, *stacks.foot(record.data)],
            "flame": with_names_of_its_own(flame.flame(record), "flame")}


def words(record: Record, services: list[rows.Row]) -> dict[str, Any]:
    """What the report says in sentences."""
    if not record.watched:
        return {"sentences": [run_sentence.exact(record)], "more_sentences": [],
                "head": run.head(record),
                "refusals": zero_copy.refusals(record), "cpu": [], "cpu_head": "", "sizes": [],
                "missing": run_missing.texts(record)}
    data = record.data
    told = answers.of_services(data, services)
    return {"sentences": [each for said in told[:MOST_SENTENCES] for each in said],
            "more_sentences": [each for said in told[MOST_SENTENCES:] for each in said],
            "head": watch.head(data), "refusals": counts.refused(data),
            "sizes": sizes.lines(data, MOST_SERVICES), "cpu": cpu.processes(data),
            "cpu_head": cpu.head(data),
            "missing": missing.texts(data)}


def page(record: Record, source: Path) -> str:
    """The whole page."""
    found = rows.rows_of(record.data, "service") if record.watched else []
    services = service_rows(found)
    told: dict[str, Any] = {
        "subject": subject(record, services), **words(record, found), "sites": site_rows(record),
        "causes": cause_rows(record), "services": services[:MOST_SERVICES],
        "more_services": services[MOST_SERVICES:], "columns": [*COLUMNS],
        **(process_rows(record.data) if record.watched else {"processes": []}), **where(record),
        # Where nothing moved there is no way to draw.
        "maps": maps(record, source) if services or not record.watched else [],
        "laws": law_rows(record), "foot": run.foot(record)}
    return templates(Path(__file__).parent).get_template("page.html").render(told)
