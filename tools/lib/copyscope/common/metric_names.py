# SPDX-License-Identifier: GPL-2.0
"""The metrics that watch --metrics and --serve write: names, kinds, labels, meanings."""
from __future__ import annotations

from dataclasses import dataclass

from copyscope.common.tables import SITES, TABLES, names

# Whose bytes they are. A label that is empty is left out.
WHO = ("cgroup", "comm", "pod_uid", "container", "service")
# The program that sums up those of a service for which there is no room; without a service, all.
OTHER = "other"
SENT_WAYS = ("copy", "zerocopy", "splice", "unknown")
RECEIVED_WAYS = ("copy", "map", "splice", "discard", "direct", "unknown")
COPIED = ("true", "false", "unknown")
PARTS = ("programs", "reader", "exporter")
CALLS = {"send": ("plain", "zerocopy", "splice"),
         "recv": ("plain", "peek", "discard", "splice", "map")}
UNTIL = ("notified", "read")
CLASSES = names("cpu_classes")
LAWS = names("laws", of_sockets=True)
CAUSES = names("causes")


def direction_of(site: str) -> str:
    """On whose side a site is. A late copy is of the sender's pages; what is copied between buffers
    of packets may be of either end."""
    row = next(each for each in TABLES["sites"] if each["name"] == site)
    if row["of_sender"] or site == "late_copy":
        return "tx"
    return "rx" if row["of_receiver"] else "either"


DIRECTIONS = {site: direction_of(site) for site in SITES}


@dataclass(frozen=True)
class Metric:
    """One metric."""

    name: str  # as a sample of it is called; of a histogram without _bucket, _sum, _count
    kind: str  # counter, gauge or histogram
    meaning: str
    labels: tuple[str, ...] = ()
    needs: str = ""  # the option of watch without which there is none


# These have the labels of who besides.
SERVICE = (
    Metric("copyscope_site_bytes_total", "counter",
           "Bytes that passed a site where payload is copied, referenced or passed on as pages.",
           ("direction", "site")),
    Metric("copyscope_cause_bytes_total", "counter",
           "Bytes that were to be sent without a copy and were copied, by what had them copied.",
           ("cause",)),
    Metric("copyscope_sent_bytes_total", "counter",
           "Bytes that send accepted, by how the kernel took them; all ways together are all "
           "bytes.", ("way",)),
    Metric("copyscope_received_bytes_total", "counter",
           "Bytes that recv returned, by how the program got them; all ways together are all "
           "bytes.", ("way",)),
    Metric("copyscope_copied_bytes_total", "counter",
           "Bytes that the processor copied, by send, by recv or in between, where all is known."),
    Metric("copyscope_copied_least_bytes_total", "counter",
           "Bytes that it copied at least, whether all is known or not."),
    Metric("copyscope_needless_bytes_total", "counter",
           "Bytes that were to be sent without a copy and were copied all the same."),
    Metric("copyscope_zerocopy_sends_total", "counter",
           "Sends whose pages the kernel took by reference."),
    Metric("copyscope_zerocopy_completions_total", "counter",
           "Zero-copy sends that the kernel completed, by whether it says COPIED.", ("copied",)),
    Metric("copyscope_enobufs_total", "counter", "Sends that the kernel refused with ENOBUFS."),
    Metric("copyscope_service_laws_broken_total", "counter",
           "Times that a socket of it broke a law: its numbers are not to be trusted."),
    Metric("copyscope_open_sockets", "gauge", "Sockets that are open."),
    Metric("copyscope_cpu_seconds_total", "counter",
           "CPU time by what it went into, as samples of the clock found it.", ("class",),
           needs="--cpu"),
    Metric("copyscope_call_bytes", "histogram", "Bytes that a call moved.", ("call", "way"),
           needs="--sizes"),
    Metric("copyscope_zerocopy_hold_seconds", "histogram",
           "How long zero-copy sends held pages; the sum of times is not measured.", ("until",),
           needs="--sizes"),
)
# These are of the whole machine.
MACHINE = (
    Metric("copyscope_laws_broken_total", "counter",
           "Times that a law broke: once a watch at most.", ("law",)),
    Metric("copyscope_unbooked_sockets_total", "counter",
           "Sockets that found no room for their books: sums lack them."),
    Metric("copyscope_lost_events_total", "counter",
           "Events that found no room: sums are short of them."),
    Metric("copyscope_unseen_events_total", "counter",
           "Changes of sockets for which the kernel ran no program: sums may be short."),
    Metric("copyscope_lost_samples_total", "counter",
           "Samples of the clock that found no room: CPU seconds lack them.", needs="--cpu"),
    Metric("copyscope_clock_sampled", "gauge",
           "1; 0: the kernel refused the clock, so that CPU seconds have no sample.",
           needs="--cpu"),
    Metric("copyscope_unmeasured_readings_total", "counter",
           "Readings of a process in which this site was not measured: its counter lacks them.",
           ("site",)),
    Metric("copyscope_watch_cpu_seconds_total", "counter",
           "CPU time of looking: programs in the kernel, their reader, this exporter.",
           ("part",)),
    Metric("copyscope_folded_services", "gauge",
           "Services that are summed as other, as there is no room for them."),
    Metric("copyscope_cut_labels", "gauge",
           "Published services of which a label was too long and is cut."),
    Metric("copyscope_build_info", "gauge", "1, with what was built and where it runs.",
           ("version", "commit", "kernel", "backend")),
    Metric("copyscope_last_reading_timestamp_seconds", "gauge",
           "When the watch was read last, in seconds since 1970."),
)
METRICS = (*SERVICE, *MACHINE)
BY_NAME = {each.name: each for each in METRICS}
# What the values of a label may be, where a table has them.
VALUES: dict[str, tuple[str, ...]] = {
    "direction": ("tx", "rx", "either"), "site": SITES, "cause": CAUSES, "copied": COPIED,
    "class": CLASSES, "call": tuple(CALLS), "until": UNTIL, "law": LAWS, "part": PARTS,
}


def table() -> str:
    """The table of docs/METRICS.md."""
    rows = []
    for metric in METRICS:
        labels = ["who"] if metric in SERVICE else []
        labels += [f"`{each}`" for each in metric.labels]
        meaning = metric.meaning.rstrip(".") + (f" (`{metric.needs}`)" if metric.needs else "")
        rows.append(f"| `{metric.name}` | {metric.kind} | {', '.join(labels)} | {meaning} |\n")
    return "".join(rows)
