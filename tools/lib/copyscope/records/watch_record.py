# SPDX-License-Identifier: GPL-2.0
"""Reads records of watch: each process of one answers what figures ask of a run."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from .documents import MOST_NUMBER, BadRecord, check
from .older import SCHEMA
from .run_record import Record

AGAIN = "watch again"
# What figures name the place by, as a run's path.
PLACE = "this machine"


def payload_of(counts: dict[str, Any]) -> int | None:
    """Bytes that these counts say were sent and received; None if either is not known."""
    parts = [counts["accepted_bytes"], counts["returned_bytes"]]
    return None if None in parts else sum(parts)


class Watched(Record):
    """One process of a watch, or all that moved nothing by themselves, as a run of figures."""

    watched = True

    @property
    def label(self) -> str:
        """Who it is: name and pid."""
        return self.data["label"]

    @property
    def variant(self) -> str:
        """Its name again: it is no variant."""
        return self.label

    @property
    def payload_bytes(self) -> int | None:
        """Bytes that it sent and received: each passed one call of it."""
        return payload_of(self.data["counts"])

    @property
    def incomplete(self) -> str:
        """A window may end at any moment: what it holds is whole."""
        return ""

    @property
    def call_sizes(self) -> list[dict[str, Any]]:
        """Histograms of its calls, by way; none if the watch did not ask for them."""
        return self.data.get("call_sizes", [])

    @property
    def holds(self) -> dict[str, Any] | None:
        """How long pages of its zero-copy sends were held, if any were and the watch asked."""
        return self.data.get("holds")

    def sockets(self, end: str) -> list[dict[str, Any]]:
        """Every socket sends and receives: they are told of once, as those that send."""
        return self.data["sockets"] if end == "sender" else []


def with_why(site: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    """A site of one process, with how the site of all is known or why it is not."""
    return {**site, "why": whole["why"] or ("not read for this process" if site["bytes"] is None
                                            else None)}


def as_run(data: dict[str, Any]) -> dict[str, Any]:
    """What a watch has in place of a run's path and workload."""
    return {"experiment": {
        "path": {"kind": PLACE, "tx_dev": PLACE, "rx_dev": PLACE, "hardware_dma": False},
        "workload": {"pattern": "as it comes", "receiver": data["books"]}}}


def whole_of(data: dict[str, Any], source: Path) -> Watched:
    """All that a checked record watched, together."""
    names = [verdict["process"] for verdict in data["verdicts"]]
    label = names[0] if len(names) == 1 else f"{len(names)} processes"
    return Watched({**data, **as_run(data), "label": label},
                   source)


def watched_of(data: dict[str, Any], source: Path, most: int | None = None) -> list[Watched]:
    """The processes of a checked record that moved payload, at most so many of them, those that
    moved most first. Early records of 0.2 have causes of all together: they are of the process if
    it is the only one."""
    found = []
    together = data["causes"] if len(data["processes"]) == 1 else []
    moved = [(payload, process, verdict) for process, verdict in
             zip(data["processes"], data["verdicts"])
             if (payload := payload_of(process["sum"]["counts"]))]
    moved.sort(key=lambda each: -each[0])
    # Once for all: there may be 10,000 of both.
    sockets: dict[Any, list[Any]] = {process["pid"]: [] for _, process, _ in moved[:most]}
    for each in data["sockets"]:
        if each["pid"] in sockets:
            sockets[each["pid"]].append(each)
    for _, process, verdict in moved[:most]:
        books = process["sum"]
        found.append(Watched({
            **data, **as_run(data), "label": verdict["process"], "counts": books["counts"],
            "sockets": sockets[process["pid"]], "call_sizes": process.get("sizes", []),
            "holds": process.get("holds"),
            "sites": {site: with_why(each, data["sites"][site])
                      for site, each in books["sites"].items()},
            "causes": process.get("causes", together)}, source))
    return found


def check_watch(data: Any, source: Path) -> None:
    """Raise BadRecord unless it is a record of watch."""
    check(data, "record", source, AGAIN)
    if "stacks" in data:
        check_stacks(data["stacks"], source)


def check_stacks(found: dict[str, Any], source: Path) -> None:
    """Raise BadRecord unless each number of a frame or a module leads to one: no schema can say
    how long another list is."""
    modules, frames = len(found["modules"]), len(found["frames"])
    for number, frame in enumerate(found["frames"]):
        at = f"stacks.frames[{number}]"
        if frame["module"] is not None and frame["module"] >= modules:
            raise BadRecord(source, f"{at}.module", f"there are {modules} modules", AGAIN)
        # Far fewer digits than Python refuses to read.
        if len(frame["offset"]) > 20 or int(frame["offset"]) >= MOST_NUMBER:
            raise BadRecord(source, f"{at}.offset", "it is no address of 64 bits", AGAIN)
    for number, stack in enumerate(found["stacks"]):
        if any(place >= frames for place in stack["frames"]):
            raise BadRecord(source, f"stacks.stacks[{number}].frames", f"there are {frames} frames",
                            AGAIN)


def is_watch(data: Any) -> bool:
    """True if it says that it is a record, and is of no experiment."""
    return isinstance(data, dict) and data.get("schema") == SCHEMA and "experiment" not in data
