# SPDX-License-Identifier: GPL-2.0
"""The report of a run out of its record, in the words and order of userspace/report."""
from __future__ import annotations

from typing import Any

from copyscope.common.text import bytes_text, duration_text, rate_text, wrapped
from copyscope.records import passes
from copyscope.records.run_record import ENDS, Record
from copyscope.report import tables
from copyscope.report.page import LABEL, folded, labelled, plural

from . import missing

CLOCK = "task-clock"


def seen_by(backend: str) -> str:
    """Which probes counted."""
    return "no probes" if backend == "none" else f"{backend} backend"


def verdict(record: Record) -> str:
    """What it comes to in a sentence."""
    return record.verdict or "no verdict: the record is older than that"


def head(record: Record) -> str:
    """What was sent where: 1,000 messages of 65,536 bytes, 4 connections, stream, path veth, ..."""
    far = record.at("experiment.peer.machine.kernel")
    return (f"{plural(record.messages or 0, 'message')} of {record.bytes:,} bytes, "
            f"{plural(record.threads, 'connection')}, {record.workload('pattern')}, path "
            f"{record.path}, kernel {record.kernel}, {seen_by(record.backend)}"
            + (f"; to kernel {far}, {seen_by(record.at('peer.backend.name'))}" if far else ""))


def timing_note(record: Record) -> str:
    """Of which pass times are, and what they are worth."""
    if record.at("machine.instruction_clock"):
        return "this emulated machine's clock counts instructions, 1 ns each: no speed"
    if record.at("machine.emulated") or record.at("experiment.peer.machine.emulated"):
        return "times of an emulated machine mean nothing; counts are exact"
    if record.times.probed:
        return "with probes attached: compare only with runs like it"
    both = all(passes.made(record.data, kind) for kind in passes.PASSES)
    return "of a pass of its own, without probes; counters, too" if both else "without probes"


def timing(record: Record) -> list[str]:
    """Throughput and latency, of the pass without probes if it was made."""
    times = record.times
    if not times.elapsed_ns or times.throughput_gbps is None:
        return []
    # Where both ends send, the throughput is of the replies.
    moved = times.received_bytes if record.workload("pattern") != "rr" else \
        (times.messages or 0) * record.bytes
    count = f", {times.messages:,} messages," if times.messages != record.messages else ""
    said = ["", *labelled("throughput", f"{rate_text(times.throughput_gbps)}: "
                          f"{bytes_text(moved or 0)}{count} in {duration_text(times.elapsed_ns)}")]
    if times.latency_us:
        mean, p50, p99 = (duration_text(times.latency_us[each] * 1e3)
                          for each in ("mean", "p50", "p99"))
        said += labelled("latency", f"mean {mean}, p50 {p50}, p99 {p99} "
                         f"({times.latency_us['what']})")
    return said + labelled("", timing_note(record))


def pins(record: Record, sends: int) -> str:
    """Page references, and what became of them."""
    found = record.data["pins"]
    if found["pages"] is None:
        return "not measured"
    most = "at most " if found.get("how") == "derived" else ""
    text = f"{most}{found['pages']:,} page references in all, {found['pages'] / sends:.1f} a send"
    peak, released = found.get("peak_pages"), found.get("released_pages")
    if peak is not None:
        text += f", {peak:,} at once at most"
    if released is not None:
        text += f"; {'all were' if released == found['pages'] else f'{released:,}'} released"
    return text


def completions(work: dict[str, Any], sends: int) -> str:
    """What the kernel said of zero-copy sends."""
    if work.get("completions") is None:
        return f"never read by the workload, for {sends:,} zero-copy sends"
    return f"{work['completions']:,} read for {sends:,} zero-copy sends, " \
           f"{work['completions_copied'] or 0:,} said COPIED"


def refusals(record: Record) -> list[str]:
    """Sends that the kernel refused, by cause; the workload repeats them."""
    found = []
    for each in record.data["causes"]:
        if each["bytes"] is None:
            calls = each.get("calls")
            number = "sends, nobody counted how many," if calls is None else plural(calls, "send")
            found.append(f"{number} {'was' if calls == 1 else 'were'} refused and repeated "
                         f"({each['cause']}): {each['remedy'] or ''}")
    return found


