# SPDX-License-Identifier: GPL-2.0
"""What each service of a watch did, in a sentence, those that the rows begin with first."""
from __future__ import annotations

from typing import Any

from copyscope.common.text import bytes_text, share_text

from .figures import fate, handed, is_silent, moved, needless, number
from .page import BOLD, View, plural, tinted
from .process_sentence import told
from .rows import Row, figure, grouped, rows_of, told_of
from .verdicts import active, refusals, sums_short

Document = dict[str, Any]
# Of so many processes of a service each has its own sentence.
TOLD_APART = 2
TRIFLE = 1e-3


def outcome(part: Document) -> str:
    """The verdict on a row, in which less than a thousandth decides nothing."""
    sent, meant, avoidable = number(part, "accepted_bytes"), handed(part), needless(part)
    unknown = fate(part, "unknown_bytes") or 0
    if is_silent(part):
        return "moved nothing"
    if sent is None or meant is None or unknown > TRIFLE * meant or avoidable is None:
        return "not known"
    if avoidable > TRIFLE * sent:
        return f"{share_text(avoidable, sent)} of what it sent was copied avoidably"
    if meant > TRIFLE * sent:
        return f"{share_text(meant, sent)} of what it sent went without a copy"
    return "copies all that it sends" if sent else "receives"


def of_service(row: Row, parts: list[Document]) -> str:
    """What several processes did together: their own sentences would be alike."""
    whole, least = row.copied
    head = f"{row.name}, {plural(len(told_of(parts)), 'process')}"
    if row.sent is None and row.received is None:
        return f"{head}: what they moved was not measured."
    amount = bytes_text(least) if whole is None else bytes_text(whole)
    avoidable = "; how much of that was avoidable is not known" if row.needless is None else \
        f", {bytes_text(row.needless)} of that avoidably" if row.needless else ""
    return f"{head}: sent {figure(row.sent)}, received {figure(row.received)}; " \
        f"{'at least ' * (whole is None)}{amount} was copied{avoidable}."


def of_one(data: Document, process: Document, verdict: Document) -> str:
    """What one process did."""
    return f"{verdict['process']}: {told(data, process, verdict)}"


def of_processes(data: Document) -> list[list[str]]:
    """Of each that moved payload, or may have."""
    return [[of_one(data, *each)] for each in active(data)]


def of_services(data: Document, services: list[Row]) -> list[list[str]]:
    """Of each service that moved payload, or may have, in the order of the rows."""
    verdicts = {id(process): verdict for process, verdict
                in zip(data["processes"], data["verdicts"])}
    found, of_row = [], grouped(data, "service")
    for row in services:
        parts = [each for each in of_row[row.name] if not is_silent(each["sum"])]
        apart = sorted(parts, key=lambda each: -moved(each["sum"]))
        if parts:
            found.append([of_service(row, parts)] if len(parts) > TOLD_APART else
                         [of_one(data, each, verdicts[id(each)]) for each in apart])
    return found or of_processes(data)


def sentences(data: Document, view: View) -> list[list[str]]:
    """Of each service, which may have several; of each process where rows are not services."""
    return of_services(data, rows_of(data, "service", view.sort)) if view.by == "service" \
        else of_processes(data)


def lines(data: Document, view: View) -> list[str]:
    """The sentences, and what the kernel refused."""
    said = sums_short(data["losses"].get("sums_short"))
    found = sentences(data, view)
    for each in [line for one in found[:view.top] for line in one]:
        said += tinted(BOLD, "", each, 2)
    if len(found) > view.top:
        kind = "service" if view.by == "service" else "process"
        said.append(f"{plural(len(found) - view.top, f'more {kind}')} moved payload, or may have: "
                    f"--top {len(found)} shows them.")
    said += refusals(data)
    if not found:
        said.append("No process of the subject used a TCP or UDP socket.")
    return said
