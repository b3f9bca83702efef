# SPDX-License-Identifier: GPL-2.0
"""Writes the report of a record as one page of HTML, which fetches nothing and escapes all text."""
from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from copyscope.common.errors import CommandError
from copyscope.common.tables import SITES
from copyscope.common.templates import templates
from copyscope.common.text import bytes_text
from copyscope.common.tree import ROOT
from copyscope.records.reply import reply_alone
from copyscope.records.run_record import Record
from copyscope.records.stacks import has as has_stacks
from copyscope.records.watch_record import as_run, watched_of
from copyscope.report import (
    answers,
    counts,
    cpu,
    missing,
    rows,
    run,
    run_missing,
    run_sentence,
    stacks,
    watch,
    zero_copy,
)
from copyscope.report.figures import added
from copyscope.report.page import View
from copyscope.report.tables import MEANING, TLS_LAWS, side, tls_moved

# Of processes, those that moved most.
MOST_MAPS = 4
MOST_STACKS = 10
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


def service_rows(data: dict[str, Any]) -> list[list[str]]:
    """What each service moved, those that copied most first, and what that comes to."""
    parts = rows.grouped(data, "service")
    return [[row.shown, *cells(row), answers.outcome(added([each["sum"] for each in
                                                            parts[row.name]]))]
            for row in rows.rows_of(data, "service") if row.bytes]


def process_rows(data: dict[str, Any]) -> list[list[str]]:
    """The same of each process, with the verdict that its record has."""
    verdicts_of = {each["process"]: each["verdict"] for each in data["verdicts"]}
    return [[row.name, *cells(row), verdicts_of[row.name]]
            for row in rows.rows_of(data, "process") if row.bytes]


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


def drawn(record: Record, source: Path, folder: str) -> Path:
    """A record of the processes that are drawn: to read one of 10,000 again takes seconds."""
    data = record.data
    if not record.watched or len(data["processes"]) <= MOST_MAPS:
        return source.resolve()
    names = {each.data["label"] for each in watched_of(data, source)[:MOST_MAPS]}
    verdicts = [each for each in data["verdicts"] if each["process"] in names]
    processes = [process for process, verdict in zip(data["processes"], data["verdicts"])
                 if verdict["process"] in names]
    pids = {each["pid"] for each in processes}
    few = {**data, "processes": processes, "verdicts": verdicts,
           "sockets": [each for each in data["sockets"] if each["pid"] in pids]}
    for key in ("label", *as_run(data)):
        few.pop(key, None)
    file = Path(folder) / "record.json"
    file.write_text(json.dumps(few), encoding="utf-8")
    return file


def maps(record: Record, source: Path) -> list[tuple[str, str]]:
    """Name and drawing of each copy map that tools/plot draws of the record."""
    with tempfile.TemporaryDirectory() as folder:
        of = drawn(record, source, folder)
        done = subprocess.run([ROOT / "tools" / "plot", of, "--out", folder],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise CommandError(done.stderr.strip().removeprefix("plot: "))
        files = sorted(Path(folder).glob("copymap-*.svg"))[:MOST_MAPS]
        return [(file.stem, with_names_of_its_own(file.read_text(encoding="utf-8"), file.stem))
                for file in files]


def where(record: Record) -> dict[str, Any]:
    """Stacks of the programs that moved most, if there are any."""
    if not has_stacks(record):
        return {"stacks": []}
    found = stacks.rows(record.data)
    more = len(found) - MOST_STACKS
    rest = [f"{more:,} more stacks"] if more > 0 else []
    return {"stacks": found[:MOST_STACKS], "stacks_head": stacks.head(record.data),
            "stacks_foot": [*rest, *stacks.foot(record.data)]}


def words(record: Record) -> dict[str, Any]:
    """What the report says in sentences."""
    if not record.watched:
        return {"sentences": [run_sentence.exact(record)], "more_sentences": [],
                "head": run.head(record),
                "refusals": zero_copy.refusals(record), "cpu": [], "cpu_head": "",
                "missing": run_missing.texts(record)}
    data = record.data
    told = answers.sentences(data, View())
    return {"sentences": [each for said in told[:MOST_SENTENCES] for each in said],
            "more_sentences": [each for said in told[MOST_SENTENCES:] for each in said],
            "head": watch.head(data), "refusals": counts.refused(data),
            "cpu": cpu.processes(data), "cpu_head": cpu.head(data),
            "missing": missing.texts(data)}


def page(record: Record, source: Path) -> str:
    """The whole page."""
    services = service_rows(record.data) if record.watched else []
    told: dict[str, Any] = {
        "subject": subject(record, services), **words(record), "sites": site_rows(record),
        "causes": cause_rows(record), "services": services[:MOST_SERVICES],
        "more_services": services[MOST_SERVICES:], "columns": [*COLUMNS],
        "processes": process_rows(record.data) if record.watched else [], **where(record),
        # Where nothing moved there is no way to draw.
        "maps": maps(record, source) if services or not record.watched else [],
        "laws": law_rows(record), "foot": run.foot(record)}
    return templates(Path(__file__).parent).get_template("page.html").render(told)
