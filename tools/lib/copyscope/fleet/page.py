# SPDX-License-Identifier: GPL-2.0
"""Writes the answer as one page of HTML, which fetches nothing and escapes all text."""
from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from copyscope.common.templates import templates
from copyscope.common.text import bytes_text

from . import text
from .answer import MOST_CHOSEN, Answer, Service, Steps

WIDTH, HEIGHT = 720, 180
MOST_BARS = 12


class Bar(NamedTuple):
    """A service in the picture: how long both parts are, in hundredths of the longest."""

    name: str
    host: str
    copied: float
    spared: float
    told: str


def bars(told: Answer) -> list[Bar]:
    """Services that had most copied after all, and what they asked for beside."""
    found = [each for each in told.asking if each.of("needless")][:MOST_BARS]
    longest = max((max(each.of("asked"), each.of("needless")) for each in found), default=0)
    return [Bar(text.name_of(each), each.host, 100 * each.of("needless") / longest,
                100 * max(each.of("asked") - each.of("needless"), 0) / longest,
                f"{text.amount(each.of('needless'))} of {text.amount(each.of('asked'))}")
            for each in found]


def line(steps: Steps, told: Answer, most: float) -> list[str]:
    """A course as points of a line; a gap where nothing was read begins another."""
    pieces: list[list[str]] = [[]]
    before = None
    gap = 1.5 * min((later - first for (first, _), (later, _) in zip(steps, steps[1:])), default=0)
    for when, value in steps:
        if before is not None and when - before > gap:
            pieces.append([])
        before = when
        pieces[-1].append(f"{WIDTH * (when - told.begin) / told.window_s:.1f},"
                          f"{HEIGHT * (1 - value / most):.1f}")
    return [" ".join(each) for each in pieces if len(each) > 1]


def course(told: Answer) -> dict[str, Any] | None:
    """Both rates over time, if there are any."""
    most = max((value for steps in told.course for _, value in steps), default=0)
    if not most:
        return None
    asked, copied = (line(steps, told, most) for steps in told.course)
    quarters = [told.begin + told.window_s * part / 4 for part in range(5)]
    return {"asked": asked, "copied": copied, "most": f"{bytes_text(round(most))}/s",
            "half": f"{bytes_text(round(most / 2))}/s", "width": WIDTH, "height": HEIGHT,
            "times": [(WIDTH * part / 4, text.clock(when, told.begin, told.end))
                      for part, when in enumerate(quarters)]}


def service_row(each: Service, told: Answer) -> list[str]:
    """A service with the whole name of its cgroup, and with all causes."""
    _, _, *numbers, cause = text.service_row(each, told)
    causes = sorted(each.causes.items(), key=lambda row: -row[1])
    if len(causes) > 1:
        cause = ", ".join(f"{name} {text.amount(count)}" for name, count in causes)
    return [each.host, each.labels.get("comm", ""), each.labels.get("cgroup", ""), *numbers, cause]


def page(told: Answer) -> str:
    """The whole page."""
    rows = [service_row(each, told) for each in told.chosen]
    names: dict[str, Any] = {
        "sentences": text.sentences(told), "window": text.window_text(told), "url": told.url,
        "bars": bars(told), "course": course(told), "left_out": len(told.asking) - len(told.chosen),
        "numbers": text.NUMBERS,
        "services": text.without_cpu(["host", "program", "cgroup", *text.SERVICE_HEAD[2:]], rows),
        "remedies": (text.CAUSE_HEAD, text.remedies(told.chosen)),
        "moved": text.without_cpu(text.MOVED_HEAD,
                                  [text.moved_row(each) for each in told.moving[:MOST_CHOSEN]]),
        "moved_left_out": max(0, len(told.moving) - MOST_CHOSEN),
        "unknown": (text.UNKNOWN_HEAD, text.unknown_rows(told)),
        "kernels": text.without_cpu(text.KERNEL_HEAD, text.kernel_rows(told)),
        "hosts": text.without_cpu(text.HOST_HEAD, text.host_rows(told)[:MOST_CHOSEN])}
    return templates(Path(__file__).parent).get_template("page.html").render(names)
