# SPDX-License-Identifier: GPL-2.0
"""Odd programs: addresses that the kernel translates, so that an address here is no receiver here, or the reverse."""
from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator

from odd.devices import TIMES, veth
from odd.frame import LIFE, WHOLE, CannotRun, needed, odd
from odd.netlink import serve_elsewhere, translate
from odd.network import (
    OURS,
    PORT,
    THEIRS,
    Far,
    bring_up,
    connected,
    elsewhere,
    ip,
    own_network,
    receiver,
)
from odd.sends import copied_on_arrival
from odd.stacked import SIZE
from odd.truth import Child, Truth
from odd.wrapped import copied_there


@odd()
def dnat_to_container(truth: Truth) -> Iterator[None]:
    """DNAT: a container has what is sent to an address of ours."""
    own_network()
    child = elsewhere(truth, receiver("v1"))
    veth(child)
    needed(translate, THEIRS)
    yield from copied_there(truth, Far(truth, child, OURS))


@odd()
def ipvs_to_container(truth: Truth) -> Iterator[None]:
    """IPVS, masquerading: the same."""
    own_network()
    child = elsewhere(truth, receiver("v1"))
    veth(child)
    needed(serve_elsewhere, OURS, PORT, THEIRS)
    yield from copied_there(truth, Far(truth, child, OURS))


def dnat_to_host(truth: Truth) -> Far:
    """DNAT: what is sent to an address of ours leaves by a card."""
    devices = os.environ.get("ODD_NICS", "").split()
    if not devices:
        raise CannotRun("no card is a program's own")

    def moves(own: Truth, line: Child) -> None:
        for device in devices:
            pid = line.hear()
            # The kernel brings it back some time after its last namespace ended.
            while device not in (name for _, name in socket.if_nameindex()):
                time.sleep(0.05)
            ip("link", "set", device, "netns", pid)
        line.tell("moved")
    # It stays where the cards are.
    mover = truth.child(moves)
    own_network()
    child = elsewhere(truth, receiver(devices[1]))
    for pid in (os.getpid(), child.pid):
        mover.tell(pid)
    mover.hear()
    truth.join(mover)
    bring_up(devices[0], OURS)
    needed(translate, THEIRS)
    return Far(truth, child, OURS)


@odd(ways=(LIFE,))
def zero_copy_to_dnat(truth: Truth) -> Iterator[None]:
    """By MSG_ZEROCOPY, which is not copied on its way."""
    far = dnat_to_host(truth)
    far.zero_copy(1)
    yield
    far.zero_copy(TIMES)
    assert not truth.sums["copied"]
    truth.sums["late_copy"] = 0
    far.end()


@odd(ways=(WHOLE,))
def plain_to_dnat(truth: Truth) -> Iterator[None]:
    """By plain sends, of which nothing says that their receiver is here: MSG_ZEROCOPY would pay."""
    far = dnat_to_host(truth)
    truth.never.append(r"receivers are on this machine")
    yield
    for _ in range(TIMES):
        truth.send(far.socket, SIZE)
        far.child.tell(SIZE)
        far.child.hear()
    far.end()


@odd()
def zero_copy_to_dnat_here(truth: Truth) -> Iterator[None]:
    """DNAT: a receiver here has what is sent to an address that is not ours, and whose route leads elsewhere."""
    own_network()
    ip("link", "add", "v0", "type", "veth", "peer", "name", "v1")
    bring_up("v1")
    bring_up("v0", OURS)
    ip("route", "add", "default", "dev", "v0")
    needed(translate, OURS)
    server = socket.create_server((OURS, PORT))
    a = connected("10.66.0.1")
    b, _ = server.accept()
    truth.kept += a, b
    truth.measured.add("late_copy")
    for times in (1, TIMES):
        for _ in range(times):
            truth.zero_copy(a, SIZE)
            truth.take(b, SIZE)
        truth.completions(a, times)
        copied_on_arrival(truth)
        if times == 1:
            yield
