# SPDX-License-Identifier: GPL-2.0
"""The report of a watch out of its record: who did what, sites, causes, laws, what was not seen."""
from __future__ import annotations

from typing import Any

from copyscope.common.tables import column
from copyscope.common.text import bytes_text, wrapped

from .missing import reason

MEANING = column("sites", "meaning")
PEERS = 5


def labelled(label: str, text: str) -> list[str]:
    """Text folded beside a label."""
    return wrapped(f"{label:15}{text}", " " * 15)


def sites(data: dict[str, Any]) -> list[str]:
    """Bytes that passed each site, of all sockets together."""
    said = ["", f"{'site':14} {'bytes':>9}  {'how':8}  what became of them"]
    empty = []
    for site, found in data["sites"].items():
        if found["bytes"]:
            first = f"{site:14} {bytes_text(found['bytes']):>9}  {found['how']:8}  "
            said += wrapped(first + MEANING.get(site, ""), " " * len(first))
        elif found["bytes"] == 0:
            empty.append(site)
    return said + (labelled("nothing at", ", ".join(empty)) if empty else [])


def causes(data: dict[str, Any]) -> list[str]:
    """Why bytes were copied, and what helps; then sends that were refused, which have no bytes."""
    said = []
    for each in data["causes"]:
        if each.get("bytes") is not None:
            said += ["", f"{each['cause']}, {each['site']}: {bytes_text(each['bytes'])}"]
            said += wrapped(f"    {each.get('remedy') or ''}", "    ")
    for each in data["causes"]:
        if each.get("bytes") is None:
            calls = each.get("calls")
            number = "sends, nobody counted how many," if calls is None else \
                f"{calls:,} send{'s' * (calls != 1)}"
            said += ["", *labelled("ENOBUFS", f"{number} w{'as' if calls == 1 else 'ere'} refused "
                                   f"({each['cause']}): {each.get('remedy') or ''}")]
    return said


def figure(value: int | None) -> str:
    """Bytes, or - if nobody knows them."""
    return "-" if value is None else bytes_text(value)


def peers(data: dict[str, Any]) -> list[str]:
    """The remote peers that moved most; early records of 0.2 lack their sums."""
    found = sorted(data.get("peers", []), key=lambda each: -sum(
        each[key] or 0 for key in ("sent_bytes", "received_bytes")))
    if not found:
        return []
    said = ["", f"{'sent':>9} {'received':>9} {'no copy':>9} {'needless':>9} {'sockets':>8}  "
                "remote peers"]
    for each in found[:PEERS]:
        numbers = " ".join(f"{figure(each[f'{key}_bytes']):>9}"
                           for key in ("sent", "received", "uncopied", "needless"))
        said.append(f"{numbers} {each['sockets']:>8,}  {each['peer'] or 'all other peers'}")
    return said + [f"{'':48}  {len(found) - PEERS:,} more"] * (len(found) > PEERS)


def laws(data: dict[str, Any]) -> str:
    """How many balance."""
    by_status: dict[str, list[str]] = {}
    for each in data["laws"]:
        by_status.setdefault(each["status"], []).append(each["law"])
    fine, broken = by_status.get("balanced", []), by_status.get("broken", [])
    if broken:
        return f"broken: {', '.join(broken)}: do not trust this watch"
    return f"{len(fine)} of {len(data['laws'])} balance to the byte: {', '.join(fine)}" if fine \
        else "none could be tested"


def not_seen(data: dict[str, Any]) -> list[str]:
    """What was not seen, once for each reason."""
    by_why: dict[str, list[str]] = {}
    for site, found in data["sites"].items():
        if found["bytes"] is None:
            by_why.setdefault(reason(found["why"] or "no reason is given"), []).append(site)
    for each in data["laws"]:
        if each["status"] == "not testable":
            by_why.setdefault(reason(each.get("why") or "no reason is given"), []).append(
                f"law {each['law']}")
    said = []
    for number, (why, names) in enumerate(by_why.items()):
        said += labelled("" if number else "not seen", f"{', '.join(names)}: {why}")
    return ["", *said] if said else []


def lines(data: dict[str, Any]) -> list[str]:
    """The whole report."""
    said = []
    moved = [each for each in data["verdicts"] if each["verdict"] != "moved nothing"]
    for each in moved or data["verdicts"][:1]:
        said += wrapped(f"{each['process']}: {each['sentence']}", "  ")
    # Those that closed are not all in the list.
    sockets = data["total"]["sockets"]
    facts = f"{data['window']['seconds']:.1f} s, {sockets:,} socket{'s' * (sockets != 1)}; " \
            f"kernel {data['machine']['kernel']}, {data['backend']['name']} backend"
    return [*said, "", *wrapped(facts), *sites(data), *causes(data), *peers(data), "",
            *labelled("laws", laws(data)), *not_seen(data), "",
            *wrapped(f"record {data['id']}, started {data['started']}, commit "
                     f"{data['tool']['commit']}")]
