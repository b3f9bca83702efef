# SPDX-License-Identifier: GPL-2.0
"""Writes what the runs of every way to send and to receive say: sheet, page and figure."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from copyscope.common.needs import drawing
from copyscope.common.tables import SITES
from copyscope.common.text import csv_text
from copyscope_studies.ways import PLAIN, RECV

from . import answer
from .rows import Row
from .table import kernel_of, number

PAGE, TITLE = "ways.md", "# Every way to send and to receive"
HEAD = ("kernel", "backend", "path", "variant", "receiver", "ran", "message_bytes", "messages",
        "accepted_bytes", *(f"{site}_bytes" for site in SITES), "retransmitted_bytes",
        "pinned_pages", "largest_residual", "laws")


@dataclass(frozen=True)
class Made:
    """How the runs were made."""

    command: str
    size: int
    messages: int


def sheet(rows: Sequence[Row]) -> str:
    """One row a run, empty where not measured."""
    def cells(row: Row) -> list[object]:
        record = row.record
        return [kernel_of(row), record.backend if record else None, row.cell.path,
                row.cell.variant, row.cell.receiver, "yes" if record else "no",
                record.bytes if record else None, record.messages if record else None,
                row.count("counts.accepted_bytes"),
                *(record.site_bytes(site) if record else None for site in SITES),
                number(row, "retransmitted_bytes"), record.pinned_pages if record else None,
                row.residual, row.laws]

    return csv_text(HEAD, map(cells, rows))


def told(found: answer.Found, kernel: str) -> list[str]:
    """The table of the chief kernel, and what another one has that is not there."""
    chief = answer.chief(found)
    if kernel == chief:
        return [answer.table(found, kernel).rstrip("\n")]
    return [f"As {answer.release(chief)}, whose number is in parentheses, but for these. What was "
            "sent again, what full queues had reshaped (`reshape` in the sheet) and how much `map` "
            "could map change from run to run.", "",
            *(answer.differences(found, kernel) or ["- nothing"])]


def page(rows: Sequence[Row], found: answer.Found, made: Made) -> str:
    """The answer on each kernel, and what is absent there and why."""
    commits = sorted({row.record.at("tool.commit") for row in rows if row.record})
    text = ["<!-- SPDX-License-Identifier: GPL-2.0 -->", TITLE, "",
            f"Made by `{made.command}` at commit {', '.join(commits) or 'unknown'}; each run sent "
            f"{made.messages} messages of {made.size:,} bytes over 2 connections. The kernels ran "
            "in emulated guests: every count is exact, and no time is shown. Numbers below a path "
            "are copies by a processor of each payload byte, at both ends and between them; what "
            "was sent again counts, too. That kernel TLS reads and writes each byte once more at "
            "either end, to encrypt and decrypt it, is no copy. "
            f"A sender is read by `{RECV}`, and a receiver gets "
            f"what `{PLAIN}` sends, unless the row says otherwise. Pages are pinned, and "
            "system calls made, for a message; system calls are of the row's own end, native, by "
            "`tools/facts --only calls`. Where a way pays turns say, by processor time of both "
            "ends, one connection ([turns](turns/turns.md) has four, too, and each number): "
            "`sendfile` and `splice` beside reading and sending, `A2` beside `A1`, others beside "
            f"`{PLAIN}`. "
            f"Of a row that took no turns it is where it is faster than `{PLAIN}` to `{RECV}`, by "
            "`tools/crossover --ways`; four connections are in "
            "[crossovers](crossovers/crossovers.md). "
            f"Every run has its sites in [{answer.SHEET}]({answer.SHEET}).", ""]
    for kernel in found.kernels:
        mine = [row for row in rows if kernel_of(row) == kernel]
        ran = [row for row in mine if row.record]
        balanced = sum(row.fine for row in ran)
        absent = answer.absent(found, kernel)
        text += [f"## {kernel}", "", *told(found, kernel), "",
                 f"{len(ran)} of {len(mine)} runs were made; in {balanced} of them every law that "
                 "can be tested balances.", "", *absent, *[""] * bool(absent)]
    return "\n".join(text).rstrip("\n") + "\n"


def files(rows: Sequence[Row], made: Made, folder: Path | None) -> dict[str, str]:
    """The files by name, the page first."""
    text = sheet(rows)
    return {PAGE: page(rows, answer.load(folder, text), made), answer.SHEET: text}


def load_drawing() -> None:
    """Refuse to begin without matplotlib: what was counted could not be drawn."""
    drawing(f"{__package__}.draw")


def draw(folder: Path) -> None:
    """Write the figure of a folder's newest kernel of which most ways are known."""
    from .draw import write  # pylint: disable=import-outside-toplevel

    write(answer.load(folder), folder)
