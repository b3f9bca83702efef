# SPDX-License-Identifier: GPL-2.0
"""What is wrong with a predicate, and at which character of its text."""
from __future__ import annotations


class Fault(Exception):
    """A predicate that cannot be used; `at` counts characters from 0."""

    def __init__(self, at: int, reason: str) -> None:
        super().__init__(reason)
        self.at, self.reason = at, reason
