# SPDX-License-Identifier: GPL-2.0
"""Every way to send and to receive: a row of the table of variants or of receivers, and who is at
the other end when it is shown.
"""
from __future__ import annotations

from dataclasses import dataclass

from copyscope.common.tables import RECEIVERS, TABLES

# Of tools/facts: how many system calls a way takes for so many messages, more than the few calls
# of the workload's start and end weigh.
CALLS, CALLS_OF = "system-calls", 4000
# What every other way is held against.
PLAIN, RECV = "A1-plain", RECEIVERS[0]
# One that arrives wrong, or whose completions are never read, is a mistake and no way.
SENDERS = tuple(row["name"] for row in TABLES["variants"] if not row["overwrites"]
                and (row["reads_completions"] or not row["references"]))
# Who sends to a receiver that the plain sender does not suit.
SENDER_TO = {"map": "A3", "ktls": "ktls", "ktls-1.2": "ktls-1.2"}


@dataclass(frozen=True)
class Way:
    """A way to send or to receive, and the two ends that show it."""

    end: str                    # "send" or "receive"
    name: str
    variant: str
    receiver: str

    @property
    def word(self) -> str:
        """Both ends in a word; the plain receiver goes without saying."""
        return self.variant if self.receiver == RECV else f"{self.variant}:{self.receiver}"


def sender_to(receiver: str) -> str:
    """Who sends when a receiver is shown."""
    found = SENDER_TO.get(receiver, PLAIN)
    return found if found in SENDERS else PLAIN


# A sender is read by the receiver that trace_run takes if none is named.
WAYS = tuple(Way("send", each, each, RECV) for each in SENDERS) + \
    tuple(Way("receive", each, sender_to(each), each) for each in RECEIVERS)
