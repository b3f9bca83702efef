# SPDX-License-Identifier: GPL-2.0
"""Makes of a run with requests and replies what it would be with the replies alone."""
from __future__ import annotations

from typing import Any

from copyscope.common.tables import SITES, names

from .run_record import Record

READS = names("sites", of_receiver=True)
# Sockets of both ends move payload, and of either direction.
BOTH_WAYS = "reshape"
UNKNOWN = {"bytes": None, "how": "not_measured"}


def summed(record: Record, site: str) -> dict[str, Any]:
    """A site in the books of the sockets that replies pass: those that send, or that receive."""
    ends = ("sender", "receiver") if site == BOTH_WAYS else \
        ("receiver",) if site in READS else ("sender",)
    mine = [each["sites"][site] for end in ends for each in record.sockets(end)]
    counts = [each["bytes"] for each in mine]
    whole = record.site(site)
    if not mine or None in counts or whole["bytes"] is None:
        return {**UNKNOWN, "why": whole.get("why") or "no book of a socket has it"}
    if site == BOTH_WAYS and any(counts):
        return {**UNKNOWN, "why": "bytes of requests and replies are not told apart there"}
    return {**whole, "bytes": sum(counts)}


def reply_alone(record: Record) -> Record:
    """The run without its requests; as it is if it had none."""
    if record.workload("pattern") != "rr":
        return record
    returned = [each["counts"]["returned_bytes"] for each in record.sockets("receiver")]
    work = {**record.experiment["workload"],
            "received_bytes": None if None in returned else sum(returned)}
    data = {**record.data, "sites": {site: summed(record, site) for site in SITES},
            "experiment": {**record.experiment, "workload": work}}
    return Record(data, record.source, record.point)