def zero_copy(record: Record) -> list[str]:
    """Pages pinned, completions, sends that were refused."""
    sends = record.at("counts.zerocopy_sends") or 0
    said = []
    if sends:
        said += labelled("pins", pins(record, sends))
        said += labelled("completions", completions(record.experiment["workload"], sends))
        again = record.at("counts.retrans_referenced_bytes") or 0
        said += labelled("sent again", f"{bytes_text(again)} of your pages left twice "
                         "(retransmissions): what is copied on its way is at late_copy twice") \
            if again else []
    for number, text in enumerate(refusals(record)):
        said += labelled("" if number else "ENOBUFS", text)
    return ["", *said] if said else []


def share_of(record: Record, passed: int) -> str:
    """Bytes of a site per byte that send accepted."""
    whole = record.at("counts.accepted_bytes")
    if not whole:
        return "-"
    return "< 0.001" if passed and passed / whole < 0.0005 else f"{passed / whole:.3f}"


def sites(record: Record) -> list[str]:
    """What passed where."""
    return [] if record.backend == "none" else \
        tables.sites(record.data, "per byte", lambda _, passed: share_of(record, passed))


def laws_of(record: Record) -> list[dict[str, Any]]:
    """The laws of a record; those of kernel TLS where it moved a byte."""
    tls = tables.tls_moved(record.data)
    return [each for each in record.data["laws"] if tls or each["law"] not in tables.TLS_LAWS]


def laws(record: Record, listed: bool) -> list[str]:
    """One line if all balance; else each that broke, with both sides."""
    statuses = [each["status"] for each in laws_of(record)]
    tested, broken = len(statuses) - statuses.count("not testable"), statuses.count("broken")
    if not tested and record.backend == "none":
        return []
    if not tested:
        text = "none could be tested"
    elif broken:
        text = f"{broken} of the {tested} that can be tested " \
               f"{'is' if broken == 1 else 'are'} broken: do not trust this run"
    else:
        text = f"{'the' if tested == 1 else 'all'} {plural(tested, 'law')} that can be tested " \
               f"balance{'s' * (tested == 1)} to the byte{'' if listed else '; --laws lists them'}"
    wanted = {"broken", "balanced"} if listed else {"broken"}
    return ["", *labelled("laws", text), *tables.law_rows(laws_of(record), wanted)]


def counter(record: Record, end: str, event: str) -> str:
    """What one end counted of an event."""
    value = record.counter(end, event)
    if value is None:
        return f"{'not measured':>18}"
    number = duration_text(value) if event == CLOCK else f"{value:,.0f}"
    scaled = record.times.counters[end][event].get("scaled")
    return f"{number:>17}{'*' if scaled else ' '}"


def counters(record: Record) -> list[str]:
    """Events of both ends; what neither has is told at the end of the report."""
    events = [event for event in record.times.counters[ENDS[0]]
              if any(record.counter(end, event) is not None for end in ENDS)]
    if not events:
        return []
    said = ["", f"{'counters':22} {'sender':>17}  {'receiver':>17}"]
    said += [f"{event:22} {counter(record, 'sender', event)} {counter(record, 'receiver', event)}"
             .rstrip() for event in events]
    if any(record.times.counters[end][event].get("scaled") for end in ENDS for event in events):
        said.append("  * shared its hardware counter with others: scaled up")
    return said


def overhead(record: Record) -> list[str]:
    """What looking cost."""
    said = []
    for label, found in (("cost of looking  ", record.at("overhead")),
                         ("  at receiver    ", record.at("experiment.peer.overhead"))):
        parts = []
        if found and found.get("throughput_ratio"):
            parts.append(f"throughput with probes {found['throughput_ratio']:.2f} of that without")
        if found and found.get("share") is not None:
            cpus = record.at("machine.cpus")
            parts.append(f"{found['events']:,} events, {found['ns_per_event'] or 0:.0f} ns each, "
                         f"{100 * found['share']:.1f} % of the time of {plural(cpus, 'CPU')}")
        said += folded(label, "; ".join(parts), LABEL + 2) if parts else []
    return ["", *said] if said else []


def foot(record: Record) -> str:
    """What made it, and where."""
    return f"record {record.id}, started {record.at('started')}, commit " \
           f"{record.at('tool.commit')}, {record.at('machine.cpu_model')}, " \
           f"{plural(record.at('machine.cpus'), 'CPU')}"


def lines(record: Record, laws_listed: bool) -> list[str]:
    """The whole report."""
    return [*wrapped(verdict(record)), "", *wrapped(head(record)), *timing(record), *sites(record),
            *tables.causes(record.data), *zero_copy(record), *laws(record, laws_listed),
            *counters(record), *overhead(record), *missing.lines(record)]
