# SPDX-License-Identifier: GPL-2.0
"""The ways a guest run ends early, each with its exit status."""


class GuestError(Exception):
    """One line for a person, and the status to exit with."""

    status = 1


class BootFailed(GuestError):
    """The guest died or hung before it began COMMAND: nothing has happened yet."""


class Usage(GuestError):
    """The caller asked for something that cannot be."""

    status = 2


class Refused(GuestError):
    """This machine cannot: a program, a mirror or a right is missing."""

    status = 3


class TimedOut(GuestError):
    """The command took longer than --timeout; the status is that of timeout(1)."""

    status = 124
