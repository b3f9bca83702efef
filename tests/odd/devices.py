# SPDX-License-Identifier: GPL-2.0
"""Odd programs: what packets pass behind the socket. The kernel's completions say if it copied."""
from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import struct
import threading
from collections.abc import Callable, Iterator

from odd import raw
from odd.frame import LIFE, CannotRun, odd
from odd.lives import PAUSE_S
from odd.network import (
    OURS,
    PORT,
    THEIRS,
    Far,
    bring_up,
    elsewhere,
    forward,
    ip,
    own_network,
    receiver,
    setting,
)
from odd.sends import copied_on_arrival
from odd.truth import Child, Truth

ETH_P_ALL, UDP_SEGMENT = 0x0003, 103
# A router's, towards the receiver, and that one's.
ROUTED = ("10.9.1.1", "10.9.1.2")
TIMES = 10
# What a sentence must not say of bytes that were copied behind the socket.
CLEAN = r"handed over as pages|not copied(?! by send)|without a (CPU )?copy|uncopied|clean"


def veth(child: Child) -> None:
    """A pair of devices: v0 here, v1 there."""
    ip("link", "add", "v0", "type", "veth", "peer", "name", "v1", "netns", child.pid)
    bring_up("v0", OURS)


def capture(device: str) -> socket.socket:
    """A packet capture on a device."""
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    tap.bind((device, ETH_P_ALL))
    return tap


def beyond_veth(truth: Truth, gathers: bool = True) -> tuple[Child, Far]:
    """A receiver in another namespace of this machine, and the sender's end; its device may gather, or not."""
    own_network()
    child = elsewhere(truth, receiver("v1"))
    veth(child)
    if not gathers:
        raw.without_scatter_gather("v0")
    return child, Far(truth, child)


@odd()
def to_container(truth: Truth) -> Iterator[None]:
    """A receiver in another namespace of this machine."""
    child, far = beyond_veth(truth)
    far.zero_copy(1)
    yield
    far.zero_copy(TIMES)
    far.end()


@odd()
def no_scatter_gather(truth: Truth) -> Iterator[None]:
    """ethtool -K sg off: the kernel copies every byte into one piece, and completions do not say so."""
    child, far = beyond_veth(truth, gathers=False)
    truth.never.append(CLEAN)
    far.zero_copy(1)
    yield
    far.zero_copy(TIMES)
    far.end()


@odd()
def splice_without_scatter_gather(truth: Truth) -> Iterator[None]:
    """The same, of pages of a pipe."""
    child, far = beyond_veth(truth, gathers=False)
    source, sink = os.pipe()
    truth.never.append(CLEAN)
    # On a route without scatter-gather the kernel copies at once where it does not splice.
    truth.unknown |= {"tx_copy", "tx_splice"}
    yield
    for _ in range(TIMES):
        left = os.write(sink, bytes(30_000))
        while left:
            left -= truth.sent("tx_splice", os.splice(source, far.socket.fileno(), left))
        child.tell(30_000)
        child.hear()
    truth.together.append((["tx_copy", "tx_splice"], 30_000 * TIMES))
    far.end()


@odd(ways=(LIFE,))
def datagrams_without_checksums(truth: Truth) -> Iterator[None]:
    """UDP_SEGMENT over a device that computes no checksums: before 6.11 the kernel copies all of it, and refuses then."""
    own_network()
    ip("link", "add", "v0", "type", "veth", "peer", "name", "v1")
    raw.without("v0", raw.ETHTOOL_STXCSUM)
    bring_up("v1")
    bring_up("v0", OURS)
    ip("neigh", "add", THEIRS, "lladdr", "02:00:00:00:00:02", "dev", "v0")
    # Its hooks are there when the window opens.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect((THEIRS, PORT))
        yield
        for _ in range(TIMES):
            try:
                truth.sent("tx_copy", sock.sendmsg(
                    [bytes(12_000)], [(socket.SOL_UDP, UDP_SEGMENT, struct.pack("H", 1200))]))
            except OSError as error:
                assert error.errno == errno.EIO
                truth.sums.update({"failed": 1, "failed_bytes": 12_000})


@odd()
def capture_on_sender(truth: Truth) -> Iterator[None]:
    """A packet capture on the device that sends."""
    child, far = beyond_veth(truth)
    tap = capture("v0")
    far.zero_copy(1)
    yield
    far.zero_copy(TIMES)
    tap.close()
    far.end()


