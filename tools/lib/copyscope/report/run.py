# SPDX-License-Identifier: GPL-2.0
"""The report of a run out of its record, part after part."""
from __future__ import annotations

from copyscope.common.text import columns
from copyscope.records.reply import reply_alone
from copyscope.records.run_record import Record

from . import caches, laws, run_cost, run_missing, run_sentence, tables, times, zero_copy
from .look import WIDE, Look
from .page import BAD, BOLD, folded, plural, tinted


def verdict(record: Record, look: Look) -> list[str]:
    """What it comes to."""
    found = record.at("experiment.verdict")
    bad = isinstance(found, dict) and not found["passed"]
    return tinted(BAD if bad else BOLD, "", run_sentence.of(record, look.exact))


def seen_by(backend: str) -> str:
    """Which probes counted."""
    return "no probes" if backend == "none" else f"{backend} backend"


def head(record: Record) -> str:
    """What was sent where: 1,000 messages of 65,536 bytes, 4 connections, stream, path veth, ..."""
    far = record.at("experiment.peer.machine.kernel")
    return (f"{plural(record.messages or 0, 'message')} of {record.bytes:,} bytes, "
            f"{plural(record.threads, 'connection')}, {record.workload('pattern')}, path "
            f"{record.path}, kernel {record.kernel}, {seen_by(record.backend)}"
            + (f"; to kernel {far}, {seen_by(record.at('experiment.peer.backend.name'))}"
               if far else ""))


def accepted(record: Record) -> int:
    """Bytes that send accepted, where both ends send those of replies: of kernel TLS those of the
    program, not records."""
    parts = [each["counts"] for each in record.sockets("sender")] \
        if record.workload("pattern") == "rr" else [record.data["counts"]]
    count = {name: sum(each.get(name) or 0 for each in parts) for name in
             ("accepted_bytes", "tls_carried_bytes", "tls_accepted_bytes")}
    return count["accepted_bytes"] - count["tls_carried_bytes"] + count["tls_accepted_bytes"]


def share_of(record: Record, passed: int) -> str:
    """Bytes of a site per byte that send accepted."""
    whole = accepted(record)
    if not whole:
        return "-"
    return "< 0.001" if passed and passed / whole < 0.0005 else f"{passed / whole:.3f}"


def of_message(record: Record, passed: int) -> str:
    """Bytes of a site per message."""
    return f"{passed / record.messages:.1f}" if record.messages else "-"


def sites(record: Record, look: Look) -> list[str]:
    """What passed where."""
    if record.backend == "none":
        return []
    wide = (lambda passed: of_message(record, passed)) if columns() >= WIDE else None
    said = folded("", "Of the replies alone: requests, which go the other way, are left out.") \
        if record.workload("pattern") == "rr" else []
    return tables.sites(reply_alone(record).data, "per byte",
                        lambda _, passed: share_of(record, passed), exact=look.exact,
                        each=wide) + said


def is_tested(record: Record) -> bool:
    """Not a run without probes, which has no law to tell of."""
    return record.backend != "none" or \
        any(each["status"] != "not testable" for each in record.data["laws"])


def foot(record: Record) -> str:
    """What made a record, and where."""
    return f"record {record.id}, started {record.at('started')}, commit " \
           f"{record.at('tool.commit')}, {record.at('machine.cpu_model')}, " \
           f"{plural(record.at('machine.cpus'), 'CPU')}"


def lines(record: Record, look: Look) -> list[str]:
    """The whole report."""
    return [*verdict(record, look), "", *folded("", head(record)), *times.lines(record, look),
            *sites(record, look),
            *tables.causes(record.data, accepted(record), look.exact),
            *zero_copy.lines(record, look),
            *(laws.lines(record.data["laws"], look.laws) if is_tested(record) else []),
            *times.counters(record, look),
            *caches.lines(record), *run_cost.calls(record), *run_cost.overhead(record),
            *run_missing.lines(record)]
