# SPDX-License-Identifier: GPL-2.0
"""The report of a run or a watch out of its record, in the words and order of userspace/report."""
from __future__ import annotations

from typing import Any

from copyscope.common.text import bytes_text, duration_text, rate_text, wrapped
from copyscope.records import passes
from copyscope.records.run_record import Record

from . import cpu, missing, stacks
from .tables import (
    LABEL,
    causes,
    counters,
    labelled,
    laws_of,
    laws_table,
    peers,
    plural,
    refusals,
    sites,
)


def seen_by(backend: str) -> str:
    """Which probes counted."""
    return "no probes" if backend == "none" else f"{backend} backend"


def sentences(record: Record) -> list[str]:
    """What it comes to in a sentence; of a watch one for each process that moved payload."""
    if not record.watched:
        return [record.verdict or "no verdict: the record is older than that"]
    found = record.data["verdicts"]
    moved = [each for each in found if each["verdict"] != "moved nothing"]
    return [f"{each['process']}: {each['sentence']}" for each in moved or found[:1]]


def told(record: Record) -> list[str]:
    """The same, folded."""
    indent = "  " * record.watched
    return [line for each in sentences(record) for line in wrapped(each, indent)]


def head(record: Record) -> str:
    """What was sent where: 1,000 messages of 65,536 bytes, 4 connections, stream, path veth, ..."""
    if record.watched:
        # Those that closed are not all in the list.
        return f"{record.at('window.seconds'):.1f} s, " \
               f"{plural(record.at('total.sockets'), 'socket')}; kernel {record.kernel}, " \
               f"{seen_by(record.backend)}"
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
    if record.watched:
        return []
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


def zero_copy(record: Record) -> list[str]:
    """Pages pinned, completions, sends that were refused."""
    sends = 0 if record.watched else record.at("counts.zerocopy_sends") or 0
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
               f"{'is' if broken == 1 else 'are'} broken: do not trust this " \
               f"{'watch' if record.watched else 'run'}"
    else:
        text = f"{'the' if tested == 1 else 'all'} {plural(tested, 'law')} that can be tested " \
               f"balance{'s' * (tested == 1)} to the byte{'' if listed else '; --laws lists them'}"
    wanted = {"broken", "balanced"} if listed else {"broken"}
    return ["", *labelled("laws", text), *laws_table(record, wanted, listed)]


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
        said += wrapped(label + "; ".join(parts), " " * (LABEL + 2)) if parts else []
    return ["", *said] if said else []


def not_seen(record: Record) -> list[str]:
    """What was not seen, once for each reason."""
    said = []
    for number, text in enumerate(missing.lines(record)):
        said += labelled("" if number else "not seen", text)
    return ["", *said] if said else []


def foot(record: Record) -> str:
    """What made it, and where."""
    return f"record {record.id}, started {record.at('started')}, commit " \
           f"{record.at('tool.commit')}, {record.at('machine.cpu_model')}, " \
           f"{plural(record.at('machine.cpus'), 'CPU')}"


def lines(record: Record, laws_listed: bool = False) -> list[str]:
    """The whole report."""
    return [*told(record), "", *wrapped(head(record)), *timing(record), *sites(record),
            *causes(record), *zero_copy(record), *cpu.lines(record),
            *stacks.lines(record), *peers(record),
            *laws(record, laws_listed), *counters(record), *overhead(record), *not_seen(record), "",
            *wrapped(foot(record))]
