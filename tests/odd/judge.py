# SPDX-License-Identifier: GPL-2.0
"""Holds the record of a watch against the truth of the odd program that it watched."""
from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from copyscope.report.process_sentence import all_told
from helpers import printed, schemas
from helpers.watch_tool import SCHEMA, broken
from odd.suite import TOGETHER
from odd.truth import SITES
from odd.words import numbers, unbacked_sentences

# Words of a report that may tell too little, and says so.
SHORT = re.compile(r"\bshort\b|may be (more|missing)|not all")
COPIED = re.compile(r"all (of it was )?copied|copied all of")
NOT_COPIED = re.compile(r"all of it was handed over as pages|not copied(?! by send)|without a copy")


class Outcome:
    """What a program and its watch left."""

    def __init__(self, folder: Path, name: str, way: str, together: bool = False) -> None:
        self.truth = json.loads(text(folder / f"{name}.{way}.truth") or "{}")
        self.together = together
        watch = f"{TOGETHER if together else name}.{way}"
        self.json, self.told, self.status = (
            text(folder / f"{watch}.{kind}") for kind in ("json", "told", "status"))

    def skip(self) -> str | None:
        """Why this kernel cannot run the program."""
        return self.truth.get("skip")

    def faults(self) -> list[str]:
        """Everything that is not so."""
        if not self.truth:
            return [f"the program failed: {self.told[-2000:]}"]
        try:
            record = record_in(self.json)
        except ValueError:
            return [f"no record, status {self.status}: {self.told[-500:]}"]
        report = "" if self.together else printed.shown(record)
        first = shown_first(self.json)
        if self.together:
            record = part(record, set(self.truth["pids"]))
        found = [*laws_and_form(record, "0" if self.together else self.status),
                 *unbacked_sentences(record)]
        if is_short(record):
            # Sums may be less than the truth, if the first sentence says so.
            return found + ([] if SHORT.search(first) else [f"sums may be short, unsaid: {first}"])
        return found + [*sites_and_sums(record, self.truth), *([] if self.together else unmeasured(record, self.truth)),
                        *completions(record, self.truth),
                        *layers(record, self.truth), *refused(record, self.truth), *failed(record, self.truth), *by_mptcp(record, self.truth),
                        *wording(record, self.truth, report)]


def text(file: Path) -> str:
    """A file, empty if it is not there."""
    return file.read_text() if file.exists() else ""


@functools.cache
def record_in(data: str) -> dict:
    """A record, by its schema."""
    record = json.loads(data)
    record["faults"] = schemas.faults(SCHEMA, record)
    return record


@functools.cache
def shown_first(data: str) -> str:
    """The first paragraph of its report: of all programs, if these were watched together."""
    return printed.shown(record_in(data)).split("\n\n")[0]


def added(values: list) -> Any:
    """The sum of numbers, none if one is not known, or of what holds such by a name that all have."""
    if values and isinstance(values[0], dict):
        return {key: added([each[key] for each in values]) for key in values[0] if all(key in each for each in values)}
    if values and isinstance(values[0], str):
        return values[0]
    if values and isinstance(values[0], list):
        return [each for value in values for each in value]
    return None if None in values else sum(values)


def part(record: dict, pids: set[int]) -> dict:
    """What a record of many programs says of the processes of one: its laws are those of its sockets. What they took
    from a listener is theirs, also where nothing showed whose: a socket that was only spliced from, and that a ring
    still held when its process had gone."""
    def is_own(each: dict) -> bool:
        return bool({each["pid"], each.get("listener_pid")} & pids)
    rows = [pair for pair in zip(record["processes"], record["verdicts"]) if is_own(pair[0])]
    own = {"processes": [process for process, _ in rows], "verdicts": [verdict for _, verdict in rows],
           "sockets": [each for each in record["sockets"] if is_own(each)]}
    # One that began no process that the watch saw moved nothing there.
    sums = [each["sum"] for each in own["processes"]]
    empty = {**record["total"], "other": []}
    zero = json.loads(json.dumps(empty), parse_int=lambda _: 0)
    return {**record, **own, "laws": [law for law in record["laws"] if law["law"] == "probes"],
            "total": added(sums) if sums else zero}


def is_short(record: dict) -> bool:
    """Does the record say that it has not all?"""
    losses = record["losses"]
    return any(losses[name] for name in ("lost_events", "unbooked_sockets", "unopened_sockets", "unseen_events"))


def laws_and_form(record: dict, status: str) -> Iterator[str]:
    """The record is as its schema says, and no law is broken."""
    yield from record["faults"][:3]
    for law in broken(record):
        yield f"broken: {law.get('law', 'of a socket')} {law['left']} against {law['right']}"
    if status != "0":
        yield f"status {status}"


def sites_and_sums(record: dict, truth: dict) -> Iterator[str]:
    """Each number is the truth, or a site is null with a reason; never anything else."""
    n = numbers(record["total"])
    found = {site: n[site] for site in SITES} | {
        "accepted": n["accepted_bytes"], "returned": n["returned_bytes"]}
    # What kernel TLS moved is told of its layer.
    for name, moved in (("tx_splice", n["tls_carried_bytes"]), ("accepted", n["tls_carried_bytes"]),
                        ("returned", n["tls_received_bytes"]),
                        ("rx_copy", (n["tls_received_bytes"] or 0) - (n["rx_direct"] or 0))):
        if found[name] is not None:
            found[name] -= moved or 0
    whys = {site: record["sites"][site]["why"] for site in SITES} | {
        "returned": record["count_whys"].get("returned_bytes")}
    for name, known in truth["bytes"].items():
        null = found[name] is None and whys.get(name)
        if found[name] != known and not null:
            yield f"{name} is {known}, told {found[name]}"
    for name, (low, high) in truth["limits"].items():
        if found[name] is not None and not low <= found[name] <= high:
            yield f"{name} is {low} to {high}, told {found[name]}"
    for names, known in truth["together"]:
        told = [found[name] for name in names]
        if None not in told and sum(told) != known:
            yield f"{' + '.join(names)} is {known}, told {told}"


