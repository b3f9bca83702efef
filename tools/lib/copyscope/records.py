# SPDX-License-Identifier: GPL-2.0
"""Loads run records and answers questions about them: None is always "not measured", never 0."""
from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable

from copyscope import documents
from copyscope.documents import BadRecord, check_form, described, parse_json, read_json
from copyscope.tables import SITES

SCHEMA = "copyscope.run/1"
# Of one plan: more take weeks.
MOST_RUNS = 100_000
AGAIN = "run trace_run again"
EVENTS = ("cycles", "instructions", "L1-dcache-load-misses", "LLC-load-misses",
          "context-switches", "page-faults", "task-clock")
ENDS = ("sender", "receiver")

# What every reader relies on: a dotted key, and the types it may have.
NUMBER = (int, float)
MAYBE = type(None)
NEEDED: dict[str, tuple[type, ...]] = {
    "id": (str,), "started": (str,), "command": (list,), "tool.commit": (str,),
    "machine.kernel": (str,), "machine.cpu_model": (str,), "machine.cpus": (int,),
    "machine.memory_bytes": (int,), "machine.arch": (str,), "machine.virt": (str,),
    "machine.emulated": (bool,), "path.kind": (str,),
    "workload.variant": (str,), "workload.bytes": (int,), "workload.threads": (int,),
    "workload.connections": (int, MAYBE), "workload.messages": (int, MAYBE),
    "workload.pattern": (str,), "workload.receiver": (str,),
    "workload.accepted_bytes": (int, MAYBE), "workload.received_bytes": (int, MAYBE),
    "backend.name": (str,), "causes": (list,), "pins.pages": (int, MAYBE), "laws": (list,),
    "timing.throughput_gbps": (*NUMBER, MAYBE), "timing.latency_us": (dict, MAYBE),
    "timing.elapsed_ns": (int, MAYBE), "timing.window_ns": (int,), "counts": (dict,),
    "overhead.share": (*NUMBER, MAYBE), "sockets": (list,),
    **{f"sites.{site}.bytes": (int, MAYBE) for site in SITES},
    **{f"sites.{site}.how": (str,) for site in SITES},
    **{f"counters.{end}.{event}.value": (*NUMBER, MAYBE) for end in ENDS for event in EVENTS},
}
# What may be left out, in records that are older than the key.
OPTIONAL: dict[str, tuple[type, ...]] = {
    "outcome": (dict,),
    "workload.readers": (int,), "workload.completions": (int, MAYBE),
    "workload.seconds": (*NUMBER, MAYBE), "counts.send_calls": (int,), "counts.recv_calls": (int,),
    "pins.how": (str,), "pins.why": (str, MAYBE), "timing.why": (str,),
    **{f"sites.{site}.why": (str, MAYBE) for site in SITES},
}
# What every reader relies on where there is a latency.
LATENCY: dict[str, tuple[type, ...]] = {
    "timing.latency_us.what": (str,),
    **{f"timing.latency_us.{each}": NUMBER for each in ("mean", "p50", "p99")},
}
# What every reader relies on where there is an outcome.
OUTCOME: dict[str, tuple[type, ...]] = {
    "outcome.status": (str,), "outcome.reason": (str, MAYBE),
}
# What every reader relies on in each element of a list.
IN_LISTS: dict[str, dict[str, tuple[type, ...]]] = {
    "laws": {"law": (str,), "status": (str,), "residual": (int, MAYBE)},
    "causes": {"cause": (str,), "site": (str,), "bytes": (int, MAYBE), "remedy": (str, MAYBE)},
    "sockets": {"end": (str, MAYBE), "connection": (int, MAYBE), "messages": (int, MAYBE),
                "latency_mean_us": (*NUMBER, MAYBE), "counts.returned_bytes": (int,),
                "sites.reshape.bytes": (int, MAYBE)},
}


