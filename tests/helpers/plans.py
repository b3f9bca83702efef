# SPDX-License-Identifier: GPL-2.0
"""Makes plans as a sweep keeps them."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

SETTINGS = {"message_bytes": None, "figures_of": "all", "throughput_is": "elapsed",
            "latency_is": "measured", "end": "sender", "note": "made", "path": "veth",
            "pattern": "stream", "threads_are": "connections"}


def point(name: str, label: str = "A3", size: int = 4096, threads: int = 1) -> dict[str, Any]:
    """One combination."""
    return {"name": name, "label": label, "size": size, "threads": threads,
            "arguments": ["A3", str(size), str(threads)]}


def plan(points: Iterable[dict[str, Any]] = (point("p"),), repeats: int = 1,
         **settings: Any) -> dict[str, Any]:
    """A plan of these points; keywords replace settings."""
    return {"schema": "copyscope.plan/1", "profile": "mine", "mode": "corrected", "title": "made",
            "report": "", "settings": {**SETTINGS, **settings}, "kernel": "host", "seconds": 0.3,
            "pass": "both", "repeats": repeats, "shuffled_by": "mine", "order": "as made", "points": list(points),
            "tables": []}