def unmeasured(record: dict, truth: dict) -> Iterator[str]:
    """Sites that the program leaves no reason not to know."""
    for site in truth["measured"]:
        if record["total"]["sites"][site]["bytes"] is None:
            yield f"{site} is not measured: {record['sites'][site]['why']}"


def sentences(record: dict) -> str:
    """All that is told of processes in words."""
    return " ".join(all_told(record))


def completions_are_least(sockets: list[dict]) -> bool:
    """A process that reads a notification before a program looks hides it, until the next one comes: the record says so."""
    return any("unseen_completions" in each for each in sockets)


def completions(record: dict, truth: dict) -> Iterator[str]:
    """What the kernel said of its sends by reference is not contradicted."""
    n, said = numbers(record["total"]), sentences(record)
    if truth["asked"] and re.search(r"for no zero copy", said):
        yield f"it asked for zero copy {truth['asked']} times: {said}"
    if truth["sends"] and n["zerocopy_sends"] not in (None, truth["sends"]):
        yield f"{truth['sends']} zero-copy sends, told {n['zerocopy_sends']}"
    if not truth["completed"] or truth["completed"] != truth["sends"]:
        return
    for name, known in (("completed_sends", truth["completed"]), ("copied_sends", truth["copied"])):
        if n[name] not in (None, known) and not (n[name] < known and completions_are_least(record["sockets"])):
            yield f"{name} is {known}, told {n[name]}"
    # Of what was reshaped on its way some kernels say COPIED, and others do not.
    fate = record["total"]["fate"]
    late, reshaped, referenced = n["late_copy"], n["reshaped_referenced_bytes"], n["tx_reference"]
    if truth["copied"] == truth["completed"]:
        # Where nothing tells of that, the record says that it does not know: a packet whose bytes were reshaped before it
        # arrived says COPIED if it is no larger than the MSS (skb_copy_ubufs() of a packet without frags).
        # A packet of it that has pages of a file, too, counts as copied with them.
        copied = late + reshaped if None not in (late, reshaped) else \
            max(late or 0, fate["copied_later_bytes"] or 0) + (fate["unknown_bytes"] or 0)
        if late is not None and referenced is not None and copied < referenced - truth["dropped"]:
            yield f"all {truth['copied']} sends said COPIED, late_copy {late} of {referenced}"
        if NOT_COPIED.search(said):
            yield f"all sends said COPIED: {said}"
    elif not truth["copied"]:
        if late:
            yield f"none of {truth['completed']} sends said COPIED, late_copy {late}"
        # Where skb_cow_data() makes one piece of a packet to encrypt it in place, completions do not say COPIED.
        if not reshaped and (fate["copied_later_bytes"] or 0) <= (late or 0) and COPIED.search(said.partition("received")[0]):
            yield f"no send said COPIED: {said}"


def layers(record: dict, truth: dict) -> Iterator[str]:
    """What is not plain TCP is named, and is in no sum."""
    told = {each["layer"]: each["sent_bytes"] for each in record["total"]["other"]}
    encrypted = record["total"]["counts"]["tls_accepted_bytes"]
    if encrypted and encrypted == truth["layers"].get("ktls"):
        told["ktls"] = encrypted
    for layer, size in truth["layers"].items():
        if layer not in told:
            yield f"{layer} is not noticed: {sorted(told)}"
        elif told[layer] < size:
            yield f"{layer} sent {size}, told {told[layer]}"
    for layer in set(told) - set(truth["layers"]) - {"repair"}:
        yield f"{layer} is told, and was not there"
    if truth["layers"] and re.search(r"moved no payload( over TCP or UDP)?\.", sentences(record)):
        yield f"of {list(truth['layers'])}: moved no payload"


def refused(record: dict, truth: dict) -> Iterator[str]:
    """Options that were refused are counted where a hook tells of them; others may have been refused some, too."""
    if record["refused_requests"] is None:
        return
    told = {each["request"]: each["calls"] for each in record["refused_requests"]}
    for request, calls in truth["refused"].items():
        if told.get(request, 0) < calls:
            yield f"{request} was refused {calls} times, told {told}"


def by_mptcp(record: dict, truth: dict) -> Iterator[str]:
    """What MPTCP was given to send, where a hook tells; other programs may give it some, too."""
    copied = record["mptcp_copied_bytes"]
    if copied is not None and copied < truth["mptcp"]:
        yield f"MPTCP was given {truth['mptcp']} to send, told {copied}"


def failed(record: dict, truth: dict) -> Iterator[str]:
    """Sends of datagrams that were made and refused, and what was copied for them."""
    sends, size = record["total"].get("failed_sends", {}).get("EIO", 0), record["total"].get("failed_bytes")
    if sends != truth["failed"] or size not in (None, truth["failed_bytes"]):
        yield f"{truth['failed']} sends failed, of {truth['failed_bytes']} bytes, told {sends}, {size}"


def wording(record: dict, truth: dict, report: str) -> Iterator[str]:
    """Words that are not so of this program, and words that are missing."""
    said = sentences(record)
    for pattern in truth["never"]:
        if re.search(pattern, said):
            yield f"{pattern!r} is not so: {said}"
    for pattern in truth["always"] if report else ():
        if not re.search(pattern, report):
            yield f"the report lacks {pattern!r}"
