# SPDX-License-Identifier: GPL-2.0
"""Sums over the sockets of a watch that its report needs; older records have the sockets alone."""
from __future__ import annotations

from typing import Any

from .figures import is_apart, number

Document = dict[str, Any]
# What a socket still held of these when it was reset or closed will neither be sent nor read.
LOST = ("unsent_bytes", "unacked_bytes", "unread_bytes")


def lost(data: Document, item: str) -> int:
    """How much closed sockets held."""
    if item not in LOST:
        return 0
    if "socket_sums" in data:
        return data["socket_sums"]["lost"][item]
    return max(0, (data["total"]["closing"][item] or 0) - sum(
        each["closing"][item] or 0 for each in data["sockets"]
        if not each["died"] and not is_apart(each)))


def at_least(data: Document, name: str) -> int:
    """A number of all; where it is not known, of those of the sockets that know it."""
    found = number(data["total"], name)
    if found is not None:
        return found
    if "socket_sums" in data:
        return data["socket_sums"]["least"][name]
    return sum(number(each, name) or 0 for each in data["sockets"] if not is_apart(each))


def datagrams_sent(data: Document) -> int:
    """Bytes that sockets of UDP sent."""
    if "socket_sums" in data:
        return data["socket_sums"]["datagrams_sent_bytes"]
    return sum(each["counts"]["accepted_bytes"] or 0 for each in data["sockets"]
               if each.get("protocol") == "udp")
