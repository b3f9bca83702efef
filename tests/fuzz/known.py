# SPDX-License-Identifier: GPL-2.0
"""What random programs found: the calls that provoked it. A seed alone seldom repeats, as calls depend on time."""
from __future__ import annotations

from dataclasses import dataclass

from fuzz.draw import WHOLE, Draw, draw

# Programs in one window, so that one at least meets the fault however busy the machine is.
TOGETHER = 24
CALM = ("executes=0", "threads=0", "fast_open=0", "urgent=0")


@dataclass(frozen=True)
class Known:
    """A fault that was mended, by name: what was wrong, calls that provoked it; calls of each program."""
    name: str
    wrong: str
    calls: str
    most: int = 400

    def drawn(self) -> Draw:
        """The watch that showed it."""
        return draw(range(1, 1 + TOGETHER), (*CALM, f"second={self.most}", f"only=connect,{self.calls}"), WHOLE, ())


KNOWN = [
    Known("R1", "what was read in an earlier life of a socket that is connected anew was lost",
          "send,recv,connect_anew", most=300),
    Known("B3", "a send by reference of io_uring that fails counted", "ring_send,zerocopy,close"),
    Known("A3", "a mapped receive that copies, then one that faults or the error queue: the copy was taken off",
          "send,map,recv_fault,peek_fault,error_queue,zerocopy"),
    Known("B6", "referenced pages and pages of a pipe in one packet broke a law", "send,zerocopy,splice,recv,sendfile"),
]
