# SPDX-License-Identifier: GPL-2.0
"""The report of a watch out of its record, part after part."""
from __future__ import annotations

from typing import Any

from copyscope.common.text import share_text

from . import (
    answers,
    balances,
    cost,
    counts,
    cpu,
    laws,
    missing,
    rows,
    sizes,
    stacks,
    tables,
    verdicts,
)
from .page import View, folded, plural

Document = dict[str, Any]


def view_of(data: Document) -> View:
    """What the watch was asked to show; older records do not tell."""
    return View(**data.get("report", {}))


def head(data: Document) -> str:
    """How long, how many sockets, how it was counted. Those that closed are not all in the list."""
    total = data["total"]
    books = "a probe in each call" if data["books"] == "calls" else \
        "plain calls of TCP counted by its sequence numbers"
    return f"{data['window']['seconds']:.1f} s, {plural(total['sockets'], 'socket')}, " \
           f"{total['born']:,} opened and {total['died']:,} closed in that time; kernel " \
           f"{data['machine']['kernel']}, {data['backend']['name']} backend, {books}"


def share_of(data: Document, site: str, passed: int) -> str:
    """Bytes of a sender's site are compared with what was sent, of a receiver's with what it
    received."""
    whole = "returned_bytes" if site in tables.OF_RECEIVER else "accepted_bytes"
    return share_text(passed, data["counts"][whole] or 0)


def lines(data: Document, view: View) -> list[str]:
    """The whole report."""
    return [*verdicts.doubts(data), *answers.lines(data, view), "", *folded("", head(data)),
            *tables.sites(data, "share", lambda site, passed: share_of(data, site, passed),
                           exact=view.exact),
            *tables.causes(data, exact=view.exact), *counts.zero_copy(data),
            *counts.datagrams(data), *counts.failed(data), *counts.tls(data),
            *counts.mptcp(data, view.top), *cpu.lines(data, view.top), *sizes.lines(data, view.top),
            *stacks.lines(data, view.top), *rows.lines(data, view),
            *balances.lines(data), *laws.lines(data["laws"], view.laws), *cost.lines(data),
            *missing.lines(missing.texts(data))]
