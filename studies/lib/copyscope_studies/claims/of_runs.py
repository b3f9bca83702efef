# SPDX-License-Identifier: GPL-2.0
"""The quantities of runs: counts of the pass with probes, times of the one without."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from copyscope.common.tables import SITES, names
from copyscope.records.modelled import SITES as MODEL_SITES
from copyscope.records.reply import reply_alone
from copyscope.records.run_record import ENDS, Record
from copyscope.runs import values

from .language import units
from .language.check import Meaning
from .language.values import REPEATS
from .readings import Item, Reading, number

SECOND_NS = Fraction(1, 10 ** 9)
EVENTS = {"cycles": ("cycles", units.CYCLE), "l1_misses": ("L1-dcache-load-misses", units.MISS),
          "llc_misses": ("LLC-load-misses", units.MISS),
          "cache_misses": ("cache-misses", units.MISS),
          "switches": ("context-switches", units.SWITCH), "faults": ("page-faults", units.FAULT),
          "cpu": ("task-clock", units.SECOND)}
UNREAD = names("variants", reads_completions=False)
NO_PROBES = "a pass with probes, which alone counts it"
UNPROBED = "a pass without probes: this one was timed with them"
REAL = "a machine that is not emulated"
NO_MODEL = "a run whose caches were modelled: --counters model"
# What an interval of modelled counts is over: one run has no two alike.
MODELLED_RUNS = "modelled runs"
# How a quantity of modelled caches is called, and which events of an end have one.
MODELLED, MODELLED_EVENTS = "modelled_", ("l1_misses", "llc_misses", "cache_misses")


@dataclass(frozen=True)
class Quantity:
    """One quantity: what it is, and how it is read from a record."""

    meaning: Meaning
    read: Callable[[Record], Reading]
    means: str
    # What repeats of it are called.
    repeats: str = REPEATS


def count(unit: units.Unit, read: Callable[[Record], Reading], means: str) -> Quantity:
    """What is counted exactly: it needs the probes."""
    def counted(record: Record) -> Reading:
        if record.at("backend.name") == "none":
            return Reading(None, NO_PROBES)
        broken = record.broken_laws()
        if broken:
            return Reading(None, f"a run whose laws balance: {', '.join(broken)} is broken")
        return read(record)
    return Quantity(Meaning(unit, True), counted, means)


def fact(read: Callable[[Record], Reading], means: str,
         unit: units.Unit = units.NONE) -> Quantity:
    """What is set or known of a run, probes or not."""
    return Quantity(Meaning(unit, True), read, means)


def setting(read: Callable[[Record], Reading], means: str,
            unit: units.Unit = units.NONE) -> Quantity:
    """What a run was told, or what it was of: nothing that it found out."""
    return Quantity(Meaning(unit, True, True), read, means)


def timed(unit: units.Unit, read: Callable[[Record], Reading], means: str) -> Quantity:
    """What a clock or a counter of the processor says: never with probes, never emulated."""
    def known(record: Record) -> Reading:
        if record.at("machine.emulated"):
            return Reading(None, REAL)
        return Reading(None, UNPROBED) if record.times.probed else read(record)
    return Quantity(Meaning(unit, False), known, means)


def at(key: str, how: str, unit: units.Unit, means: str) -> Quantity:
    """A count that lies at a dotted key."""
    return count(unit, lambda record: number(record.at(key), how), means)


def site(name: str) -> Quantity:
    """Bytes that passed a site."""
    return count(units.BYTE, lambda record: number(
        record.site_bytes(name), record.site_how(name), record.site_why(name)),
        f"bytes that passed the site {name}; of request and reply, those of the reply")


def of_sockets(end: str, key: str, unit: units.Unit, means: str) -> Quantity:
    """A count of the sockets at one end."""
    def read(record: Record) -> Reading:
        found = [each["counts"].get(key) for each in record.sockets(end)]
        known = [each for each in found if each is not None]
        if not found or len(known) < len(found):
            return Reading(None, f"the books of the {end}'s sockets")
        return number(sum(known), "measured")
    return count(unit, read, means)


def event(end: str, name: str) -> Quantity:
    """An event of the processor or the kernel at one end."""
    key, unit = EVENTS[name]
    factor = SECOND_NS if name == "cpu" else Fraction(1)
    return timed(unit, lambda record: number(
        record.counter(end, key), "measured, without probes", record.counter_why(end, key),
        factor), f"{key} of the {end}")


def of_times(read: Callable[[Record], float | int | None], unit: units.Unit, means: str,
             factor: Fraction = Fraction(1)) -> Quantity:
    """A number of the pass that times are from."""
    return timed(unit, lambda record: number(
        read(record), "measured, without probes", "the record has no such time", factor), means)


def nominal(record: Record) -> float | int | None:
    """Payload over the seconds that were asked for, as the tables of three reports have it."""
    if record.times.throughput_gbps is None:
        return None
    return values.throughput_gbps(record, {"figures_of": "all", "throughput_is": "nominal"})


def payload(record: Record) -> Reading:
    """Payload bytes of the direction that is studied."""
    return number(record.payload_bytes, "measured")


def connections(record: Record) -> Reading:
    """Connections that moved payload at either end, by the books of their sockets."""
    keys = ("accepted_bytes", "returned_bytes")
    found = [(each.get("connection"), [each["counts"].get(key) for key in keys])
             for end in ENDS for each in record.sockets(end)]
    if not found or any(number is None or None in moved for number, moved in found):
        return Reading(None, "the books of the sockets, and which connection each is of")
    return number(len({name for name, moved in found if any(moved)}), "measured")


def completions(key: str) -> Callable[[Record], Reading]:
    """Sends that were said to be done. A variant that reads no notification cannot tell."""
    def read(record: Record) -> Reading:
        if record.variant in UNREAD:
            return Reading(None, f"a variant that reads notifications; {record.variant} reads none")
        return number(record.at(key), "measured by the workload")
    return read


def on_wire(record: Record) -> Reading:
    """Payload of the sender's sockets that left in packets."""
    both = [of_sockets("sender", f"wire_{each}_bytes", units.BYTE, "").read(record)
            for each in ("copied", "referenced")]
    lost = next((each for each in both if each.number is None), None)
    return lost or Reading(sum((each.number or Fraction(0) for each in both), Fraction(0)),
                           "measured")


