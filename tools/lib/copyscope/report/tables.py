# SPDX-License-Identifier: GPL-2.0
"""The tables that reports of runs and of watches have in common: sites, causes, laws."""
from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from copyscope.common.tables import SITES, TLS_SITES, column, commit_of, names
from copyscope.common.text import bytes_text, share_text

from .page import BAD, Tinted, folded, heads, labelled

Document = dict[str, Any]
MEANING = column("sites", "meaning")
TLS_LAWS = names("laws", of_tls=True)
OF_RECEIVER = names("sites", of_receiver=True)


def tls_moved(data: Document) -> bool:
    """Sites and laws of kernel TLS are told of where it moved a byte."""
    return any(data["sites"][site]["bytes"] for site in TLS_SITES)


def amount(count: int, exact: bool) -> str:
    """65.5 MB, or 65,536,000; in a column."""
    return f"{count:>17,}" if exact else f"{bytes_text(count):>9}"


def sites(data: Document, share_is: str, share: Callable[[str, int], str], exact: bool = False,
          each: Callable[[int], str] | None = None) -> list[str]:
    """Every site that bytes passed, then the names of those that none passed; `exact`: a row for
    each. On a wide page there is room for what they are of `each` message."""
    wide = "" if each is None else f"{'bytes/message':>14} "
    said = ["", *heads(f"{'site':14} {'bytes':>{17 if exact else 9}} {wide}{share_is:>9}  "
                       f"{'how':8}  what became of them")]
    empty: dict[str, list[str]] = {"measured": [], "derived": []}
    tls = tls_moved(data)
    for site in SITES:
        passed, how = data["sites"][site]["bytes"], data["sites"][site]["how"]
        if passed or exact and passed == 0:
            wide = "" if each is None else f"{each(passed):>14} "
            first = f"{site:14} {amount(passed, exact)} {wide}{share(site, passed):>9}  {how:8}  "
            said += folded(first, MEANING[site], len(first))
        elif passed == 0 and (tls or site not in TLS_SITES):
            empty[how].append(site)
    nothing = "; ".join(f"{', '.join(found)} ({how})" for how, found in empty.items() if found)
    return said + (labelled("nothing at", nothing) if nothing else [])


def causes(data: Document, whole: int | None = None, exact: bool = False) -> list[str]:
    """Why bytes were copied, and what helps. A send that was refused has no bytes. `whole`: what
    they are a share of, if that is not what TCP accepted."""
    known = [each for each in data["causes"] if each["bytes"] is not None]
    if not known:
        return []
    if whole is None:
        whole = data["counts"]["accepted_bytes"] or 0
    said = ["", *heads(f"{'why it was copied':28} {'site':12} {'bytes':>{17 if exact else 9}} "
                       f"{'payload':>9} {'calls':>10}")]
    for each in known:
        calls = f"{each['calls']:,}" if each.get("calls") else "-"
        said.append(f"{each['cause']:28} {each['site']:12} {amount(each['bytes'], exact)} "
                    f"{share_text(each['bytes'], whole):>9} {calls:>10}")
        said += folded("    ", each["remedy"] or "", 4)
        if commit := commit_of(each["cause"]):
            said += folded("    kernel: ", commit, 12)
        if each.get("stack"):
            said += folded("    stack: ", each["stack"], 11)
    return said


def side(value: int | None) -> str:
    """One side of a law."""
    return "-" if value is None else f"{value:,}"


def law_rows(laws: list[Document], statuses: Collection[str]) -> list[str]:
    """The laws with one of these statuses: both sides and what is between them."""
    found = [each for each in laws if each["status"] in statuses]
    if not found:
        return []
    said = heads(f"{'law':23} {'':8} {'left':>17} {'right':>17} {'residual':>10}")
    for each in found:
        row = f"{each['law']:23} {each['status']:8} {side(each.get('left')):>17} " \
            f"{side(each.get('right')):>17} {side(each['residual']):>10}"
        said += Tinted.of(BAD, [row]) if each["status"] == "broken" else [row]
        said += folded("    ", f"left: {each.get('left_is')}; right: {each.get('right_is')}", 4)
        if each["status"] == "broken" and each.get("why"):
            said += folded("    ", each["why"], 4)
    return said
