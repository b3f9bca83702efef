# SPDX-License-Identifier: GPL-2.0
"""Counters that never go back: services and their numbers over all intervals, in bounds, as the
state file keeps them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Container
from typing import Any

from copyscope.common.metric_names import LAWS, OTHER, PARTS
from copyscope.services.groups import Groups
from copyscope.services.here import Here
from copyscope.services.paths import pod_of

from . import size
from .numbers import (
    NS,
    WHOLE_WINDOW,
    Amounts,
    Key,
    calls,
    holds,
    of_process,
    rest_of,
    site_key,
)

# Of 1, which 1.0 wrote, nobody has a service.
SCHEMA, OLDER = "copyscope.metrics-state/2", "copyscope.metrics-state/1"
# Cgroup above the pod, comm, UID of the pod, id of the container, service.
Who = tuple[str, str, str, str, str]
THE_REST: Who = ("", OTHER, "", "", "")
# So many programs of a service have series of their own; further ones are summed as its other.
PROGRAMS = 8
# A service that moved nothing for so long makes room for another.
IDLE_S = 86_400
FOLDED_TOLD = 10_000
LABEL_BYTES = 240


def cut(text: str) -> str:
    """A label that fits; of a longer one its beginning, and what tells it from others."""
    raw = text.encode()
    if len(raw) <= LABEL_BYTES:
        return text
    kept = raw[: LABEL_BYTES - 20].decode(errors="ignore")
    return f"{kept}...{hashlib.sha256(raw).hexdigest()[:16]}"


class Counters:
    """Numbers that grow. What is derived may be taken back later: then a counter stands still until
    it is true again."""

    def __init__(self, values: Amounts | None = None, peaks: Amounts | None = None) -> None:
        self.values, self.peaks = values or {}, peaks or {}

    def add(self, amounts: Amounts) -> None:
        """Grow by these."""
        for key, amount in amounts.items():
            before = self.values.get(key, 0)
            self.values[key] = before + amount
            if amount < 0:
                self.peaks[key] = max(before, self.peaks.get(key, before))

    def shown(self) -> dict[Key, int]:
        """What is published."""
        for key in [key for key, peak in self.peaks.items() if peak <= self.values[key]]:
            del self.peaks[key]
        return {key: max(0, value) for key, value in self.values.items()} | self.peaks

    def kept(self) -> list[list]:
        """As the state file has them."""
        return [
            [list(key), value, self.peaks.get(key, value)] for key, value in self.values.items()
        ]

    @classmethod
    def of(cls, kept: list[list]) -> Counters:
        """From the state file; raises ValueError, TypeError or KeyError if it is damaged."""
        values, peaks = {}, {}
        for key, value, peak in kept:
            if not isinstance(value, int) or not isinstance(peak, int):
                raise ValueError("a number is none")
            values[tuple(map(str, key))] = value
            if peak > value:
                peaks[tuple(map(str, key))] = peak
        return cls(values, peaks)


class Service:
    """One of those that are published."""

    def __init__(self, counters: Counters, last_s: float) -> None:
        self.counters, self.last_s = counters, last_s
        self.hidden: set[Key] = set()

    def hide(self, told: set[Key], lacking: set[Key]) -> None:
        """Numbers that the last reading lacks which moved such bytes: their sums are none."""
        self.hidden = (self.hidden - told) | lacking

    def shown(self) -> dict[Key, int]:
        """What is published."""
        numbers = self.counters.shown()
        return {key: value for key, value in numbers.items() if key not in self.hidden}


def rest_of_service(who: Who) -> Who:
    """The programs of its service that have no series of their own."""
    return ("", OTHER, "", "", who[4])


def place_of(who: Who, places: Container[Who]) -> Who:
    """Its own place, else that of its service's other, else that of the rest, which is there."""
    return next(each for each in (who, rest_of_service(who), THE_REST) if each in places)


def known_of(part: dict[str, Any], missing: list[str], amounts: Amounts) -> tuple[set[Key], ...]:
    """The numbers that a process moved, and those that it lacks."""
    lacking = {site_key(site) for site in missing}
    lacking |= {(name,) for name in WHOLE_WINDOW if part.get(name, 0) is None}
    told = {key for key, amount in amounts.items() if amount}
    if part["sites"]["tx_reference"]["bytes"]:
        told |= {("needless_bytes",), ("copied_bytes",), site_key("late_copy")}
    return told, lacking


def row_of(part: dict[str, Any]) -> tuple:
    """What tells a row of a line from others, also in other lines: the process, or the service."""
    apart = ("listener_pid", "comm", "cgroup_id", "uid")
    if part["pid"] and "processes" not in part:
        return (part["pid"],)
    return (bool(part["pid"]), *map(part.get, apart))