@dataclass(frozen=True)
class Point:
    """What a sweep meant by a run: names and numbers as its profile has them."""

    name: str        # "A3_4096B_8T", unique in the sweep
    label: str       # the report's name of the implementation
    size: int        # the report's size column, even where other sizes were sent
    threads: int     # the report's thread column, even where it opened one connection
    repeat: int      # from 1
    profile: str
    mode: str        # as-published or corrected
    first_client: bool = False  # figures of the first connection alone


class Record:
    """One run record; `data` is the JSON document itself."""

    def __init__(self, data: dict[str, Any], source: Path, point: Point | None = None) -> None:
        self.data = data
        self.source = source
        self.point = point

    def __repr__(self) -> str:
        return f"Record({self.source})"

    def at(self, key: str) -> Any:
        """Return what lies at a dotted key, such as workload.bytes; None if nothing does."""
        value: Any = self.data
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        return value

    # What was run
    @property
    def id(self) -> str:
        """Name of the run."""
        return self.data["id"]

    @property
    def variant(self) -> str:
        """How it was sent: A1 ... A3-reuse."""
        return self.data["workload"]["variant"]

    @property
    def bytes(self) -> int:
        """Bytes of one message as they were sent."""
        return self.data["workload"]["bytes"]

    @property
    def threads(self) -> int:
        """Connections asked for."""
        return self.data["workload"]["threads"]

    @property
    def connections(self) -> int | None:
        """Connections that were open."""
        return self.data["workload"]["connections"]

    @property
    def readers(self) -> int:
        """Threads that read one socket together; 1 in records older than the key."""
        return self.data["workload"].get("readers") or 1

    @property
    def messages(self) -> int | None:
        """Whole messages that arrived."""
        return self.data["workload"]["messages"]

    @property
    def path(self) -> str:
        """What lay between the sockets: lo, veth, ..."""
        return self.data["path"]["kind"]

    @property
    def kernel(self) -> str:
        """Release of the kernel."""
        return self.data["machine"]["kernel"]

    @property
    def backend(self) -> str:
        """How the kernel was observed: trampoline, tracepoint or none."""
        return self.data["backend"]["name"]

    # What a sweep meant by it; for a lone run, what was run
    @property
    def label(self) -> str:
        """The report's name of the implementation."""
        return self.point.label if self.point else self.variant

    @property
    def size(self) -> int:
        """The report's message size."""
        return self.point.size if self.point else self.bytes

    @property
    def setting(self) -> int:
        """The report's number of threads."""
        return self.point.threads if self.point else self.threads

    # What was counted
    @property
    def payload_bytes(self) -> int | None:
        """Bytes that the receiving process got from recv: what "per payload byte" divides by."""
        return self.data["workload"]["received_bytes"]

    def site_bytes(self, site: str) -> int | None:
        """Bytes that passed a site."""
        return self.data["sites"][site]["bytes"]

    def site_how(self, site: str) -> str:
        """How the bytes of a site are known: measured, derived or not_measured."""
        return self.data["sites"][site]["how"]

    def site_why(self, site: str) -> str | None:
        """Why a site is not measured, or how it is derived."""
        return self.data["sites"][site].get("why")

    def site_per_byte(self, site: str) -> float | None:
        """Bytes that passed a site, per payload byte."""
        passed = self.site_bytes(site)
        return None if passed is None or not self.payload_bytes else passed / self.payload_bytes

    def law_status(self, law: str) -> str | None:
        """Return balanced, broken or not testable; None if the record has no such law."""
        return next((each["status"] for each in self.data["laws"] if each["law"] == law), None)

    def broken_laws(self) -> list[str]:
        """Names of the laws that do not balance."""
        return [each["law"] for each in self.data["laws"] if each["status"] == "broken"]

    @property
    def incomplete(self) -> str:
        """Why its numbers prove nothing, "" if the run was complete. Older records tell no outcome,
        but an end of theirs that was killed left no totals."""
        outcome = self.data.get("outcome")
        if not outcome:
            work = self.data["workload"]
            lost = [end for end, key in zip(ENDS, ("accepted_bytes", "received_bytes"))
                    if work[key] is None]
            return f"failed: the {lost[0]} left no totals" if lost else ""
        if outcome["status"] == "complete":
            return ""
        return f"{outcome['status']}: {outcome['reason'] or 'no reason is told'}"

    def counter(self, end: str, event: str) -> float | None:
        """Value of a processor or kernel event at one end, sender or receiver."""
        return self.data["counters"][end][event]["value"]

    def counter_why(self, end: str, event: str) -> str | None:
        """Why an event was not measured."""
        return self.data["counters"][end][event].get("why")

    @property
    def throughput_gbps(self) -> float | None:
        """Gigabits of payload a second that the receiver got; of one client if so meant."""
        if not (self.point and self.point.first_client):
            return self.data["timing"]["throughput_gbps"]
        first, elapsed_s = self.first_socket(), self.elapsed_s
        return first["counts"]["returned_bytes"] * 8e-9 / elapsed_s if first and elapsed_s else None

    @property
    def elapsed_s(self) -> float | None:
        """Seconds that the receiver received for."""
        elapsed_ns = self.data["timing"]["elapsed_ns"]
        return None if elapsed_ns is None else elapsed_ns / 1e9

    def latency_us(self, which: str = "mean") -> float | None:
        """Latency in microseconds: mean, p50 or p99; of one client if so meant (mean only)."""
        if self.point and self.point.first_client:
            first = self.first_socket() if which == "mean" else None
            return first["latency_mean_us"] if first else None
        latency = self.data["timing"]["latency_us"]
        return None if latency is None else latency[which]

    @property
    def latency_what(self) -> str | None:
        """What the latency is of: a round trip, or the interval between whole messages."""
        latency = self.data["timing"]["latency_us"]
        return None if latency is None else latency["what"]

    def calls(self, which: str) -> int | None:
        """Calls that hooks saw, send or recv; None if there were no hooks: 0 would be a lie."""
        return None if self.backend == "none" else self.at(f"counts.{which}_calls")

    @property
    def pinned_pages(self) -> int | None:
        """Page references taken for zero copy."""
        return self.data["pins"]["pages"]

    def sockets(self, end: str) -> list[dict[str, Any]]:
        """Return the books of each socket at one end, in the order they connected."""
        mine = [each for each in self.data["sockets"] if each.get("end") == end]
        return sorted(mine, key=lambda each: each.get("connection") or 0)

    def first_socket(self) -> dict[str, Any] | None:
        """Return the books of the receiving socket that connected first."""
        return next((each for each in self.sockets("receiver") if each.get("connection") == 1),
                    None)


