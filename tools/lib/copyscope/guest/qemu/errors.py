# SPDX-License-Identifier: GPL-2.0
"""The ways a guest run ends early that other commands do not know."""
import signal

from copyscope.common.errors import CommandError


class BootFailed(CommandError):
    """The guest died or hung before it began COMMAND: nothing has happened yet."""


class TimedOut(CommandError):
    """The command took longer than --timeout; the status is that of timeout(1)."""

    status = 124


class NotEnded(CommandError):
    """The command had not ended a while after a signal; the status tells of the signal."""

    def __init__(self, number: int, seconds: float) -> None:
        super().__init__(f"the guest was stopped: its command had not ended {seconds:g} s after "
                         f"{signal.Signals(number).name}")
        self.status = 128 + number
