# SPDX-License-Identifier: GPL-2.0
"""The report of a watch out of its record: who did what, sites, causes, laws, what was not seen."""
from __future__ import annotations

from typing import Any

from copyscope.common.numbers import bytes_text
from copyscope.common.tables import column
from copyscope.common.text import wrapped

from .missing import reason

MEANING = column("sites", "meaning")


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
            calls = each.get("calls") or 0
            said += ["", *labelled("ENOBUFS", f"{calls:,} send{' was' if calls == 1 else 's were'} "
                                   f"refused ({each['cause']}): {each.get('remedy') or ''}")]
    return said


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
    for each in data["verdicts"]:
        said += wrapped(f"{each['process']}: {each['sentence']}", "  ")
    sockets = len(data["sockets"])
    facts = f"{data['window']['seconds']:.1f} s, {sockets:,} socket{'s' * (sockets != 1)}; " \
            f"kernel {data['machine']['kernel']}, {data['backend']['name']} backend"
    return [*said, "", *wrapped(facts), *sites(data), *causes(data), "",
            *labelled("laws", laws(data)), *not_seen(data), "",
            *wrapped(f"record {data['id']}, started {data['started']}, commit "
                     f"{data['tool']['commit']}")]
