# SPDX-License-Identifier: GPL-2.0
"""Odd programs: devices of this machine one after the other, as containers have them, and XDP on them."""
from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator

from odd import raw
from odd.devices import CLEAN, ROUTED, TIMES, beyond_bridge, beyond_router, veth
from odd.frame import BY_TRACEPOINTS, WHOLE, needed, odd
from odd.network import OURS, THEIRS, Far, bring_up, elsewhere, ip, own_network, receiver
from odd.sends import copied_on_arrival, file_of, send_file
from odd.truth import Child, Truth

SIZE = 50_000
HANDED_OVER = r"all\s+of\s+it\s+was\s+handed\s+over\s+as\s+pages"


def on_bridge() -> None:
    """A bridge over the device there, as docker0 is: its own arrival is the second one of a packet."""
    ip("link", "add", "br0", "type", "bridge")
    ip("link", "set", "v1", "master", "br0")
    bring_up("v1")


def over(kind: str, *words: str) -> Callable[[], None]:
    """A device of that kind over the one there."""
    def stack() -> None:
        bring_up("v1")
        ip("link", "add", "link", "v1", "name", "top", "type", kind, *words)
    return stack


def far_on(truth: Truth, device: str, stack: Callable[[], None], ours: Callable[[], None] | None = None) -> Far:
    """A receiver on a stack of devices, and the sender's end on veth or a stack of its own."""
    own_network()
    child = elsewhere(truth, receiver(device, stack=stack))
    if ours:
        ip("link", "add", "v0", "type", "veth", "peer", "name", "v1", "netns", child.pid)
        bring_up("v0")
        ours()
        bring_up("low", OURS)
    else:
        veth(child)
    return Far(truth, child)


def copied_once(truth: Truth, far: Far) -> Iterator[None]:
    """Sends by MSG_ZEROCOPY, each of which is copied once."""
    far.zero_copy(1)
    truth.measured.add("late_copy")
    yield
    far.zero_copy(TIMES)
    copied_on_arrival(truth)
    far.end()


@odd()
def bridge_to_host(truth: Truth) -> Iterator[None]:
    """A container sends to its host, whose address its bridge has."""
    yield from copied_once(truth, far_on(truth, "br0", on_bridge))


@odd()
def macvlan(truth: Truth) -> Iterator[None]:
    """The receiver is on a macvlan over veth."""
    yield from copied_once(truth, far_on(truth, "top", over("macvlan", "mode", "bridge")))


@odd()
def ipvlan(truth: Truth) -> Iterator[None]:
    """The receiver is on an ipvlan over veth."""
    yield from copied_once(truth, far_on(truth, "top", over("ipvlan", "mode", "l2")))


@odd()
def macvlan_on_both(truth: Truth) -> Iterator[None]:
    """Both ends are on a macvlan over veth: each packet leaves two devices."""
    def ours() -> None:
        ip("link", "add", "link", "v0", "name", "low", "type", "macvlan", "mode", "bridge")
    yield from copied_once(truth, far_on(truth, "top", over("macvlan", "mode", "bridge"), ours))


def encrypted() -> None:
    """IPsec (ESP in transport mode) between the two addresses."""
    for spi, (source, target) in enumerate(((OURS, THEIRS), (THEIRS, OURS)), 0x1001):
        ip("xfrm", "state", "add", "src", source, "dst", target, "proto", "esp", "spi", spi, "reqid", 1, "mode",
           "transport", "aead", "rfc4106(gcm(aes))", "0x" + "5a" * 20, 128)
    for way, (source, target) in (("out", (OURS, THEIRS)), ("in", (THEIRS, OURS)), ("out", (THEIRS, OURS)),
                                  ("in", (OURS, THEIRS))):
        ip("xfrm", "policy", "add", "src", source, "dst", target, "dir", way, "tmpl", "src", source, "dst", target,
           "proto", "esp", "reqid", 1, "mode", "transport")


@odd()
def ipsec(truth: Truth) -> Iterator[None]:
    """The kernel encrypts into packets, so it moves each byte into memory of its own first; completions say COPIED."""
    own_network()
    child = elsewhere(truth, receiver("v1", stack=encrypted))
    veth(child)
    encrypted()
    far = Far(truth, child)
    truth.never.append(CLEAN)
    far.zero_copy(1)
    yield
    far.zero_copy(2)
    far.end()


def splices(truth: Truth, far: Far, times: int) -> None:
    """sendfile() of bytes that arrive."""
    with file_of(SIZE) as file:
        for _ in range(times):
            send_file(truth, far.socket, file, SIZE)
            far.child.tell(SIZE)
            far.child.hear()


