# SPDX-License-Identifier: GPL-2.0
"""Checks that a document is a run record with all that its readers rely on."""
from __future__ import annotations

from typing import Any

from copyscope.common.tables import SITES

from .documents import OF_ONE_VERSION, BadRecord, check_form, described
from .modelled import LEVELS
from .older import SCHEMA
from .passes import PASSES
from .run_record import ENDS, EVENTS, LATER_EVENTS, Record

AGAIN = "run trace_run again"

# What every reader relies on: a dotted key, and the types it may have.
NUMBER = (int, float)
MAYBE = type(None)
FIRST_EVENTS = [event for event in EVENTS if event not in LATER_EVENTS]
NEEDED: dict[str, tuple[type, ...]] = {
    "id": (str,), "started": (str,), "command": (list,), "tool.commit": (str,),
    "machine.kernel": (str,), "machine.cpu_model": (str,), "machine.cpus": (int,),
    "machine.memory_bytes": (int,), "machine.arch": (str,), "machine.virt": (str,),
    "machine.emulated": (bool,),
    "backend.name": (str,), "causes": (list,), "pins.pages": (int, MAYBE), "laws": (list,),
    "counts": (dict,), "overhead.share": (*NUMBER, MAYBE), "sockets": (list,),
    **{f"sites.{site}.bytes": (int, MAYBE) for site in SITES},
    **{f"sites.{site}.how": (str,) for site in SITES},
    "experiment": (dict,),
}
# What every reader relies on in the experiment.
ARRANGED: dict[str, tuple[type, ...]] = {
    "timing.throughput_gbps": (*NUMBER, MAYBE), "timing.latency_us": (dict, MAYBE),
    "timing.elapsed_ns": (int, MAYBE), "timing.window_ns": (int,),
    "path.kind": (str,),
    "workload.variant": (str,), "workload.bytes": (int,), "workload.threads": (int,),
    "workload.connections": (int, MAYBE), "workload.messages": (int, MAYBE),
    "workload.pattern": (str,), "workload.receiver": (str,),
    "workload.accepted_bytes": (int, MAYBE), "workload.received_bytes": (int, MAYBE),
    **{f"counters.{end}.{event}.value": (*NUMBER, MAYBE)
       for end in ENDS for event in FIRST_EVENTS},
}
# What may be left out, in records that are older than the key.
OPTIONAL: dict[str, tuple[type, ...]] = {
    "counts.send_calls": (int,), "counts.recv_calls": (int,),
    "pins.how": (str,), "pins.why": (str, MAYBE),
    **{f"sites.{site}.why": (str, MAYBE) for site in SITES},
}
ARRANGED_LATER: dict[str, tuple[type, ...]] = {
    "outcome": (dict,), "verdict": (str, dict), "passes": (dict,),
    "workload.readers": (int,), "workload.completions": (int, MAYBE),
    "workload.seconds": (*NUMBER, MAYBE), "timing.why": (str,),
    **{f"counters.{end}.{event}.value": (*NUMBER, MAYBE)
       for end in ENDS for event in LATER_EVENTS},
}
# What every reader relies on where there is a latency.
LATENCY: dict[str, tuple[type, ...]] = {
    "latency_us.what": (str,), **{f"latency_us.{each}": NUMBER for each in ("mean", "p50", "p99")},
}
# What every reader relies on where a verdict is more than a sentence.
VERDICT: dict[str, tuple[type, ...]] = {
    "verdict.sentence": (str,), "verdict.passed": (bool,),
}
# What every reader relies on where there is an outcome.
OUTCOME: dict[str, tuple[type, ...]] = {
    "outcome.status": (str,), "outcome.reason": (str, MAYBE),
}
# What every reader relies on in records of two passes, and in each pass that was made.
OF_PASSES: dict[str, tuple[type, ...]] = {
    **{f"passes.{each}": (dict, MAYBE) for each in PASSES}, "passes.why": (str, MAYBE),
}
OF_PASS: dict[str, tuple[type, ...]] = {
    "elapsed_ns": (int, MAYBE), "messages": (int, MAYBE), "received_bytes": (int, MAYBE),
    "throughput_gbps": (*NUMBER, MAYBE), "latency_us": (dict, MAYBE), "first_client": (dict, MAYBE),
    **{f"counters.{end}.{event}.value": (*NUMBER, MAYBE)
       for end in ENDS for event in FIRST_EVENTS},
}
FIRST_CLIENT: dict[str, tuple[type, ...]] = {
    "first_client.messages": (int,), "first_client.received_bytes": (int,),
    "first_client.latency_mean_us": (*NUMBER, MAYBE),
}
# What every reader relies on in a pass under an emulator's plugin, and in each of its rows.
OF_MODELLED: dict[str, tuple[type, ...]] = {
    "modelled.caches.name": (str,), "modelled.caches.emulator": (str,),
    "modelled.ends": (list, MAYBE), "modelled.sites": (list, MAYBE),
}
OF_MODELLED_ROW: dict[str, tuple[type, ...]] = {
    "end": (str,), "instructions": (int,), "l1d_load_misses": (int,), "llc_load_misses": (int,),
    **{f"{level}_misses": (int,) for level in LEVELS},
}
# What every reader relies on in each element of a list.
IN_LISTS: dict[str, dict[str, tuple[type, ...]]] = {
    "laws": {"law": (str,), "status": (str,), "residual": (int, MAYBE)},
    "causes": {"cause": (str,), "site": (str,), "bytes": (int, MAYBE), "remedy": (str, MAYBE)},
    "sockets": {"end": (str, MAYBE), "connection": (int, MAYBE), "messages": (int, MAYBE),
                "latency_mean_us": (*NUMBER, MAYBE), "counts.returned_bytes": (int,),
                **{f"sites.{site}.bytes": (int, MAYBE) for site in SITES}},
}