def check(data: Any, source: object) -> None:
    """Raise BadRecord unless `data` is a run record with the keys that readers rely on."""
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else None
        raise BadRecord(source, "schema", f"it is {described(found)}, not \"{SCHEMA}\"",
                        "give run records only, as trace_run --json writes them")
    check_keys(data, NEEDED, source)
    check_keys(data, OPTIONAL, source, needed=False)
    if data["timing"]["latency_us"] is not None:
        check_keys(data, LATENCY, source)
    if "outcome" in data:
        check_keys(data, OUTCOME, source)
    for name, keys in IN_LISTS.items():
        for number, each in enumerate(data[name]):
            check_keys(each, keys, source, f"{name}[{number}].")
    check_form(data, "run", source, AGAIN)


def check_keys(data: Any, keys: dict[str, tuple[type, ...]], source: object, at: str = "",
               needed: bool = True) -> None:
    """Raise BadRecord unless each dotted key is there, if needed, with one of its types."""
    for key, types in keys.items():
        value, there = data, True
        for part in key.split("."):
            there = isinstance(value, dict) and part in value
            if not there:
                break
            value = value[part]
        if not there and needed:
            raise BadRecord(source, at + key, "it is missing", AGAIN)
        truth = isinstance(value, bool) and bool not in types
        if there and (truth or not isinstance(value, types)):
            raise BadRecord(source, at + key, f"{described(value)} is not of its type", AGAIN)


