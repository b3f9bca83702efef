# SPDX-License-Identifier: GPL-2.0
"""The ways a sweep ends early, each with its exit status."""


class SweepError(Exception):
    """One line for a person, and the status to exit with."""

    status = 1


class Unusable(SweepError):
    """What was given makes no sense: a word, a key, a file or a disk."""

    status = 2


class Refused(SweepError):
    """This machine cannot: not root, no BTF, not built."""

    status = 3
