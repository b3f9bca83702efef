# SPDX-License-Identifier: GPL-2.0
"""Odd programs: devices that wrap, tag, encrypt or share out packets, at both ends."""
from __future__ import annotations

from collections.abc import Callable, Iterator

from odd.devices import CLEAN, TIMES
from odd.frame import needed, odd
from odd.netlink import wireguard as keys_of
from odd.network import OURS, THEIRS, Far, bring_up, elsewhere, ip, own_network, receiver
from odd.sends import copied_on_arrival
from odd.stacked import splices
from odd.truth import Truth

UNDER = ("10.8.0.1", "10.8.0.2")
MACS = ("02:00:00:00:00:01", "02:00:00:00:00:02")
KEYS = ("5a" * 16, "a5" * 16)

# X25519: private and public ones of each end.
PAIRS = [tuple(map(bytes.fromhex, pair)) for pair in (
    ("603d0ce21b4eae1c4f64188da66b9fc858696d65f3bba6cb6bf80f726970035e",
     "21a83314604202e396cc4a3d4204df56bd2723d61f61f28d8eb6bdeb32e5af0d"),
    ("b857cebe32f0e02484e9ac1a12191b6642e0f3c3be72e53c3ee8769783913b71",
     "7348af03b23b888b26e1bd04116a5a7ae3680811f863024a8c4bdab82832ed76"))]


def top(kind: str, *words: str) -> Callable[[int], None]:
    """A device over the one of an end, 0 or 1."""
    def made(end: int) -> None:
        bring_up(f"v{end}")
        ip("link", "add", "link", f"v{end}", "name", "top", "type", kind, *words)
    return made


def tunnel_of(kind: str, *words: str, local: bool = True) -> Callable[[int], None]:
    """A tunnel between addresses that the devices of both ends have; its MTU leaves room for what it adds."""
    def made(end: int) -> None:
        bring_up(f"v{end}", UNDER[end])
        ip("link", "add", "top", "type", kind, *words, "remote", UNDER[1 - end],
           *(("local", UNDER[end], "dev", f"v{end}") if local else ()))
    return made


def master(kind: str, *words: str) -> Callable[[int], None]:
    """A device that the one of an end belongs to."""
    def made(end: int) -> None:
        ip("link", "add", "top", "type", kind, *words)
        ip("link", "set", f"v{end}", "master", "top")
        bring_up(f"v{end}")
    return made


def macsec_of(end: int) -> None:
    """MACsec with keys that both ends know."""
    ip("link", "set", f"v{end}", "address", MACS[end])
    bring_up(f"v{end}")
    ip("link", "add", "link", f"v{end}", "name", "top", "type", "macsec", "port", 1, "encrypt", "on")
    ip("macsec", "add", "top", "tx", "sa", 0, "pn", 1, "on", "key", "01", KEYS[end])
    peer = ("rx", "port", 1, "address", MACS[1 - end])
    ip("macsec", "add", "top", *peer)
    ip("macsec", "add", "top", *peer, "sa", 0, "pn", 1, "on", "key", "01", KEYS[1 - end])


def wireguard_of(end: int) -> None:
    """WireGuard with keys that both ends know."""
    bring_up(f"v{end}", UNDER[end])
    ip("link", "add", "top", "type", "wireguard")
    needed(keys_of, "top", 51820, PAIRS[end][0], PAIRS[1 - end][1], UNDER[1 - end])


def between(truth: Truth, made: Callable[[int], None]) -> Far:
    """A connection over such devices."""
    own_network()
    child = elsewhere(truth, receiver("top", stack=lambda: made(1)))
    ip("link", "add", "v0", "type", "veth", "peer", "name", "v1", "netns", child.pid)
    made(0)
    bring_up("top", OURS)
    return Far(truth, child, THEIRS)


def both_kinds(truth: Truth, far: Far) -> Iterator[None]:
    """Sends by MSG_ZEROCOPY, and sendfile()."""
    far.zero_copy(1)
    splices(truth, far, 1)
    yield
    far.zero_copy(TIMES)
    splices(truth, far, TIMES)
    far.end()


def copied_there(truth: Truth, far: Far) -> Iterator[None]:
    """What is sent by MSG_ZEROCOPY is copied once, where it arrives; pages of files are handed over."""
    yield from both_kinds(truth, far)
    copied_on_arrival(truth)


def copied_once(truth: Truth, made: Callable[[int], None]) -> Iterator[None]:
    """Over such devices."""
    yield from copied_there(truth, between(truth, made))


@odd()
def macsec(truth: Truth) -> Iterator[None]:
    """The device encrypts into memory of its own."""
    truth.never.append(CLEAN)
    yield from both_kinds(truth, between(truth, macsec_of))


@odd()
def wireguard(truth: Truth) -> Iterator[None]:
    """The device makes one piece of each packet, which it encrypts in place."""
    truth.never.append(CLEAN)
    yield from both_kinds(truth, between(truth, wireguard_of))


@odd()
def vlan(truth: Truth) -> Iterator[None]:
    """Tagged."""
    yield from copied_once(truth, top("vlan", "id", "5"))


@odd()
def vxlan(truth: Truth) -> Iterator[None]:
    """Wrapped into UDP."""
    yield from copied_once(truth, tunnel_of("vxlan", "id", "42", "dstport", "4789"))


@odd()
def geneve(truth: Truth) -> Iterator[None]:
    """Wrapped into UDP, by another kind of tunnel."""
    yield from copied_once(truth, tunnel_of("geneve", "id", "42", local=False))


@odd()
def gre(truth: Truth) -> Iterator[None]:
    """Wrapped into IP."""
    yield from copied_once(truth, tunnel_of("gretap"))


@odd()
def bond(truth: Truth) -> Iterator[None]:
    """The device is one of a bond."""
    yield from copied_once(truth, master("bond", "mode", "active-backup", "miimon", "100"))


@odd()
def bridged_at_both_ends(truth: Truth) -> Iterator[None]:
    """The device is in a bridge of its own at both ends."""
    yield from copied_once(truth, master("bridge"))
