# SPDX-License-Identifier: GPL-2.0
"""Judges ratios of two suites: they agree, differ for a measured cause, or differ; pure."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from copyscope.common.spread import Spread, spread

from .pairs import Pair

LEAST, MOST = 0.8, 1.25
AGREES, EXPLAINED, OPEN = "agrees", "explained", "not explained"


@dataclass(frozen=True)
class Values:
    """One comparison, round by round, in our row's unit."""

    ours: Sequence[float]
    theirs: Sequence[float]

    @property
    def ratio(self) -> Spread:
        """Median of the rounds' ratios: what changes between rounds drops out."""
        return spread([mine / other for mine, other in zip(self.ours, self.theirs)])


@dataclass(frozen=True)
class Verdict:
    """The verdict on one pair."""

    pair: Pair
    plain: Values
    alike: Values | None

    @property
    def kind(self) -> str:
        """Whether they agree as they stand, with the cause removed, or neither."""
        if near(self.plain.ratio.middle):
            return AGREES
        return EXPLAINED if self.alike and near(self.alike.ratio.middle) else OPEN


def near(ratio: float) -> bool:
    """Within what two suites of one machine may differ by."""
    return LEAST <= ratio <= MOST