def record_of(text: str, source: Path) -> Record:
    """The record that a run printed; `source` names it where something is wrong with it."""
    data = parse_json(text, source)
    check(data, source)
    return Record(data, source)


def load_record(source: Path, point: Point | None = None) -> Record:
    """Load one record."""
    data = read_json(source)
    check(data, source)
    return Record(data, source, point)


def load_plan(folder: Path) -> dict[str, Any]:
    """Load the plan of a sweep's folder."""
    source, remedy = folder / "plan.json", "run the sweep again into another folder"
    plan = documents.load(source, "plan", remedy)
    documents.by_name(plan["points"], "name", source, "points")
    if len(plan["points"]) * plan["repeats"] > MOST_RUNS:
        raise BadRecord(source, "repeats", f"{len(plan['points'])} points of {plan['repeats']} "
                        f"repeats are more than {MOST_RUNS} runs", remedy)
    return plan


def point_of(plan: dict[str, Any], points: dict[str, dict[str, Any]], run: str) -> Point | None:
    """The point that a run is of, by the name of its file; None if the plan has no such run."""
    parts = re.fullmatch(r"(.+)\.r([1-9][0-9]{0,5})", run)
    planned = points.get(parts[1]) if parts else None
    if not parts or not planned or int(parts[2]) > plan["repeats"]:
        return None
    return Point(parts[1], planned["label"], planned["size"], planned["threads"], int(parts[2]),
                 plan["profile"], plan["mode"], plan["settings"]["figures_of"] == "first")


def check_complete(record: Record) -> None:
    """Refuse a run that failed, was interrupted or was not seen whole."""
    if record.incomplete:
        raise BadRecord(record.source, "outcome", f"the run is not complete: {record.incomplete}",
                        "make that run again")


def complete(records: list[Record], leave_out: Callable[[str], None]) -> list[Record]:
    """Those of a folder's runs that are complete; the others are counted in one line."""
    others = [each for each in records if each.incomplete]
    if others:
        leave_out(f"{len(others)} of {len(records)} runs are left out, for they are not complete, as "
                  f"{others[0].source}: {others[0].incomplete}")
    return [each for each in records if not each.incomplete]


def load_sweep(folder: Path) -> list[Record]:
    """Load the runs of a sweep's folder, each with the point that its plan says it is of."""
    plan = load_plan(folder)
    points = {each["name"]: each for each in plan["points"]}
    return [load_record(run, point_of(plan, points, run.stem))
            for run in sorted((folder / "runs").glob("*.json"))]


def listed(folder: Path) -> list[Path]:
    """The JSON files of a folder, by name; a folder that cannot be read is refused."""
    try:
        return sorted(Path(entry.path) for entry in os.scandir(folder)
                      if entry.name.endswith(".json"))
    except OSError as error:
        raise BadRecord(folder, "folder", error.strerror, "check its permissions") from None


def load_records(sources: Iterable[str | Path], leave_out: Callable[[str], None]) -> list[Record]:
    """Load records from files, folders of records and folders of sweeps. A run that is not complete
    is refused if it was named, and left out if its folder was; `leave_out` is told how many."""
    records: list[Record] = []
    for source in map(Path, sources):
        if source.is_dir():
            found = listed(source)
            if source / "plan.json" in found:
                records += complete(load_sweep(source), leave_out)
                continue
            if not found:
                raise BadRecord(source, "*.json", "no record in this folder", "name another")
            records += complete([load_record(each) for each in found], leave_out)
        else:
            records.append(load_record(source))
            check_complete(records[-1])
    return records