@odd()
def capture_on_lo(truth: Truth) -> Iterator[None]:
    """A packet capture on the loopback device of a namespace."""
    own_network()
    a, b = truth.pair()
    tap = capture("lo")
    yield
    for _ in range(TIMES):
        truth.zero_copy(a, 20_000)
        truth.take(b, 20_000)
    truth.completions(a, TIMES)
    tap.close()


def beyond_bridge(truth: Truth, gathers: bool = True) -> tuple[Child, Far]:
    """A bridge in a third namespace, whose devices gather, or not, and the sender's end of a connection over it."""
    def bridges(own: Truth, line: Child) -> None:
        line.hear()
        ip("link", "add", "br0", "type", "bridge")
        bring_up("br0")
        for device in ("p0", "p1"):
            if not gathers:
                raw.without_scatter_gather(device)
            ip("link", "set", device, "master", "br0")
            bring_up(device)
        line.tell("bridges")
        line.hear()
    own_network()
    between, child = elsewhere(truth, bridges), elsewhere(truth, receiver("v1"))
    between_both(between, child)
    bring_up("v0", OURS)
    between.tell("devices are there")
    between.hear()
    return between, Far(truth, child)


@odd()
def bridge(truth: Truth) -> Iterator[None]:
    """A bridge in a third namespace."""
    between, far = beyond_bridge(truth)
    far.zero_copy(1)
    yield
    far.zero_copy(TIMES)
    copied_on_arrival(truth)
    truth.measured.add("late_copy")
    far.end()
    between.tell("end")
    truth.join(between)


def between_both(between: Child, child: Child) -> None:
    """v0 here to p0 between, p1 between to v1 there."""
    ip("link", "add", "v0", "type", "veth", "peer", "name", "p0", "netns", between.pid)
    ip("link", "add", "p1", "netns", between.pid, "type", "veth", "peer", "name", "v1", "netns", child.pid)


def beyond_router(truth: Truth, ends_set: Callable[[], None] = lambda: None) -> tuple[Child, Far]:
    """A router in a third namespace, and the sender's end of a connection over it; @ends_set: what router and receiver set."""
    def routes(own: Truth, line: Child) -> None:
        line.hear()
        bring_up("p0", THEIRS)
        bring_up("p1", ROUTED[0])
        setting("ipv4/ip_forward", 1)
        try:
            ends_set()
            line.tell("routes")
        except CannotRun as reason:
            line.tell(reason)
        line.hear()
    own_network()
    between = elsewhere(truth, routes)
    child = elsewhere(truth, receiver("v1", ROUTED[1], ROUTED[0], ends_set))
    between_both(between, child)
    bring_up("v0", OURS)
    ip("route", "add", "default", "via", THEIRS)
    between.tell("devices are there")
    if (word := between.hear()) != "routes":
        raise CannotRun(word)
    return between, Far(truth, child, ROUTED[1])


@odd()
def router(truth: Truth) -> Iterator[None]:
    """A router in a third namespace."""
    between, far = beyond_router(truth)
    far.zero_copy(1)
    yield
    far.zero_copy(TIMES)
    far.end()
    between.tell("end")
    truth.join(between)


@odd()
def tunnel(truth: Truth) -> Iterator[None]:
    """TUN devices in two namespaces, and a process that hands packets on, as a VPN does."""
    own_network()
    ours = raw.tun("t0")

    def hands_on_and_receives(own: Truth, line: Child) -> None:
        theirs = raw.tun("t1")
        threading.Thread(target=forward, args=(ours, theirs), daemon=True).start()
        receiver("t1")(own, line)
    child = elsewhere(truth, hands_on_and_receives)
    os.close(ours)
    bring_up("t0", OURS)
    far = Far(truth, child)
    far.zero_copy(1)
    yield
    far.zero_copy(TIMES)
    far.end()


@odd()
def receiver_dies(truth: Truth) -> Iterator[None]:
    """The receiver is killed with unread bytes: no completion is copied by a reader."""
    child, far = beyond_veth(truth)
    yield
    truth.zero_copy(far.socket, 10_000, 3)
    truth.completions(far.socket, 3)
    os.kill(child.pid, signal.SIGKILL)
    os.waitpid(child.pid, 0)
    far.socket.settimeout(PAUSE_S)
    with contextlib.suppress(TimeoutError):
        truth.drain(far.socket)


@odd()
def copied_on_lo(truth: Truth) -> Iterator[None]:
    """Loopback of a namespace of its own, from its first packet on."""
    own_network()
    a, b = truth.pair()
    yield
    for _ in range(TIMES):
        truth.zero_copy(a, 20_000)
        truth.take(b, 20_000)
    truth.completions(a, TIMES)
    copied_on_arrival(truth)