def check(data: Any, source: object) -> None:
    """Raise BadRecord unless `data` is a record with the keys that readers rely on."""
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or "experiment" not in data:
        found = data.get("schema") if isinstance(data, dict) else None
        raise BadRecord(source, "schema", f"it is {described(found)}, not \"{SCHEMA}\" of a run",
                        "give run records only, as trace_run --json writes them")
    check_keys(data, NEEDED, source)
    check_keys(data, OPTIONAL, source, needed=False)
    check_experiment(data["experiment"], source)
    for name, keys in IN_LISTS.items():
        for number, each in enumerate(data[name]):
            check_keys(each, keys, source, f"{name}[{number}].")
    check_form(data, "record", source, AGAIN, OF_ONE_VERSION)


def check_experiment(data: dict[str, Any], source: object) -> None:
    """Raise BadRecord unless an experiment has what readers take from it."""
    at = "experiment."
    check_keys(data, ARRANGED, source, at)
    check_keys(data, ARRANGED_LATER, source, at, needed=False)
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
    for name, more in (("ends", {}), ("sites", {"site": (str,)})):
        for number, each in enumerate(found["modelled"][name] or []):
            check_keys(each, {**OF_MODELLED_ROW, **more}, source, f"{at}modelled.{name}[{number}].")


def check_keys(data: Any, keys: dict[str, tuple[type, ...]], source: object, at: str = "",
               needed: bool = True) -> None:
    """Raise BadRecord unless each dotted key is there, if needed, with one of its types."""
    for key, types in keys.items():
        value, there = data, True
        for part in key.split("."):
            there = isinstance(value, dict) and part in value
            if not there:
                break
            value = value[part]
        if not there and needed:
            raise BadRecord(source, at + key, "it is missing", AGAIN)
        truth = isinstance(value, bool) and bool not in types
        if there and (truth or not isinstance(value, types)):
            raise BadRecord(source, at + key, f"{described(value)} has the wrong type", AGAIN)


def check_complete(record: Record) -> None:
    """Refuse a run that failed, was interrupted or was not seen whole."""
    if record.incomplete:
        raise BadRecord(record.source, "outcome", f"the run is not complete: {record.incomplete}",
                        "make that run again")
