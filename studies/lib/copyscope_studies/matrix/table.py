# SPDX-License-Identifier: GPL-2.0
"""Writes the table: a page to read and a CSV to compute with, from the same rows."""
from __future__ import annotations

from collections.abc import Sequence

from copyscope.common.tables import TABLES, commit_of
from copyscope.common.text import csv_text

from .rows import Row

TITLE = "# Kernels, paths and what was copied"
COUNTS = {
    "accepted_bytes": "counts.accepted_bytes", "retransmitted_bytes": "",
    "user_gather_bytes": "sites.user_gather.bytes", "tx_copy_bytes": "sites.tx_copy.bytes",
    "rx_copy_bytes": "sites.rx_copy.bytes",
    "referenced_bytes": "sites.tx_reference.bytes", "spliced_bytes": "sites.tx_splice.bytes",
    "late_bytes": "sites.late_copy.bytes",
    "tapped_bytes": "counts.tapped_bytes", "reshaped_bytes": "sites.reshape.bytes",
    "clean_bytes": "counts.clean_bytes", "dropped_bytes": "counts.dropped_referenced_bytes",
    "zerocopy_sends": "experiment.workload.zerocopy_sends",
    "completions": "experiment.workload.completions",
    "copied_completions": "experiment.workload.completions_copied",
}
SHOWN = ("user_gather_bytes", "tx_copy_bytes", "rx_copy_bytes", "referenced_bytes",
         "spliced_bytes", "retransmitted_bytes", "late_bytes", "tapped_bytes", "reshaped_bytes",
         "clean_bytes", "dropped_bytes")
HEAD = ("path", "variant", "user_gather", "tx_copy", "rx_copy", "referenced", "spliced",
        "sent again", "late", "by taps", "reshaped", "clean", "dropped", "completions",
        "said COPIED", "largest residual", "laws")


def number(row: Row, key: str) -> int | None:
    """One of COUNTS; retransmissions are the sum of both kinds."""
    if key != "retransmitted_bytes":
        return row.count(COUNTS[key])
    parts = [row.count(f"counts.retrans_{kind}_bytes") for kind in ("copied", "referenced")]
    return None if None in parts else sum(part or 0 for part in parts)


def shown(value: int | None) -> str:
    """A number as people read it."""
    return "-" if value is None else f"{value:,}"


def line(row: Row) -> list[str]:
    """One line of the page."""
    head = [row.cell.path, row.cell.variant]
    if not row.record:
        return [*head, *["-"] * (len(HEAD) - 3), row.laws]
    return [*head, *(shown(number(row, key)) for key in SHOWN),
            shown(number(row, "completions")), shown(number(row, "copied_completions")),
            shown(row.residual), row.laws]


def kernel_of(row: Row) -> str:
    """Release that the guest said it runs, or the one asked for."""
    return row.record.kernel if row.record else row.kernel


def copied_by(row: Row, cause: str) -> int | None:
    """Bytes that the record says were copied for this cause; None without a record."""
    return sum(each["bytes"] or 0 for each in row.record.data["causes"]
               if each["cause"] == cause) if row.record else None


def changes(rows: Sequence[Row]) -> list[str]:
    """Where some of these kernels copy for a cause and others do not, beside the kernel commit
    that changed the cause; nothing where no such cause differs."""
    kernels, text = list(dict.fromkeys(kernel_of(row) for row in rows if row.record)), []
    for cause in dict.fromkeys(each["name"] for each in TABLES["cause_commits"]):
        by_cell: dict[tuple[str, str], dict[str, int | None]] = {}
        for row in rows:
            by_cell.setdefault((row.cell.path, row.cell.variant), {})[kernel_of(row)] = \
                copied_by(row, cause)
        found = [f"| {' | '.join([*cell, *(shown(bytes_of.get(each)) for each in kernels)])} |"
                 for cell, bytes_of in by_cell.items()
                 if 0 in bytes_of.values() and any(bytes_of.values())]
        if found:
            text += [f"Bytes copied because of: {cause}. Kernel commit {commit_of(cause)}.", "",
                     f"| {' | '.join(['path', 'variant', *kernels])} |",
                     f"|{'|'.join(['---'] * 2 + ['---:'] * len(kernels))}|", *found, ""]
    return ["## What changed between these kernels", "", *text] if text else []


def page(rows: Sequence[Row], command: str, size: int, messages: int, host: str | None) -> str:
    """The table as Markdown, a section for each kernel; `host`: the other end, None in guests."""
    where = f"The receiver ran on {host}, by its own kernel, which its records name" if host else \
        "The kernels ran in emulated guests"
    commits = sorted({row.record.at("tool.commit") for row in rows if row.record})
    text = ["<!-- SPDX-License-Identifier: GPL-2.0 -->", TITLE, "",
            f"Made by `{command}` at commit {', '.join(commits) or 'unknown'}; each run sent "
            f"{messages} messages of {size:,} bytes, {messages * size:,} in all. {where}: every "
            "count is exact, and no time is shown. Bytes are sums over both connections. "
            "`user_gather`, `tx_copy` and `rx_copy` are what plain sends and receives copy, "
            "`spliced` went as pages of a file. `late` includes what was copied for taps, "
            "`reshaped` also bytes that were never referenced; `dropped` are referenced packets "
            "that the path lost. "
            "A dash: not measured.", ""]
    for kernel in dict.fromkeys(row.kernel for row in rows):
        mine = [row for row in rows if row.kernel == kernel]
        ran = next((row for row in mine if row.record), mine[0])
        backend = f", {ran.record.backend} backend" if ran.record else ""
        text += [f"## {kernel_of(ran)}{backend}", "", f"| {' | '.join(HEAD)} |",
                 f"|{'|'.join(['---'] * 2 + ['---:'] * (len(HEAD) - 3) + ['---'])}|"]
        text += [f"| {' | '.join(line(row))} |" for row in mine] + [""]
    return "\n".join([*text, *changes(rows)])


def sheet(rows: Sequence[Row]) -> str:
    """The table as CSV, one row a cell, empty where not measured."""
    return csv_text(
        ["kernel", "path", "variant", "ran", *COUNTS, "largest_residual", "laws"],
        ([kernel_of(row), row.cell.path, row.cell.variant, "yes" if row.record else "no",
          *(number(row, key) for key in COUNTS), row.residual, row.laws] for row in rows))
