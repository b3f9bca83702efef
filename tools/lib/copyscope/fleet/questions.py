# SPDX-License-Identifier: GPL-2.0
"""What is asked of Prometheus, in PromQL: names are those of copyscope.common.metric_names."""
from __future__ import annotations

from copyscope.common.metric_names import WHO

HOST = ("job", "instance")
SERVICE = (*HOST, *WHO)
COPYING = ("send_copy", "recv_copy", "late_copy", "reshape")
# Causes of a copy by send itself, although it was asked not to: not in what it took by reference.
IGNORED = ("SO_ZEROCOPY not set", "no scatter-gather route", "TCP fast open")
BUILD, READ = "copyscope_build_info", "copyscope_last_reading_timestamp_seconds"
ASKED = ('copyscope_sent_bytes_total{way="zerocopy"}',
         f'copyscope_late_copy_bytes_total{{cause=~"{"|".join(IGNORED)}"}}')
NEEDLESS = "copyscope_needless_bytes_total"
CAUSES = "copyscope_late_copy_bytes_total"
# Of these a service has one number each in the window.
SUMS: dict[str, tuple[str, ...]] = {
    "asked": ASKED, "needless": (NEEDLESS,), "enobufs": ("copyscope_enobufs_total",),
    "sent": ("copyscope_sent_bytes_total",), "received": ("copyscope_received_bytes_total",),
    "cpu": (f'copyscope_cpu_seconds_total{{class=~"{"|".join(COPYING)}"}}',)}
LAWS = "copyscope_laws_broken_total"
# As the alert has it. A rate needs a few readings, and no step may be left out.
MOST_NEEDLESS, STEPS, LEAST_RANGE_S, LEAST_STEP_S = 0.5, 60, 300, 15
# So far back Prometheus looks for a reading.
LOOKBACK_S = 300


def by(labels: tuple[str, ...], expression: str) -> str:
    """The sum over all other labels."""
    return f"sum by ({', '.join(labels)}) ({expression})"


def risen(counter: str, labels: tuple[str, ...], window_s: int) -> str:
    """By how much a counter rose in a window, to the byte as the readings have it: the last one
    less that before the window, or the whole of a series that is new on a host that was seen before.
    `increase` estimates, so it is asked where the counter began again or the host is new."""
    last, before = f"last_over_time({counter}[{window_s}s])", f"{counter} offset {window_s}s"
    # Between the reading before the window and the first in it, too.
    whole = f"resets({counter}[{window_s + LOOKBACK_S}s]) == 0"
    seen = f"on ({', '.join(HOST)}) {READ} offset {window_s}s"
    return by(labels, f"({last} - {before} and {whole}) or ({last} unless {before} and {seen} and "
                      f"{whole}) or increase({counter}[{window_s}s])")


def hosts(window_s: int) -> str:
    """Every host that was seen in the window, with what it runs now or ran last."""
    before = f"last_over_time({BUILD}[{window_s}s])"
    return f"{BUILD} or ({before} unless on ({', '.join(HOST)}) {BUILD})"


def laws(window_s: int) -> str:
    """Laws that broke."""
    return risen(LAWS, (*HOST, "law"), window_s)


def step_of(window_s: int) -> int:
    """A step of the window, in which what happened over time is told."""
    return max(window_s // STEPS, LEAST_STEP_S)


def rates(window_s: int) -> tuple[str, str]:
    """Bytes a second that were asked for, and that were copied after all, by service."""
    over = f"[{max(LEAST_RANGE_S, 2 * step_of(window_s))}s]"
    return (by(SERVICE, " or ".join(f"rate({each}{over})" for each in ASKED)),
            by(SERVICE, f"rate({NEEDLESS}{over})"))


def since(window_s: int) -> tuple[str, str, str]:
    """When in the window most of what a service asked for was copied after all for the first time
    and for the last, and when that was last not so."""
    asked, needless = rates(window_s)
    share, each = f"{needless} / ({asked} > 0)", f"[{window_s}s:{step_of(window_s)}s]"
    return (f"min_over_time(timestamp({share} > {MOST_NEEDLESS}){each})",
            f"max_over_time(timestamp({share} > {MOST_NEEDLESS}){each})",
            f"max_over_time(timestamp({share} <= {MOST_NEEDLESS}){each})")


def course(window_s: int) -> tuple[str, str]:
    """The same two rates over all services, for a picture."""
    asked, needless = rates(window_s)
    return f"sum({asked})", f"sum({needless})"
