# SPDX-License-Identifier: GPL-2.0
"""Sums over the sockets of a watch that its report needs."""
from __future__ import annotations

from typing import Any

from .figures import is_apart, number

Document = dict[str, Any]
# What a socket still held of these when it was reset or closed will neither be sent nor read.
LOST = ("unsent_bytes", "unacked_bytes", "unread_bytes")
LEAST = ("tx_reference", "zerocopy_asked_sends", "zerocopy_sends", "enobufs", "tls_sent_records",
         "tls_received_records")


def of_sockets(data: Document) -> Document:
    """The sums of a record that has all sockets, as `socket_sums` of younger ones."""
    summed = [each for each in data["sockets"] if not is_apart(each)]
    held = [each["closing"] for each in summed if not each["died"]]
    return {
        "datagrams_sent_bytes": sum(
            each["counts"]["accepted_bytes"] or 0 for each in data["sockets"]
            if each.get("protocol") == "udp"),
        "lost": {item: max(0, (data["total"]["closing"][item] or 0) -
                           sum(each[item] or 0 for each in held)) for item in LOST},
        "least": {name: sum(number(each, name) or 0 for each in summed) for name in LEAST}}


def sums_of(data: Document) -> Document:
    """The sums; older records have the sockets alone."""
    return data.get("socket_sums") or of_sockets(data)


def at_least(data: Document, name: str) -> int:
    """A number of all; where it is not known, of those of the sockets that know it."""
    found = number(data["total"], name)
    return sums_of(data)["least"][name] if found is None else found
