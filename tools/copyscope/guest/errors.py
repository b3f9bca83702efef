# SPDX-License-Identifier: GPL-2.0
"""The ways a guest run ends early that other commands do not know."""
from copyscope.errors import CommandError


class BootFailed(CommandError):
    """The guest died or hung before it began COMMAND: nothing has happened yet."""


class TimedOut(CommandError):
    """The command took longer than --timeout; the status is that of timeout(1)."""

    status = 124
