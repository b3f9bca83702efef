# SPDX-License-Identifier: GPL-2.0
"""Checks that a document is a run record with all that its readers rely on."""
from __future__ import annotations

from typing import Any

from copyscope.common.tables import SITES

from .checkers import OF_ONE_VERSION
from .documents import BadRecord, check_form, described
from .modelled import LEVELS
from .older import SCHEMA
from .passes import PASSES
from .run_record import ENDS, EVENTS, LATER_EVENTS, Record

AGAIN = "run trace_run again"

# What every reader relies on: dotted keys. Their types are those of the schema.
FIRST_EVENTS = [event for event in EVENTS if event not in LATER_EVENTS]
COUNTED = [f"counters.{end}.{event}.value" for end in ENDS for event in FIRST_EVENTS]
BYTES = [f"sites.{site}.bytes" for site in SITES]
NEEDED = [
    "id", "started", "command", "tool.commit", "machine.kernel", "machine.cpu_model",
    "machine.cpus", "machine.memory_bytes", "machine.arch", "machine.virt", "machine.emulated",
    "backend.name", "causes", "pins.pages", "laws", "counts", "overhead.share", "sockets",
    *BYTES, *(f"sites.{site}.how" for site in SITES), "experiment"]
# In the experiment.
ARRANGED = [
    "timing.throughput_gbps", "timing.latency_us", "timing.elapsed_ns", "timing.window_ns",
    "path.kind", "workload.variant", "workload.bytes", "workload.threads", "workload.connections",
    "workload.messages", "workload.pattern", "workload.receiver", "workload.accepted_bytes",
    "workload.received_bytes", *COUNTED]
# Where there is a latency; where a verdict is more than a sentence; where there is an outcome.
LATENCY = ["latency_us.what", "latency_us.mean", "latency_us.p50", "latency_us.p99"]
VERDICT = ["verdict.passed"]
OUTCOME = ["outcome.status", "outcome.reason"]
# In records of two passes, and in each pass that was made.
OF_PASSES = [*(f"passes.{each}" for each in PASSES), "passes.why"]
OF_PASS = ["elapsed_ns", "messages", "received_bytes", "throughput_gbps", "latency_us",
           "first_client", *COUNTED]
FIRST_CLIENT = ["first_client.messages", "first_client.received_bytes",
                "first_client.latency_mean_us"]
# In a pass under an emulator's plugin, and in each of its rows.
OF_MODELLED = ["modelled.caches.name", "modelled.caches.emulator", "modelled.ends",
               "modelled.sites"]
OF_MODELLED_ROW = ["end", "instructions", "l1d_load_misses", "llc_load_misses",
                   *(f"{level}_misses" for level in LEVELS)]
# In each element of a list.
IN_LISTS = {
    "laws": ["law", "status", "residual"], "causes": ["cause", "site", "bytes", "remedy"],
    "sockets": ["end", "connection", "messages", "latency_mean_us", "counts.returned_bytes",
                *BYTES]}


def check(data: Any, source: object) -> None:
    """Raise BadRecord unless `data` is a record with the keys that readers rely on."""
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or "experiment" not in data:
        found = data.get("schema") if isinstance(data, dict) else None
        raise BadRecord(source, "schema", f"it is {described(found)}, not \"{SCHEMA}\" of a run",
                        "give run records only, as trace_run --json writes them")
    check_keys(data, NEEDED, source)
    check_experiment(data["experiment"], source)
    for name, keys in IN_LISTS.items():
        for number, each in enumerate(rows_of(data[name])):
            check_keys(each, keys, source, f"{name}[{number}].")
    check_form(data, "record", source, AGAIN, OF_ONE_VERSION)


def check_experiment(data: dict[str, Any], source: object) -> None:
    """Raise BadRecord unless an experiment has what readers take from it."""
    at = "experiment."
    check_keys(data, ARRANGED, source, at)
    if "passes" in data:
        check_passes(data, source, at)
    if data["timing"]["latency_us"] is not None:
        check_keys(data["timing"], LATENCY, source, f"{at}timing.")
    if isinstance(data.get("verdict"), dict):
        check_keys(data, VERDICT, source, at)
    if "outcome" in data:
        check_keys(data, OUTCOME, source, at)


def check_passes(data: dict[str, Any], source: object, at: str) -> None:
    """Raise BadRecord unless each pass that was made has what readers take from it."""
    check_keys(data, OF_PASSES, source, at)
    for kind in PASSES:
        found = data["passes"][kind]
        if found is None:
            continue
        check_keys(found, OF_PASS, source, f"{at}passes.{kind}.")
        for key, keys in (("latency_us", LATENCY), ("first_client", FIRST_CLIENT)):
            if found[key] is not None:
                check_keys(found, keys, source, f"{at}passes.{kind}.")
        if "modelled" in found:
            check_modelled(found, source, f"{at}passes.{kind}.")


def check_modelled(found: dict[str, Any], source: object, at: str) -> None:
    """Raise BadRecord unless what an emulator's plugin counted has what readers take from it."""
    check_keys(found, OF_MODELLED, source, at)
    if (found["modelled"]["ends"] is None) != (found["modelled"]["sites"] is None):
        raise BadRecord(source, f"{at}modelled.sites", "it does not fit ends", AGAIN)
    for name, more in (("ends", []), ("sites", ["site"])):
        for number, each in enumerate(rows_of(found["modelled"][name])):
            check_keys(each, OF_MODELLED_ROW + more, source, f"{at}modelled.{name}[{number}].")


def rows_of(value: Any) -> list[Any]:
    """The elements of a list; none of what the schema refuses."""
    return value if isinstance(value, list) else []


def check_keys(data: Any, keys: list[str], source: object, at: str = "") -> None:
    """Raise BadRecord unless each dotted key is there."""
    for key in keys:
        value = data
        for part in key.split("."):
            if not isinstance(value, dict) or part not in value:
                raise BadRecord(source, at + key, "it is missing", AGAIN)
            value = value[part]


def check_complete(record: Record) -> None:
    """Refuse a run that failed, was interrupted or was not seen whole."""
    if record.incomplete:
        raise BadRecord(record.source, "outcome", f"the run is not complete: {record.incomplete}",
                        "make that run again")
