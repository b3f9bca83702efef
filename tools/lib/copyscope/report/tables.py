# SPDX-License-Identifier: GPL-2.0
"""The tables of a report: sites, causes, peers, laws, counters; as userspace/report prints them."""
from __future__ import annotations

from typing import Any

from copyscope.common.tables import SITES, TLS_SITES, column, names
from copyscope.common.text import bytes_text, duration_text, share_text, wrapped
from copyscope.records.run_record import ENDS, Record

MEANING = column("sites", "meaning")
OF_RECEIVER = names("sites", of_receiver=True)
TLS_LAWS = names("laws", of_tls=True)
CLOCK = "task-clock"
PEERS = 5
LABEL = 15


def labelled(label: str, text: str) -> list[str]:
    """Text folded beside a label, which may be empty."""
    return wrapped(f"{label:{LABEL}}{text}", " " * LABEL)


def plural(count: int, word: str) -> str:
    """1 law, 2 laws."""
    return f"{count:,} {word}{'s' * (count != 1)}"


def share_of(record: Record, site: str, passed: int) -> str:
    """Bytes of a site per byte that send accepted; a watch need not see both ends, so it has their
    share of what was sent or received."""
    returned = record.watched and site in OF_RECEIVER
    whole = record.at("counts.returned_bytes" if returned else "counts.accepted_bytes")
    if record.watched:
        return share_text(passed, whole or 0)
    if not whole:
        return "-"
    return "< 0.001" if passed and passed / whole < 0.0005 else f"{passed / whole:.3f}"


def sites(record: Record) -> list[str]:
    """Every site that bytes passed, then the names of those that none passed."""
    if record.backend == "none":
        return []
    share_is = "share" if record.watched else "per byte"
    said = ["", f"{'site':14} {'bytes':>9} {share_is:>9}  {'how':8}  what became of them"]
    empty: dict[str, list[str]] = {}
    # Sites of kernel TLS are told of where it moved a byte.
    unseen = () if any(map(record.site_bytes, TLS_SITES)) else TLS_SITES
    for site in SITES:
        passed, how = record.site_bytes(site), record.site_how(site)
        if passed:
            first = f"{site:14} {bytes_text(passed):>9} {share_of(record, site, passed):>9}  " \
                    f"{how:8}  "
            said += wrapped(first + MEANING[site], " " * len(first))
        elif passed == 0 and site not in unseen:
            empty.setdefault(how, []).append(site)
    if empty:
        text = "; ".join(f"{', '.join(empty[how])} ({how})" for how in ("measured", "derived")
                         if how in empty)
        said += labelled("nothing at", text)
    return said


def causes(record: Record) -> list[str]:
    """Why bytes were copied, and what helps. A send that was refused has no bytes."""
    known = [each for each in record.data["causes"] if each["bytes"] is not None]
    if not known:
        return []
    said = ["", f"{'why it was copied':28} {'site':12} {'bytes':>9} {'payload':>9} {'calls':>10}"]
    for each in known:
        share = share_text(each["bytes"], record.at("counts.accepted_bytes") or 0)
        calls = f"{each['calls']:,}" if each.get("calls") else "-"
        said.append(f"{each['cause']:28} {each['site']:12} {bytes_text(each['bytes']):>9} "
                    f"{share:>9} {calls:>10}")
        said += wrapped(f"    {each['remedy'] or ''}", "    ")
        if each.get("stack"):
            said += wrapped(f"    stack: {each['stack']}", " " * 11)
    return said


def refusals(record: Record) -> list[str]:
    """Sends that the kernel refused, by cause; the workload of a run repeats them."""
    found = []
    for each in record.data["causes"]:
        if each["bytes"] is None:
            calls = each.get("calls")
            number = "sends, nobody counted how many," if calls is None else plural(calls, "send")
            found.append(f"{number} {'was' if calls == 1 else 'were'} refused"
                         f"{'' if record.watched else ' and repeated'} ({each['cause']}): "
                         f"{each['remedy'] or ''}")
    return found


def peers(record: Record) -> list[str]:
    """The remote peers of a watch that moved most; early records of 0.2 lack their sums."""
    found = sorted(record.at("peers") or [], key=lambda each: -sum(
        each[key] or 0 for key in ("sent_bytes", "received_bytes")))
    if not found:
        return []
    said = ["", f"{'sent':>9} {'received':>9} {'no copy':>9} {'needless':>9} {'sockets':>8}  "
                "remote peers"]
    for each in found[:PEERS]:
        moved = (each[f"{key}_bytes"] for key in ("sent", "received", "uncopied", "needless"))
        figures = " ".join(f"{'-' if value is None else bytes_text(value):>9}" for value in moved)
        said.append(f"{figures} {each['sockets']:>8,}  {each['peer'] or 'all other peers'}")
    return said + [f"{'':48}  {len(found) - PEERS:,} more"] * (len(found) > PEERS)


def laws_of(record: Record) -> list[dict[str, Any]]:
    """The laws of a record; those of kernel TLS where it moved a byte."""
    tls = any(map(record.site_bytes, TLS_SITES))
    return [each for each in record.data["laws"] if tls or each["law"] not in TLS_LAWS]


def side(value: int | None) -> str:
    """One side of a law."""
    return "-" if value is None else f"{value:,}"


def laws_table(record: Record, statuses: set[str], sides: bool) -> list[str]:
    """The laws with one of these statuses: both sides and what is between them."""
    found = [each for each in laws_of(record) if each["status"] in statuses]
    if not found:
        return []
    said = [f"{'law':23} {'':8} {'left':>17} {'right':>17} {'residual':>10}"]
    for each in found:
        said.append(f"{each['law']:23} {each['status']:8} {side(each.get('left')):>17} "
                    f"{side(each.get('right')):>17} {side(each['residual']):>10}")
        if sides or each["status"] == "broken":
            said += wrapped(f"    left: {each.get('left_is')}; right: {each.get('right_is')}",
                            "    ")
        if each["status"] == "broken" and each.get("why"):
            said += wrapped(f"    {each['why']}", "    ")
    return said


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
    if record.watched:
        return []
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
