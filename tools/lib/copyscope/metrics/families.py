# SPDX-License-Identifier: GPL-2.0
"""The ledger as families of samples, and as text in the formats that Prometheus reads."""

from __future__ import annotations

import os
from collections.abc import Iterator

from prometheus_client.core import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from copyscope.common.metric_names import BY_NAME, MACHINE, METRICS, SERVICE, WHO, Metric

from .ledger import THE_REST, Ledger, Who
from .numbers import CALL_MOST, HOLD_MOST, NS, Key

IN_NS = ("cpu_seconds", "watch_cpu_seconds")
LE = {
    "call_bytes": [float(most) for most in CALL_MOST],
    "zerocopy_hold_seconds": [most / NS for most in HOLD_MOST],
}


def short(metric: Metric) -> str:
    """The first word of its keys."""
    return metric.name.removeprefix("copyscope_").removesuffix("_total")


SHORT = {short(metric): metric for metric in METRICS}


def labels_of(who: Who) -> dict[str, str]:
    """The labels of who that are not empty."""
    return {name: value for name, value in zip(WHO, who) if value}


def family_of(metric: Metric) -> Family:
    """A family without samples."""
    return Family(metric.name.removesuffix("_total"), metric.meaning, metric.kind)


def add_counter(
    family: Family, metric: Metric, key: Key, value: int, labels: dict[str, str]
) -> None:
    """One sample of a counter."""
    own = dict(zip(metric.labels, key[1:]))
    family.add_sample(metric.name, labels | own, value / NS if key[0] in IN_NS else value)


def add_histograms(
    family: Family, metric: Metric, numbers: dict[Key, int], labels: dict[str, str]
) -> None:
    """The samples of all histograms of a service."""
    most = LE[short(metric)]
    for own in sorted({key[1:-1] for key in numbers}):
        mine = labels | dict(zip(metric.labels, own))
        below = 0
        for at, each in enumerate([*most, float("inf")]):
            place = str(at) if at < len(most) else "inf"
            below += numbers.get((short(metric), *own, place), 0)
            family.add_sample(f"{metric.name}_bucket", mine | {"le": floatToGoString(each)}, below)
        total = numbers.get((short(metric), *own, "sum"))
        # OpenMetrics has both or none; the last bucket tells as much.
        if total is not None:
            family.add_sample(f"{metric.name}_count", mine, below)
            family.add_sample(f"{metric.name}_sum", mine, total)


def fill(families: dict[str, Family], numbers: dict[Key, int], labels: dict[str, str]) -> None:
    """Add the samples of one service, or of the machine."""
    histograms: dict[str, dict[Key, int]] = {}
    for key, value in numbers.items():
        metric = SHORT.get(key[0])
        if metric is None:
            continue  # of a state that another release wrote
        if metric.kind == "histogram":
            histograms.setdefault(metric.name, {})[key] = value
        else:
            add_counter(families[metric.name], metric, key, value, labels)
    for name, mine in histograms.items():
        add_histograms(families[name], BY_NAME[name], mine, labels)


def gauges(ledger: Ledger, build: dict[str, str]) -> Iterator[tuple[str, dict[str, str], float]]:
    """What is no counter."""
    open_sockets = ledger.open_sockets()
    for who, sockets in open_sockets.items():
        if who != THE_REST or sockets:
            yield "copyscope_open_sockets", labels_of(who), sockets
    yield "copyscope_folded_services", {}, len(ledger.folded)
    yield "copyscope_cut_labels", {}, len(ledger.cut & set(ledger.services))
    if ledger.clock_sampled is not None:
        yield "copyscope_clock_sampled", {}, int(ledger.clock_sampled)
    if ledger.backend:
        yield "copyscope_build_info", build | {"backend": ledger.backend}, 1
    yield "copyscope_last_reading_timestamp_seconds", {}, round(ledger.read_s, 3)


def families_of(ledger: Ledger, version: str, commit: str) -> list[Family]:
    """All that is published."""
    families = {metric.name: family_of(metric) for metric in (*SERVICE, *MACHINE)}
    for who, service in ledger.services.items():
        fill(families, service.shown(), labels_of(who))
    fill(families, ledger.machine.shown(), {})
    build = {"version": version, "commit": commit, "kernel": os.uname().release}
    for name, labels, value in gauges(ledger, build):
        families[name].add_sample(name, labels, value)
    return [family for family in families.values() if family.samples]


class Published(Collector):
    """What the last reading brought, for one who writes it and for those who scrape it."""

    def __init__(self) -> None:
        self.families: list[Family] = []
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(self)

    def collect(self) -> list[Family]:
        """As the registry asks."""
        return self.families

    def text(self) -> bytes:
        """As node_exporter's textfile collector reads it."""
        return generate_latest(self.registry)
