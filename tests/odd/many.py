# SPDX-License-Identifier: GPL-2.0
"""Odd programs: more sockets, namespaces or processes than tables have room for."""
from __future__ import annotations

import os
import resource
from collections.abc import Iterator

from odd import raw
from odd.frame import WHOLE, odd
from odd.network import own_network
from odd.truth import Child, Truth

SIZE = 200
# Of one listener: far less than there are local ports.
CONNECTIONS_OF_ONE, SPARE_FILES = 10_000, 100


@odd(words=("--by", "peer"))
def closed_by_thousands(truth: Truth) -> Iterator[None]:
    """More sockets close than the record keeps; the first one lives on."""
    a, b = truth.pair()
    count = 300 if truth.small else 1700
    yield
    for _ in range(count):
        c, d = truth.pair()
        truth.send(c, SIZE)
        truth.take(d, SIZE)
        c.close()
        d.close()
    truth.send(a, 5)
    truth.take(b, 5)
    truth.always.append(rf"{2 * count + 2:,} +0 B  127\.0\.0\.1")


@odd()
def namespaces(truth: Truth) -> Iterator[None]:
    """70 namespaces, more than a watch has room for, with a process each."""
    count = 12 if truth.small else 70

    def lives_there(own: Truth, line: Child) -> None:
        own_network()
        a, b = own.pair()
        line.tell("here")
        line.hear()
        own.send(a, SIZE)
        own.take(b, SIZE)
    yield
    children = [truth.child(lives_there) for _ in range(count)]
    for child in children:
        child.hear()
    for child in children:
        child.tell()
    for child in children:
        truth.join(child)


@odd(ways=(WHOLE,), alone=True)
def sockets(truth: Truth) -> Iterator[None]:
    """70,000 sockets at once, all of which send by MSG_ZEROCOPY: more than there are slots."""
    left = 400 if truth.small else 35_000
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    children = []
    yield
    while left:
        count = min(left, CONNECTIONS_OF_ONE, (most - SPARE_FILES) // 2)

        def holds(own: Truth, line: Child, count: int = count) -> None:
            for _ in range(count):
                a, b = own.pair()
                own.zero_copy(a, SIZE)
                own.take(b, SIZE)
            line.tell("holds")
            line.hear()
        children.append(truth.child(holds))
        children[-1].hear()
        left -= count
    for child in children:
        child.tell("end")
        truth.join(child)


@odd(ways=(WHOLE,), alone=True)
def forks(truth: Truth) -> Iterator[None]:
    """5,000 processes, each of which sends a little on one socket and ends: more than a record keeps."""
    a, b = truth.pair()
    count = 300 if truth.small else 5000
    yield
    for number in range(count):
        pid = os.fork()
        if not pid:
            raw.LIBC.send(a.fileno(), b"abc", 3, 0)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        truth.pids.append(pid)
        truth.sent("tx_copy", 3)
        if number % 100 == 99:
            truth.take(b, 300)