def dma_bytes(record: Record) -> Reading:
    """Payload that a device took by DMA. One that sits on no bus, as lo and veth do, takes none."""
    found = record.at("experiment.path.hardware_dma")
    if found is None:
        return Reading(None, "whether a device of the path sits on a bus")
    if not found:
        return Reading(Fraction(0), "derived: no device of the path sits on a bus")
    taken = on_wire(record)
    return taken if taken.number is None else \
        Reading(taken.number, "derived: packets that left, as a device of the path sits on a bus")


def latency(which: str) -> Quantity:
    """A latency of all messages."""
    def read(record: Record) -> float | None:
        found = record.times.latency_us
        return None if found is None else found[which]
    return of_times(read, units.SECOND, f"{which} round trip, or interval between whole messages",
                    Fraction(1, 10 ** 6))


def of_modelled(unit: units.Unit, read: Callable[[Record], Reading], means: str) -> Quantity:
    """What caches that an emulator modelled count: it differs from run to run, as times do."""
    return Quantity(Meaning(unit, False), read, means, MODELLED_RUNS)


def modelled(level: str) -> Quantity:
    """Misses of all copies in the caches that an emulator modelled."""
    def read(record: Record) -> Reading:
        if not record.modelled:
            return Reading(None, NO_MODEL)
        misses = sum(record.modelled.site(each, f"{level}_misses") for each in MODEL_SITES)
        return number(misses, f"modelled, {record.modelled.caches}")
    return of_modelled(units.MISS, read, f"misses of all copies in a modelled {level}")


def modelled_event(end: str, name: str) -> Quantity:
    """An event of one end as a PMU counts it, in the caches that an emulator modelled."""
    key, unit = EVENTS[name]

    def read(record: Record) -> Reading:
        if not record.modelled:
            return Reading(None, NO_MODEL)
        return number(record.modelled.counter(end, key), f"modelled, {record.modelled.caches}",
                      f"{key}, which the model does not count")
    return of_modelled(unit, read, f"{key} of the {end} in modelled caches")


