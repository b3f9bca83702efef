# SPDX-License-Identifier: GPL-2.0
"""What a watch cost."""
from __future__ import annotations

from typing import Any

from copyscope.common.text import bytes_text

from .page import labelled, plural

UNCOUNTED = "events were not counted (sysctl kernel.bpf_stats_enabled=1 has the kernel count them)"


def lines(data: dict[str, Any]) -> list[str]:
    """Events of the programs and their time, and what copyscope itself used."""
    found, events = data["overhead"], data["overhead"]["events"]
    if found["ns_per_event"] is not None:
        text = f"{events or 0:,} events of {found['ns_per_event']:.0f} ns, " \
            f"{100 * found['share']:.2f} % of the time of {plural(data['machine']['cpus'], 'CPU')}"
    elif events:
        text = f"{events:,} events, which the kernel did not time"
    else:
        text = UNCOUNTED
    own = f"copyscope itself {found['own_cpu_seconds']:.2f} s of CPU, " \
        f"{bytes_text(found['memory_bytes'])} of tables"
    return ["", *labelled("overhead", f"{text}; {own}")]
