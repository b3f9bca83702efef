# SPDX-License-Identifier: GPL-2.0
"""What random programs found that is wrong still: programs that provoke it, and the kind of fault they show.

Whoever mends one takes its row away, and its words from PLAIN.
"""
from __future__ import annotations

from dataclasses import dataclass

from fuzz.draw import WHOLE, Draw, draw

# Programs in one window, so that one at least meets the fault however busy the machine is.
TOGETHER = 24
CALM = ("executes=0", "threads=0", "fast_open=0", "urgent=0")


@dataclass(frozen=True)
class Known:
    """A fault by name: what is wrong, calls that provoke it, how compare.py calls it; calls of each program."""
    name: str
    wrong: str
    calls: str
    kind: str
    most: int = 400

    def drawn(self) -> Draw:
        """The watch that shows it."""
        return draw(range(1, 1 + TOGETHER), (*CALM, f"second={self.most}", f"only=connect,{self.calls}"), WHOLE, ())


KNOWN = [
    Known("R1", "what was read in an earlier life of a socket that is connected anew is lost",
          "send,recv,connect_anew", "wrong returned_bytes", most=300),
    Known("B3", "a send by reference of io_uring that fails counts", "ring_send,zerocopy,close", "wrong zerocopy_sends"),
    Known("A3", "a mapped receive that copies, then one that faults or the error queue: the copy is taken off",
          "send,map,recv_fault,peek_fault,error_queue,zerocopy", "wrong rx_copy"),
    Known("B6", "referenced pages and pages of a pipe in one packet", "send,zerocopy,splice,recv,sendfile",
          "false BROKEN reference queue"),
]
# Words for programs without what provokes any of these. Two more have no row, as too few programs show them: R2, a
# zero-copy send that faults counts (send_fault), and laws of urgent bytes that are skipped.
PLAIN = ("without=connect_anew,ring_send,map,splice,send_fault", "urgent=0")