def of_model(read: Callable[[Record], int | None], unit: units.Unit, means: str) -> Quantity:
    """A number of the modelled pass, by which modelled misses are divided."""
    return fact(lambda record: number(read(record) if record.modelled else None,
                                      "measured in the modelled pass", NO_MODEL), means, unit)


def machine(key: str, means: str) -> Quantity:
    """What a record says of its machine or path; true is 1."""
    return setting(lambda record: number(record.at(key), "stated in the record"), means)


GBPS = Fraction(10 ** 9, 8)
QUANTITIES: dict[str, Quantity] = {
    **{name: site(name) for name in SITES},
    "payload": count(units.BYTE, payload, "bytes that the receiver got, in the counted pass"),
    "messages": count(units.MESSAGE, lambda record: number(record.messages, "measured"),
                      "whole messages that arrived, in the counted pass"),
    "message_size": setting(lambda record: number(record.bytes, "stated in the record"),
                         "bytes of one message as sent", units.SIZE),
    "send_calls": of_sockets("sender", "send_calls", units.CALL, "send calls of the sender"),
    "recv_calls": of_sockets("receiver", "recv_calls", units.CALL, "recv calls of the receiver"),
    "pinned_pages": count(units.PAGE, lambda record: number(
        record.pinned_pages, record.at("pins.how") or "derived", record.at("pins.why")),
        "page references taken for zero copy"),
    "zerocopy_sends": at("counts.zerocopy_sends", "measured", units.CALL,
                         "sends whose bytes were referenced"),
    "unset_sends": at("counts.unset_sends", "measured", units.CALL,
                      "sends with MSG_ZEROCOPY on a socket without SO_ZEROCOPY"),
    "completions": count(units.CALL, completions("experiment.workload.completions"),
                         "zero-copy sends that read notifications said were done"),
    "copied_completions": count(units.CALL, completions("experiment.workload.completions_copied"),
                                "of these, sends that the kernel said it had copied"),
    "reads_completions": setting(lambda record: number(record.variant not in UNREAD,
                                                       "stated by the variant"),
                                 "1 if the variant reads notifications"),
    "enobufs": at("counts.enobufs", "measured", units.CALL, "sends that got ENOBUFS"),
    "wrong_bytes": at("experiment.workload.content_errors", "measured by the workload", units.BYTE,
                      "bytes that arrived wrong"),
    "clean": at("counts.clean_bytes", "measured", units.BYTE,
                "referenced bytes that a device took without a copy"),
    "tapped": at("counts.tapped_bytes", "measured", units.BYTE, "bytes shown to packet captures"),
    "on_wire": count(units.BYTE, on_wire,
                     "payload in packets that left the sender, those sent again included"),
    "dma_bytes": count(units.BYTE, dma_bytes,
                       "of these, payload that left by a device that reads it by DMA"),
    "connections": count(units.NONE, connections,
                         "connections whose sockets sent or received payload"),
    "readers": setting(lambda record: number(record.readers, "stated in the record"),
                    "threads that read one socket"),
    "hardware_dma": machine("experiment.path.hardware_dma",
                            "1 if the path's device moves bytes by DMA"),
    "cpus": machine("machine.cpus", "processors of the machine"),
    "throughput": of_times(lambda record: record.times.throughput_gbps, units.RATE,
                           "payload of all clients a second, while it lasted", GBPS),
    "nominal_throughput": of_times(nominal, units.RATE, "payload of all clients, of one direction, "
                                   "over the seconds that were asked for", GBPS),
    "first_throughput": of_times(lambda record: record.first_client_gbps, units.RATE,
                                 "payload of the first client a second", GBPS),
    "elapsed": of_times(lambda record: record.times.elapsed_ns, units.SECOND,
                        "time that the receiver received for", SECOND_NS),
    "timed_messages": of_times(lambda record: record.times.messages, units.MESSAGE,
                               "whole messages of the timed pass"),
    "timed_payload": of_times(lambda record: record.times.received_bytes, units.BYTE,
                              "payload of the timed pass"),
    **{f"modelled_{name}_misses": modelled(level)
       for name, level in (("l1", "l1d"), ("l2", "l2"), ("llc", "llc"))},
    "modelled_payload": of_model(lambda record: record.times.received_bytes, units.BYTE,
                                 "payload of the modelled pass"),
    "modelled_messages": of_model(lambda record: record.times.messages, units.MESSAGE,
                                  "whole messages of the modelled pass"),
    **{f"{MODELLED}{end}_{name}": modelled_event(end, name)
       for end in ENDS for name in MODELLED_EVENTS},
    "latency": latency("mean"), "latency_p50": latency("p50"), "latency_p99": latency("p99"),
    **{f"{end}_{name}": event(end, name) for end in ENDS for name in EVENTS},
}
KEYS = frozenset(("profile", "mode", "label", "size", "threads", "variant", "path", "pattern",
                  "receiver", "kernel", "seconds", "repeat", "row", "id"))


