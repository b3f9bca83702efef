# SPDX-License-Identifier: GPL-2.0
"""The ways a command ends early, each with its exit status."""


class CommandError(Exception):
    """One line for a person, and the status to exit with."""

    status = 1


class Unusable(CommandError):
    """What was given makes no sense: a word, a key, a file or a disk."""

    status = 2


class Refused(CommandError):
    """This machine cannot: not root, no BTF, not built, a program or a mirror missing."""

    status = 3
