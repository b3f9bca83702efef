# SPDX-License-Identifier: GPL-2.0
"""Where the fields of a message lie, and how many bytes of a zero-copy packet lie in the kernel."""
from __future__ import annotations

import struct
from pathlib import Path

from .fact import OURS, Fact, run, unknown
from .tracepoints import Hit, Tracepoint, reach_tracefs

SIZES, FIELDS = (64, 512, 4096, 65536), 8
# A busy machine may run nobody who reads a message before the workload ends.
TRIES_S = (0.2, 1.0, 5.0)
CALLS = "syscalls/sys_enter_sendmsg"
# One send of many: each has the same fields.
PERIOD = 50
# struct user_msghdr: iov and its length lie behind the address and its length; struct iovec has two
# words.
IOV_AT, IOVEC_BYTES = 16, 16


def means(size: int) -> tuple[str, str, str]:
    """Name, size and meaning of a fact."""
    return ("fields-apart", str(size), f"of the {FIELDS} fields of a message of {size} bytes, "
            "those that do not end where the next one begins")


def iovecs(memory: Path, message: int) -> list[tuple[int, int]]:
    """The pieces of a message in another process: where each begins, and its bytes."""
    with memory.open("rb", buffering=0) as file:
        file.seek(message + IOV_AT)
        at, count = struct.unpack("<QQ", file.read(16))
        if count != FIELDS:
            return []
        file.seek(at)
        words = struct.unpack(f"<{2 * FIELDS}Q", file.read(FIELDS * IOVEC_BYTES))
    return list(zip(words[::2], words[1::2]))


def apart(pieces: list[tuple[int, int]]) -> int:
    """How many pieces do not end where the next one begins."""
    return sum(at + size != after for (at, size), (after, _) in zip(pieces, pieces[1:]))


def of_hits(hits: list[Hit], size: int) -> list[tuple[int, int]]:
    """The pieces of the first message that could be read."""
    for each in hits:
        try:
            found = iovecs(Path(f"/proc/{each.pid}/mem"), each.fields["msg"])
        except (OSError, struct.error):
            continue
        if sum(length for _, length in found) == size:
            return found
    return []


def of_size(size: int) -> Fact:
    """How many fields of a message of this size lie apart."""
    words = f"A2 {size} 1 --path lo"
    how = f"{CALLS} and the sender's memory while trace_run {words} ran without probes"
    found: list[tuple[int, int]] = []

    def look() -> None:
        hits = calls.read()
        if not found:
            found.extend(of_hits(hits[-4:], size))

    for seconds in TRIES_S:
        calls = Tracepoint(CALLS, OURS, PERIOD)
        try:
            with calls:
                run(words, seconds, look)
        finally:
            calls.close()
        if found:
            break
    if not found:
        return unknown([means(size)], how, "no message of the workload could be read")[0]
    return Fact(*means(size)[:2], apart(found), means(size)[2], how)


def fields(_progress: object = None) -> list[Fact]:
    """A fact for each size of the reports."""
    reach_tracefs()
    return [of_size(each) for each in SIZES]


# Bytes of a zero-copy packet in the kernel's own memory: its headers, or more.

PACKET_WORDS, PACKET_SECONDS = "A3 65536 1 --path veth", 0.3
LEAVES = "net/net_dev_start_xmit"
# Other workloads may send datagrams: SKB_GSO_TCPV4, which packets of several segments have.
OF_TCP = "gso_type & 1"
PACKET_MEANS = {"least": "fewest bytes outside of user pages in a packet that has some",
                "most": "most bytes outside of user pages in a packet that has some"}
PACKET_NAMES = [("linear", of, means) for of, means in PACKET_MEANS.items()]
PACKET_HOW = f"len - data_len of {LEAVES} with Ethernet's header, if {OF_TCP}, while trace_run " \
    f"{PACKET_WORDS} ran, no probes"


def packets(_progress: object = None) -> list[Fact]:
    """The least and the most."""
    reach_tracefs()
    leaving = Tracepoint(LEAVES, f"{OURS} && data_len > 0 && {OF_TCP}")
    hits: list[Hit] = []
    try:
        with leaving:
            run(PACKET_WORDS, PACKET_SECONDS, lambda: hits.extend(leaving.read()))
        hits.extend(leaving.read())
    finally:
        leaving.close()
    return linear_bytes([each.fields["len"] - each.fields["data_len"] for each in hits])


def linear_bytes(linear: list[int]) -> list[Fact]:
    """What the packets say; those that found no room in the ring were like them."""
    if not linear:
        return unknown(PACKET_NAMES, PACKET_HOW, "no packet of the workload was seen")
    how = f"{PACKET_HOW}: {len(linear)} packets"
    numbers = {"least": min(linear), "most": max(linear)}
    return [Fact(name, of, numbers[of], means, how) for name, of, means in PACKET_NAMES]
