# SPDX-License-Identifier: GPL-2.0
"""How many bytes a service's series take at most, so that a scrape stays below 1.25 MiB. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from copyscope.common.metric_names import (
    CALLS,
    METRICS,
    RECEIVED_WAYS,
    SENT_WAYS,
    SERVICE,
    VALUES,
    WHO,
    Metric,
)

from .numbers import CALL_MOST, HOLD_MOST

MOST = 5 << 18
# A number as text, and what stands around it.
VALUE = len("-1.2345678901234567e+308\n") + len("{} ")
LE = 'le="4.294967295e+09",'
# What is of no service: at most so many lines, and what tells of each metric.
LINES, LINE = 80, 240
ROOM = MOST - LINES * LINE - sum(2 * len(each.name) + len(each.meaning) + 40 for each in METRICS)


@dataclass(frozen=True)
class Features:
    """What was asked of the watch besides."""

    cpu: bool
    sizes: bool


def samples_of(metric: Metric, features: Features) -> list[str]:
    """Name and labels of its own of every sample that a service may have of a metric."""
    if (
        metric.needs == "--cpu"
        and not features.cpu
        or metric.needs == "--sizes"
        and not features.sizes
    ):
        return []
    own: list[list[str]]
    if metric.name == "copyscope_site_bytes_total":
        own = [["direction", "either", "site", site] for site in VALUES["site"]]
    elif metric.labels == ("way",):
        own = [["way", way] for way in (SENT_WAYS if "sent" in metric.name else RECEIVED_WAYS)]
    elif metric.labels == ("call", "way"):
        own = [["call", call, "way", way] for call, ways in CALLS.items() for way in ways]
    elif metric.labels == ("cause",):
        own = [["cause", max(VALUES["cause"], key=len)]] * CAUSES_AT_ONCE
    else:
        own = (
            [[metric.labels[0], value] for value in VALUES[metric.labels[0]]]
            if metric.labels
            else [[]]
        )
    texts = [
        metric.name + "".join(f'{name}="{value}",' for name, value in zip(each[::2], each[1::2]))
        for each in own
    ]
    if metric.kind != "histogram":
        return texts
    most = CALL_MOST if metric.labels == ("call", "way") else HOLD_MOST
    ends = [f"_bucket{LE}"] * (len(most) + 1) + ["_count", "_sum"]
    return [text + end for text in texts for end in ends]


# A watch tells so many causes of late copies of one process.
CAUSES_AT_ONCE = 5


@cache
def all_samples(features: Features) -> tuple[int, int]:
    """How many samples a service may have, and what they take without the labels of who."""
    texts = [text for metric in SERVICE for text in samples_of(metric, features)]
    return len(texts), sum(map(len, texts)) + VALUE * len(texts)


def escaped_bytes(text: str) -> int:
    """A label's value in the format."""
    return len(text.encode()) + sum(text.count(each) for each in '\\"\n')


def most_of(who: tuple[str, ...], features: Features) -> int:
    """All series of a service."""
    samples, fixed = all_samples(features)
    labels = sum(len(name) + 4 + escaped_bytes(value) for name, value in zip(WHO, who) if value)
    return fixed + samples * labels