@odd(ways=(WHOLE,))
def spliced_to_bridge(truth: Truth) -> Iterator[None]:
    """sendfile() of a container to its host: the pages of the file reach the receiver."""
    far = far_on(truth, "br0", on_bridge)
    splices(truth, far, 1)
    truth.always.append(HANDED_OVER)
    yield
    splices(truth, far, TIMES)
    far.end()


def spliced_on(truth: Truth, ends: tuple[Child, Far]) -> Iterator[None]:
    """sendfile() of a container to another, over a bridge or a router."""
    between, far = ends
    splices(truth, far, 1)
    yield
    splices(truth, far, TIMES)
    far.end()
    between.tell("end")
    truth.join(between)


@odd(ways=(WHOLE,), alone=True)
def spliced_on_over_bridge(truth: Truth) -> Iterator[None]:
    """Its devices take pages, and the receiver gets those of the file."""
    truth.always.append(HANDED_OVER)
    yield from spliced_on(truth, beyond_bridge(truth))


@odd()
def spliced_on_without_scatter_gather(truth: Truth) -> Iterator[None]:
    """Its devices take no pages: the kernel copies them there."""
    truth.never.append(CLEAN)
    yield from spliced_on(truth, beyond_bridge(truth, gathers=False))


def encrypted_by_router() -> None:
    """IPsec (ESP in tunnel mode) from a router to the receiver alone."""
    way = ("src", ROUTED[0], "dst", ROUTED[1], "proto", "esp", "reqid", 1, "mode", "tunnel")
    ip("xfrm", "state", "add", *way[:6], "spi", 0x1001, *way[6:], "aead", "rfc4106(gcm(aes))", "0x" + "5a" * 20, 128)
    for where in ("out", "in"):
        ip("xfrm", "policy", "add", "src", f"{OURS}/32", "dst", f"{ROUTED[1]}/32", "dir", where, "tmpl", *way)


@odd()
def spliced_on_encrypted(truth: Truth) -> Iterator[None]:
    """The router encrypts what it hands on, into memory of its own."""
    truth.never.append(CLEAN)
    yield from spliced_on(truth, beyond_router(truth, encrypted_by_router))


@odd(words=BY_TRACEPOINTS)
def spliced_on_encrypted_by_tracepoints(truth: Truth) -> Iterator[None]:
    """No hook sees it at work."""
    yield from spliced_on_encrypted(truth)


def spliced_to_xdp(truth: Truth, flags: int) -> Iterator[None]:
    """sendfile() to a veth with an XDP program, for which the kernel copies each packet."""
    links: list[int] = []
    far = far_on(truth, "v1", lambda: links.append(needed(raw.attach_xdp, "v1", flags)))
    truth.never.append(CLEAN)
    splices(truth, far, 1)
    yield
    splices(truth, far, TIMES)
    far.end()


@odd()
def spliced_to_xdp_of_stack(truth: Truth) -> Iterator[None]:
    """The program is the stack's (generic)."""
    yield from spliced_to_xdp(truth, raw.XDP_BY_STACK)


@odd()
def spliced_to_xdp_of_driver(truth: Truth) -> Iterator[None]:
    """The program is the driver's (native)."""
    yield from spliced_to_xdp(truth, raw.XDP_BY_DRIVER)


@odd()
def spliced_to_xdp_on_lo(truth: Truth) -> Iterator[None]:
    """The program is on loopback."""
    own_network()
    link = needed(raw.attach_xdp, "lo", raw.XDP_BY_STACK)
    a, b = truth.pair()
    truth.never.append(CLEAN)
    yield
    with file_of(SIZE) as file:
        for _ in range(TIMES):
            send_file(truth, a, file, SIZE)
            truth.take(b, SIZE)
    os.close(link)


@odd()
def another_address_here(truth: Truth) -> Iterator[None]:
    """A program that copies, to another address of its own machine: its packets come by loopback."""
    own_network()
    ip("addr", "add", f"{OURS}/32", "dev", "lo")
    ip("addr", "add", "10.9.5.5/32", "dev", "lo")
    server = socket.create_server((OURS, 0))
    a = socket.create_connection(server.getsockname(), source_address=("10.9.5.5", 0))
    b, _ = server.accept()
    truth.kept += a, b
    truth.send(a, SIZE)
    truth.take(b, SIZE)
    truth.always.append(r"receivers\s+are\s+on\s+this\s+machine")
    yield
    for _ in range(TIMES * TIMES):
        truth.send(a, SIZE)
        truth.take(b, SIZE)
