# SPDX-License-Identifier: GPL-2.0
"""What is asked of Prometheus, in PromQL: names are those of copyscope.common.metric_names."""
from __future__ import annotations

import json
import re

from copyscope.common.metric_names import WHO

HOST = ("job", "instance")
SERVICE = (*HOST, *WHO)
COPYING = ("send_copy", "recv_copy", "late_copy", "reshape")
# Causes of a copy by send itself, although it was asked not to: not in what it took by reference.
IGNORED = ("SO_ZEROCOPY not set", "no scatter-gather route", "TCP fast open")
BUILD, READ = "copyscope_build_info", "copyscope_last_reading_timestamp_seconds"
SENT, RECEIVED = ("copyscope_sent_bytes_total", ""), ("copyscope_received_bytes_total", "")
COPIED = ("copyscope_copied_bytes_total", "")
COPIED_LEAST = ("copyscope_copied_least_bytes_total", "")
REFERENCED = ("copyscope_sent_bytes_total", 'way="zerocopy"')
BY_CAUSE = "copyscope_cause_bytes_total"
COPIED_AT_ONCE = (BY_CAUSE, f'cause=~"{"|".join(IGNORED)}"')
NEEDLESS = ("copyscope_needless_bytes_total", "")
COMPLETED = ("copyscope_zerocopy_completions_total", "")
# What the kernel says to have copied: at least these, as it says nothing of copies behind a device.
TOLD_COPIED = ("copyscope_zerocopy_completions_total", 'copied="true"')
CAUSES, LAWS = (BY_CAUSE, ""), ("copyscope_laws_broken_total", "")
LAWS_OF_SERVICES = ("copyscope_service_laws_broken_total", "")
# A law of no socket: it condemns all that a host counts.
LAW_OF_ALL = "probes"
REFUSED = ("copyscope_enobufs_total", "")
# Of hosts: what is not known there.
UNMEASURED = ("copyscope_unmeasured_readings_total", "")
SHORT = tuple((f"copyscope_{each}_total", "")
              for each in ("unbooked_sockets", "lost_events", "unseen_events"))
LOST_SAMPLES = ("copyscope_lost_samples_total", "")
OTHERS, CLOCK = "copyscope_folded_services > 0", "copyscope_clock_sampled == 0"
CPU = ("copyscope_cpu_seconds_total", f'class=~"{"|".join(COPYING)}"')
# As the alert has it. A rate needs a few readings, and no step may be left out.
MOST_NEEDLESS, STEPS, LEAST_RANGE_S, LEAST_STEP_S = 0.5, 60, 300, 15
# So far back Prometheus looks for a reading.
LOOKBACK_S = 300

# A metric, and what chooses among its series. A question touches each series once: of a thousand
# hosts that is what it costs, and sets of series put together in PromQL cost several times that.
Counter = tuple[str, str]


def selector(counter: Counter, hosts: list[str] | None = None) -> str:
    """The series of a counter, of some hosts alone."""
    name, chosen = counter
    there = "|".join(map(re.escape, hosts)) if hosts else ""
    inside = ", ".join(filter(None, [
        chosen, f"instance=~{json.dumps(there, ensure_ascii=False)}" if there else ""]))
    return f"{name}{{{inside}}}" if inside else name


def last(counter: Counter, window_s: int) -> str:
    """What each series said last in the window."""
    return f"last_over_time({selector(counter)}[{window_s}s])"


def before(counter: Counter, window_s: int) -> str:
    """What each said before the window; one that is not there began in it, or was 0."""
    return f"{selector(counter)} offset {window_s}s > 0"


def begun_again(counter: Counter, window_s: int) -> str:
    """Series that went back: since the reading before the window."""
    return f"resets({selector(counter)}[{window_s + LOOKBACK_S}s]) > 0"


def estimated(counter: Counter, window_s: int) -> str:
    """What Prometheus makes of such series, and of those of hosts that are new."""
    hosts = f"on ({', '.join(HOST)}) {READ} offset {window_s}s"
    risen = f"increase({selector(counter)}[{window_s}s])"
    return f"{risen} and {begun_again(counter, window_s)} or ({risen} unless {hosts})"


def cpu(window_s: int) -> str:
    """CPU time of copying, by service; it is sampled, so it is estimated anyway."""
    return by_service(f"increase({selector(CPU)}[{window_s}s])")


def seen(window_s: int) -> str:
    """Hosts that were scraped before the window."""
    return f"{READ} offset {window_s}s"


def hosts(window_s: int) -> str:
    """Every host that was seen in the window, with what it runs now or ran last."""
    earlier = f"last_over_time({BUILD}[{window_s}s])"
    return f"{BUILD} or ({earlier} unless on ({', '.join(HOST)}) {BUILD})"


def by_service(expression: str) -> str:
    """The sum over what is no label of a service."""
    return f"sum by ({', '.join(SERVICE)}) ({expression})"


def step_of(window_s: int) -> int:
    """A step of the window, in which what happened over time is told."""
    return max(window_s // STEPS, LEAST_STEP_S)


def rates(window_s: int, names: list[str]) -> tuple[str, str]:
    """Bytes a second that services of these hosts asked for, and that were copied after all."""
    over = f"[{max(LEAST_RANGE_S, 2 * step_of(window_s))}s]"
    asked, needless = (" or ".join(f"rate({selector(each, names)}{over})" for each in counters)
                       for counters in ((REFERENCED, COPIED_AT_ONCE), (NEEDLESS,)))
    return by_service(asked), by_service(needless)