class Ledger:
    """All that is published."""

    def __init__(self, most: int) -> None:
        self.most, self.groups, self.here = most, Groups(), Here()
        self.services: dict[Who, Service] = {THE_REST: Service(Counters(), 0)}
        self.machine = Counters(
            {("laws_broken", law): 0 for law in LAWS}
            | {(name,): 0 for name in ("unbooked_sockets", "lost_events", "unseen_events")}
        )
        self.folded: dict[Who, float] = {}
        self.open: dict[Any, tuple[Who, int]] = {}
        self.measured: set[str] = set()
        self.broken: set[str] = set()
        self.watch = ""
        self.backend = ""
        # None: no watch asked for its clock.
        self.clock_sampled: bool | None = None
        self.read_s = 0.0
        self.cut: set[Who] = set()
        self.room = size.ROOM

    def who(self, process: dict[str, Any]) -> Who:
        """The labels of a process."""
        path = self.groups.path(process["cgroup_id"])
        above, pod, container = pod_of(path)
        service = self.here.names.service({**process, "cgroup": path})
        who = (cut(above), process["comm"], pod, container, cut(service))
        if (who[0], who[4]) != (above, service):
            self.cut.add(who)
        return who

    def _told_apart(self, whose: list[Who]) -> list[Who]:
        """The same, but that of a service which has many programs further ones are its other."""
        apart = set(self.services)
        programs = Counter(who[4] for who in apart)
        found = []
        for who in whose:
            if who not in apart and programs[who[4]] < PROGRAMS:
                apart.add(who)
                programs[who[4]] += 1
            found.append(who if who in apart else rest_of_service(who))
        return found

    def _forget_idle(self, places: int) -> None:
        """Make room for so many: the series of those that moved nothing for longest end."""
        idle = sorted(
            (service.last_s, who)
            for who, service in self.services.items()
            if who != THE_REST and service.last_s < self.read_s - IDLE_S
        )
        for _, who in idle[:places]:
            del self.services[who]

    def _room_left(self, features: size.Features) -> int:
        """Bytes of a scrape that no service may take yet."""
        return self.room - sum(size.most_of(who, features) for who in self.services)

    def _fit(self, features: size.Features) -> None:
        """After a restart less may be asked for: those that moved last stay."""
        oldest = sorted(self.services, key=lambda who: self.services[who].last_s)
        for who in [who for who in oldest if who != THE_REST]:
            if len(self.services) - 1 <= self.most and self._room_left(features) >= 0:
                break
            del self.services[who]

    def _admit(self, moved: dict[Who, int], features: size.Features) -> None:
        """Give those a place that have none, by what they moved; or sum them as other."""
        new = sorted(
            (who for who in moved if who not in self.services), key=lambda who: -moved[who]
        )
        lacking = len(self.services) - 1 + len(new) - self.most
        if new and lacking > 0:
            self._forget_idle(lacking)
        self._fit(features)
        left = self._room_left(features)
        for who in new:
            takes = size.most_of(who, features)
            if len(self.services) - 1 < self.most and takes <= left:
                left -= takes
                self.services[who] = Service(Counters(), self.read_s)
                self.folded.pop(who, None)
            elif len(self.folded) < FOLDED_TOLD or who in self.folded:
                self.folded[who] = self.read_s
        for who in [who for who, last_s in self.folded.items() if last_s < self.read_s - IDLE_S]:
            del self.folded[who]

    def _place(self, who: Who) -> Service:
        """Where its bytes are added."""
        return self.services[place_of(who, self.services)]

    def _count_process(self, who: Who, process: dict[str, Any], hz: int) -> tuple[set[Key], ...]:
        """Add what one process did; the numbers that it moved, and those that it lacks."""
        amounts, missing = of_process(process, hz)
        service = self._place(who)
        service.counters.add(amounts)
        service.last_s = self.read_s
        self.measured |= {key[2] for key in amounts if key[0] == "site_bytes"}
        self.machine.add(
            {
                ("unmeasured_readings", site): process.get("processes", 1)
                for site in missing
                if site in self.measured
            }
        )
        return known_of(process, missing, amounts)

    def _note_open(self, whose: list[Who], processes: list[dict[str, Any]]) -> None:
        """Sockets that are open. Of the rows of one service, or listener, one tells them."""
        told: dict[Any, tuple[Who, int]] = {}
        for who, each in zip(whose, processes):
            key = row_of(each)
            told[key] = (who, told.get(key, (who, 0))[1] + each["open"])
        self.open = {key: each for key, each in (self.open | told).items() if each[1]}

    def _count_watch(self, line: dict[str, Any]) -> None:
        """Add what is of no service."""
        if line["id"] != self.watch:
            self.watch, self.broken, self.open = line["id"], set(), {}
        broken = set(line["laws_broken"])
        self.machine.add({("laws_broken", law): 1 for law in broken - self.broken})
        self.broken |= broken
        self.machine.add({(name,): amount for name, amount in line["losses"].items()})
        if "cpu" in line:
            self.machine.add({("lost_samples",): line["cpu"]["lost_samples"]})
        spent = line["overhead"]
        for part, name in zip(PARTS, ("programs_seconds", "own_cpu_seconds")):
            if spent[name] is not None:
                self.machine.add({("watch_cpu_seconds", part): round(spent[name] * NS)})

    def count(self, line: dict[str, Any], now_s: float) -> None:
        """Add one interval."""
        processes = line["processes"]
        self.read_s, self.backend = now_s, line["backend"]
        self.clock_sampled = line["cpu"]["clock"] is not None if "cpu" in line else None
        self._count_watch(line)
        self.groups.learn({each["cgroup_id"] for each in processes if each["cgroup_id"]})
        self.here.learn(self.groups.path(each["cgroup_id"]) for each in processes)
        whose = self._told_apart([self.who(each) for each in processes])
        moved: dict[Who, int] = {}
        for who, each in zip(whose, processes):
            counts = each["counts"]
            moved[who] = moved.get(who, 0) + sum(
                abs(counts[name] or 0) for name in ("accepted_bytes", "returned_bytes")
            )
        self._admit(moved, size.Features(cpu="cpu" in line, sizes="further" in line))
        hz = line.get("cpu", {}).get("hz", 1)
        self._note_open(whose, processes)
        known: dict[Service, list[tuple[set[Key], ...]]] = {}
        for who, each in zip(whose, processes):
            known.setdefault(self._place(who), []).append(self._count_process(who, each, hz))
        for service, parts in known.items():
            service.hide(*(set().union(*each) for each in zip(*parts)))
        rest = self.services[THE_REST].counters
        rest.add(rest_of(line["total"], processes))
        if "further" in line:
            rest.add(calls(line["further"]["sizes"]) | holds(line["further"]["holds"]))
        self.cut &= set(self.services)

    def spend(self, seconds: float) -> None:
        """Note what the exporter itself took."""
        self.machine.add({("watch_cpu_seconds", PARTS[-1]): round(seconds * NS)})

    def open_sockets(self) -> dict[Who, int]:
        """Sockets that are open, of each service."""
        found = dict.fromkeys(self.services, 0)
        for who, sockets in self.open.values():
            found[place_of(who, found)] += sockets
        return found

    def state(self) -> dict[str, Any]:
        """As the state file has it."""
        return {
            "schema": SCHEMA,
            "read": self.read_s,
            "measured": sorted(self.measured),
            "watch": self.watch,
            "broken": sorted(self.broken),
            "machine": self.machine.kept(),
            "services": [
                {
                    "who": list(who),
                    "cut": who in self.cut,
                    "last": service.last_s,
                    "numbers": service.counters.kept(),
                    "hidden": sorted(map(list, service.hidden)),
                }
                for who, service in self.services.items()
            ],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where another watch ended; raises ValueError and the like if it is damaged. Who was
        idle for long keeps its series as in a watch that goes on: there is room for them."""
        if state["schema"] not in (SCHEMA, OLDER):
            raise ValueError(f"its schema is {state['schema']!r}")
        beyond = [""] * (state["schema"] == OLDER)
        whose = [tuple(map(str, [*each["who"], *beyond])) for each in state["services"]]
        services = {
            who: Service(Counters.of(each["numbers"]), float(each["last"]))
            for who, each in zip(whose, state["services"])
        }
        for who, each in zip(whose, state["services"]):
            services[who].hidden = {tuple(map(str, key)) for key in each.get("hidden", [])}
        if THE_REST not in services or any(len(who) != len(THE_REST) for who in services):
            raise ValueError("it lacks services")
        machine = Counters.of(state["machine"])
        self.services, self.read_s = services, float(state["read"])
        self.machine.add(machine.values)
        self.machine.peaks = machine.peaks
        self.watch, self.broken = str(state["watch"]), set(state["broken"])
        self.measured = set(map(str, state["measured"]))
        self.cut = {who for who, each in zip(whose, state["services"]) if each["cut"]}
