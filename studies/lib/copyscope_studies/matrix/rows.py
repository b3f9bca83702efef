# SPDX-License-Identifier: GPL-2.0
"""Reads the runs of the table: one row a cell, with what became of each byte, or why none ran."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from copyscope.records.documents import BadRecord
from copyscope.records.load import load_record
from copyscope.records.run_record import Record
from copyscope.runs.launch import last_line

from .cells import Cell
from .runs import LEFT, Outcome

# All well, a law broke, the probes missed events.
WITH_RECORD = (0, 1, 4)
# Compares two passes: guests count and time nothing, so they make one.
PASSES = "passes"


@dataclass(frozen=True)
class Row:
    """One cell: its record, or why there is none."""

    kernel: str
    cell: Cell
    record: Record | None
    why: str = ""

    def count(self, key: str) -> int | None:
        """A number of the record at a dotted key; None if it was not measured."""
        value = self.record.at(key) if self.record else None
        return value if isinstance(value, int) else None

    @property
    def residual(self) -> int | None:
        """The largest residual of its laws, with its sign."""
        if not self.record:
            return None
        found = [law["residual"] for law in self.record.data["laws"]
                 if law["residual"] is not None]
        return max(found, key=abs, default=None)

    @property
    def untestable(self) -> list[str]:
        """Laws that could not be tested."""
        return [law["law"] for law in self.record.data["laws"]
                if law["status"] == "not testable" and law["law"] != PASSES] if self.record else []

    @property
    def fine(self) -> bool:
        """Every testable law balances."""
        return bool(self.record) and not self.record.broken_laws()  # type: ignore[union-attr]

    @property
    def laws(self) -> str:
        """The state of its laws in words."""
        if not self.record:
            return f"did not run: {self.why}"
        broken = self.record.broken_laws()
        if broken:
            return f"broken: {', '.join(broken)}"
        if self.untestable:
            return f"balanced; not testable: {', '.join(self.untestable)}"
        return f"all {len(self.record.data['laws'])} balanced"


def row(outcome: Outcome, cell: Cell) -> Row:
    """Read one cell."""
    record, said, status = (outcome.folder / f"{cell.name}.{kind}" for kind in LEFT)
    if not status.exists():
        return Row(outcome.kernel, cell, None, outcome.why or "the guest ended before this run")
    if not record.exists() or int(status.read_text()) not in WITH_RECORD:
        return Row(outcome.kernel, cell, None, last_line(said.read_text(errors="replace")))
    try:
        found = load_record(record)
    except BadRecord as error:
        return Row(outcome.kernel, cell, None, str(error))
    if found.incomplete:
        return Row(outcome.kernel, cell, None, f"not complete, {found.incomplete}")
    return Row(outcome.kernel, cell, found)


def is_there(folder: Path, cell: Cell, size: int, messages: int) -> bool:
    """Whether a folder has a whole record of this run, with all laws balanced."""
    found = row(Outcome(folder.name, folder), cell)
    return bool(found.record) and found.fine and \
        found.record.workload("messages_asked") == messages and \
        found.record.workload("bytes") == size      # type: ignore[union-attr]


def rows(outcomes: Sequence[Outcome], cells: Sequence[Cell]) -> list[Row]:
    """Read every cell, kernel by kernel. One without a record is of the release that the others of
    its guest ran."""
    found: list[Row] = []
    for outcome in outcomes:
        mine = [row(outcome, cell) for cell in cells]
        kernel = next((each.record.kernel for each in mine if each.record), outcome.kernel)
        found += [replace(each, kernel=kernel) for each in mine]
    return found
