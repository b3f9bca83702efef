# SPDX-License-Identifier: GPL-2.0
"""Zero copy in a run: pages pinned, completions, what was sent again, sends that were refused."""
from __future__ import annotations

from copyscope.records.run_record import Record

from .look import Look
from .page import labelled, plural


def pins(record: Record, sends: int) -> str:
    """22,820 page references in all, 22.8 a send, 797 at once at most; all were released"""
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


def completions(record: Record, sends: int) -> str:
    """What the kernel said of zero-copy sends."""
    work = record.experiment["workload"]
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


def lines(record: Record, look: Look) -> list[str]:
    """The part of a report."""
    sends, said = record.at("counts.zerocopy_sends") or 0, []
    if sends:
        said += labelled("pins", pins(record, sends))
        said += labelled("completions", completions(record, sends))
        # Why late_copy may be more than was sent.
        again = record.at("counts.retrans_referenced_bytes") or 0
        said += labelled("sent again", f"{look.amount_in_words(again)} of your pages left twice "
                         "(retransmissions): what is copied on its way is at late_copy twice") \
            if again else []
    for number, text in enumerate(refusals(record)):
        said += labelled("" if number else "ENOBUFS", text)
    return ["", *said] if said else []