def words_of(record: Record, more: dict[str, str]) -> dict[str, str]:
    """What filters compare of a run: what its sweep meant, or what it was."""
    point: dict[str, Any] = {} if record.point is None else {
        "profile": record.point.profile, "mode": record.point.mode, "repeat": record.point.repeat}
    found = {**point, "label": record.label, "size": record.size, "threads": record.setting,
             "variant": record.variant, "path": record.path, "kernel": record.kernel,
             "pattern": record.workload("pattern"), "receiver": record.workload("receiver"),
             "seconds": "" if record.asked_s is None else f"{record.asked_s:g}",
             "id": record.id, **more}
    return {key: str(value) for key, value in found.items()}


def item(kind: str, record: Record, more: dict[str, str] | None = None) -> Item:
    """A run as selections find it; of request and reply the books of the reply."""
    words = words_of(record, more or {})
    same = [words.get(key, "") for key in sorted(KEYS - {"id", "repeat"})]
    place = [str(record.at(f"machine.{key}")) for key in ("cpu_model", "cpus")]
    return Item(kind, record.id, words, reply_alone(record),
                " ".join([*same, *place, str(record.workload("readers"))]))


def fitting(items: list[Item], name: str) -> list[Item]:
    """Runs that a quantity is of: of modelled caches those that were modelled, of all else the
    others, where there are any."""
    wanted = name.startswith(MODELLED)
    return [each for each in items
            if bool(cast(Record, each.data).modelled) == wanted] or items


def watched(key: str, unit: units.Unit, means: str) -> Quantity:
    """A count of a watched process, unless events were lost."""
    def read(record: Record) -> Reading:
        if record.at("losses.lost_events"):
            return Reading(None, "a watch that lost no events")
        if record.at("losses.unseen_events"):
            return Reading(None, "a watch whose programs saw every socket end")
        return number(record.at(f"counts.{key}"), "measured", "the watch did not count it")
    return count(unit, read, means)


OF_WATCHES: dict[str, Quantity] = {
    **{name: site(name) for name in SITES},
    "sent": watched("accepted_bytes", units.BYTE, "bytes that TCP accepted from the process"),
    "received": watched("returned_bytes", units.BYTE, "bytes that recv returned to it"),
    "send_calls": watched("send_calls", units.CALL, "send calls"),
    "recv_calls": watched("recv_calls", units.CALL, "recv calls"),
    "pinned_pages": watched("pinned_pages", units.PAGE, "page references taken for zero copy"),
    "zerocopy_bytes": watched("zerocopy_bytes", units.BYTE, "bytes that were referenced"),
    "zerocopy_sends": watched("zerocopy_sends", units.CALL, "sends whose bytes were referenced"),
    "completed_sends": watched("completed_sends", units.CALL, "zero-copy sends that completed"),
    "copied_sends": watched("copied_sends", units.CALL, "of these, sends that were copied"),
    "enobufs": watched("enobufs", units.CALL, "sends that got ENOBUFS"),
    "clean": watched("clean_bytes", units.BYTE,
                     "referenced bytes that a device took without a copy"),
}
WATCH_KEYS = frozenset(("comm", "process", "kernel", "id", "file"))


def watch_items(records: list[Record]) -> list[Item]:
    """The processes of a watch as selections find them."""
    return [Item("watch", record.id, {"comm": record.label.partition(",")[0], "id": record.id,
                                      "process": record.label, "kernel": record.kernel,
                                      "file": record.source.stem},
                 record, f"{record.label} {record.kernel}") for record in records]
