# SPDX-License-Identifier: GPL-2.0
"""The services of a watch, each as one process: what all of its processes moved and took."""
from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from copyscope.report import cpu, figures, sizes
from copyscope.report.rows import grouped, told_of

Document = dict[str, Any]


def summed(rows: Iterable[Document], key: Callable[[Document], Hashable],
           numbers: tuple[str, ...]) -> list[Document]:
    """Rows of one key as one row with the sums of these numbers; None: one of them is not known."""
    found: dict[Hashable, list[Document]] = {}
    for each in rows:
        found.setdefault(key(each), []).append(each)
    return [{**mine[0], **{name: figures.plus(each[name] for each in mine) for name in numbers}}
            for mine in found.values()]


def how(parts: list[Document], site: str) -> str:
    """How the sum of a site is known."""
    found = {each["sites"][site]["how"] for each in parts}
    return found.pop() if len(found) == 1 else \
        "not_measured" if "not_measured" in found else "derived"


def sum_of(parts: list[Document]) -> Document:
    """The sums of processes as one."""
    added = figures.added(parts)
    return {**parts[0], "sockets": sum(each["sockets"] for each in parts),
            "sites": {site: {**each, "how": how(parts, site)}
                      for site, each in added["sites"].items()},
            "counts": added["counts"],
            "fate": {name: figures.plus(figures.fate(each, name) for each in parts)
                     for name in parts[0]["fate"]}}


def cpu_of(parts: list[Document]) -> Document | None:
    """Samples of the clock; None if none was of them."""
    uses = [use for each in parts if (use := each.get("cpu"))]
    if not uses:
        return None
    samples, copies = (sum(found) for found in zip(
        *((each["samples"], each["copies"]["samples"]) for each in uses)))
    return {"samples": samples, "clock_seconds": sum(each["clock_seconds"] for each in uses),
            "copies": {"samples": copies, **cpu.interval(copies, samples)}}


def as_one(parts: list[Document]) -> Document:
    """The processes of a service as one, which has `pids`; its `pid` is None if there are several.
    What else it tells is that of the first."""
    pids = [each["pid"] for each in parts]
    if len(parts) == 1:
        return {**parts[0], "pids": pids}
    causes = summed((found for each in parts for found in each.get("causes") or ()),
                    lambda each: (each["cause"], each["site"]), ("bytes",))
    by_ring = any((each.get("holds") or {}).get("by_ring") for each in parts)
    return {**parts[0], "pid": None, "pids": pids, "sum": sum_of([each["sum"] for each in parts]),
            "sizes": sizes.merged([each.get("sizes") or [] for each in parts]), "causes": causes,
            "cpu": cpu_of(parts), "holds": {"by_ring": by_ring}}


def services(data: Document) -> list[tuple[str, Document]]:
    """Name and numbers of each service that may have moved payload, as rows of a watch name it."""
    found = []
    for name, every in grouped(data, "service").items():
        parts = told_of(every)
        if parts:
            several = f", {len(parts)} processes" if len(parts) > 1 else ""
            found.append((f"{name}{several}", as_one(parts)))
    return found
