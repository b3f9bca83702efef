# SPDX-License-Identifier: GPL-2.0
"""Counts of a watch in words: zero copy, datagrams, sends that failed, kernel TLS, MPTCP."""
from __future__ import annotations

from typing import Any

from copyscope.common.text import bytes_text

from .page import labelled, plural, process_name
from .sums import at_least, sums_of

Document = dict[str, Any]
OF_COMPLETIONS = ("completed_sends", "copied_sends")
ASKED = (("zerocopy_asked_sends", "asked"), ("zerocopy_sends", "made"),
         ("completed_sends", "completed"), ("copied_sends", "of them as COPIED"))
BY_REFERENCE = ("zerocopy_asked_sends", "tx_reference", "zerocopy_sends", "enobufs")
REFUSED = (("enobufs", "sends refused"),
           ("refused_optmem", "by option memory (net.core.optmem_max)"),
           ("refused_memlock", "by RLIMIT_MEMLOCK"))
DATAGRAMS = (("dropped_bytes", "bytes dropped that were for these sockets"),
             ("truncated_bytes", "bytes that did not fit the reader's buffer"))
TLS_SENT = (("tls_accepted_bytes", "bytes of plaintext"), ("tls_sent_records", "records"),
            ("tls_sent_overhead_bytes", "bytes of record overhead"),
            ("tls_carried_bytes", "bytes at TCP"))
TLS_RECEIVED = (("tls_received_bytes", "bytes of plaintext"), ("tls_received_records", "records"),
                ("tls_received_overhead_bytes", "bytes of record overhead"))


def count(data: Document, name: str, what: str) -> str:
    """1,312 words, or "words not measured" with the reason."""
    found = data["total"]["counts"][name]
    if found is None:
        return f"{what} not measured ({data['count_whys'].get(name, '')})"
    least = data["total"].get("unseen_completions") and name in OF_COMPLETIONS
    return f"{'at least ' if least else ''}{found:,} {what}"


def counts(data: Document, which: tuple[tuple[str, str], ...]) -> str:
    """Several of them."""
    return ", ".join(count(data, name, what) for name, what in which)


def some(data: Document, name: str) -> bool:
    """Did any socket have it?"""
    return at_least(data, name) > 0


def pins(data: Document) -> str:
    """Pages that are referenced."""
    now = data["total"]["closing"]["referenced_pages"]
    if now is None:
        return "pages referenced: not measured, as a queue was not read to its end"
    return f"pages referenced: {now:,} now, {data['referenced_peak_pages']:,} at most in any " \
           "reading"


def refused(data: Document) -> list[str]:
    """Sends that got ENOBUFS, and what helps."""
    if not some(data, "enobufs"):
        return []
    return [counts(data, REFUSED), *(each["remedy"] for each in data["causes"]
                                     if each["bytes"] is None)]


def zero_copy(data: Document) -> list[str]:
    """Sends by MSG_ZEROCOPY, if any socket made or had one."""
    before = data["total"]["opening"]["zerocopy_sends"]
    if not before and not any(some(data, each) for each in BY_REFERENCE):
        return []
    said = ["", *labelled("zero copy", f"sends: {counts(data, ASKED)}"), *labelled("", pins(data))]
    for number, text in enumerate(refused(data)):
        said += labelled("" if number else "ENOBUFS", text)
    return said


def datagrams(data: Document) -> list[str]:
    """What was dropped or cut off."""
    if all(data["total"]["counts"][name] == 0 for name, _ in DATAGRAMS):
        return []
    said = ["", *labelled("datagrams", counts(data, DATAGRAMS))]
    if sums_of(data)["datagrams_sent_bytes"]:
        said += labelled("", "of what these sockets sent, drops on the way and at receivers that "
                         "are not watched: not measured")
    return said


def failed(data: Document) -> list[str]:
    """Sends of datagrams that failed. udp_send_skb() refuses what ip_make_skb() has copied."""
    found = data["total"].get("failed_sends") or {}
    if not found:
        return []
    said = ["", *labelled("failed sends", ", ".join(f"{calls:,} with {error}"
                                                    for error, calls in found.items()))]
    if "EIO" not in found:
        return said
    lost = data["total"].get("failed_bytes")
    said += labelled("", "EIO: they were copied for nothing; how much it was no tracepoint tells"
                     if lost is None else f"EIO: {bytes_text(lost)} were copied for nothing")
    return said + labelled("", "EIO: UDP_SEGMENT needs a device that computes checksums before "
                           "6.11 (ethtool -K DEV tx on)")


def tls(data: Document) -> list[str]:
    """What kernel TLS encrypted and decrypted."""
    if not some(data, "tls_sent_records") and not some(data, "tls_received_records"):
        return []
    return ["", *labelled("kernel TLS", f"sent: {counts(data, TLS_SENT)}"),
            *labelled("", f"received: {counts(data, TLS_RECEIVED)}")]


def mptcp_copies(data: Document) -> str:
    """Of all sockets: the calls name those of MPTCP, and the books those of TCP."""
    copied = data.get("mptcp_copied_bytes")
    if copied is None:
        why = data.get("mptcp_copied_why", "the record is older than that")
        return f"how much it copied that was sent: not measured ({why})"
    return f"it copied all {bytes_text(copied)} that sends gave it, also by sendfile and " \
           "MSG_ZEROCOPY"


def mptcp(data: Document, top: int) -> list[str]:
    """What TCP carried for each MPTCP socket."""
    found = data.get("mptcp") or []
    if not found:
        return []
    said = [""]
    for number, each in enumerate(found[:top]):
        said += labelled("" if number else "MPTCP", f"token {each['token']:08x} of "
                         f"{process_name(each['pid'], each['comm'])}: "
                         f"{bytes_text(each['sent_bytes'])} sent and "
                         f"{bytes_text(each['received_bytes'])} received by "
                         f"{plural(each['subflows'], 'subflow')}")
    if len(found) > top:
        said.append(f"{'':15}{len(found) - top} more: --top {len(found)}")
    return said + labelled("", mptcp_copies(data))
