# SPDX-License-Identifier: GPL-2.0
"""Turns a profile into the points and runs of a sweep, in the order they are made."""
from __future__ import annotations

import random
from typing import Any

from copyscope.common.errors import Unusable
from copyscope.common.tables import LEAST_BYTES, MOST_BYTES, MOST_THREADS
from copyscope.records import caches
from copyscope.records.load import MOST_RUNS
from copyscope.records.passes import BOTH, COUNTED, TIMED

from .guests import side_by_side
from .launch import HOST, Run
from .paths import two_hosts, words_of
from .profile import Profile

SCHEMA = "copyscope.plan/1"
# Share of the CPUs' time that other programs may use beside a run that is timed.
MOST_OTHERS = 0.05
# Beside the time that is measured: start, attach, collect, detach; most of it waits for the kernel.
# Two passes share the measured time, and each starts both ends.
OVERHEAD_S, SECOND_PASS_S = 0.3, 0.2
# A guest boots once for many runs. In each of them starting both ends is slow, and so is the check
# of the probes by its kernel.
BOOT_S, GUEST_PASS_S, PROBES_S = 8.0, 2.0, 1.0
# Under the emulator's plugin: messages of a run, and about what a connection, a message and a byte
# take. A processor sends a message of 4 KiB about 80 times faster.
MODEL_LEAST, MODEL_MOST, MODEL_BYTES = 100, 1000, 8 << 20
MODEL_CONNECTION_S, MODEL_MESSAGE_S, MODEL_BYTE_S = 0.4, 2e-4, 3e-8
MODEL_SLOWER = 80


def connections(settings: dict[str, Any], threads: int) -> int:
    """How many sockets the thread column comes to."""
    return threads if settings["threads_are"] == "connections" else 1


def behaviours(settings: dict[str, Any], variant: dict[str, Any]) -> list[str]:
    """What every variant of a mode does otherwise, and what this one does besides."""
    mine = variant.get("behaviours", [])
    return [*(each for each in settings.get("behaviours", []) if each not in mine), *mine]


def point(profile: Profile, variant: dict[str, Any], size: int, threads: int) -> dict[str, Any]:
    """Return one combination: the report's words for it, and the words for trace_run."""
    settings = profile.settings
    arguments = [variant["variant"], str(settings["message_bytes"] or size),
                 str(connections(settings, threads)), "--path", settings["path"],
                 "--pattern", settings["pattern"]]
    if settings["threads_are"] == "readers":
        arguments += ["--readers", str(threads)]
    else:
        arguments += ["--receiver", variant.get("receiver", "recv")]
    if otherwise := behaviours(settings, variant):
        arguments += ["--behaviours", ",".join(otherwise)]
    if not settings.get("probes", True):
        arguments += ["--no-probes"]
    arguments += words_of(settings)
    return {"name": f"{variant['label']}_{size}B_{threads}T", "label": variant["label"],
            "size": size, "threads": threads, "arguments": arguments}


def choose_variants(profile: Profile, labels: list[str] | None) -> list[dict[str, Any]]:
    """Return the variants of these labels, or all."""
    have = [each["label"] for each in profile.variants]
    for label in labels or []:
        if label not in have:
            raise Unusable(f"--variants: {profile.name} {profile.mode} has no {label!r}; "
                           f"it has {' '.join(have)}")
    return [each for each in profile.variants if not labels or each["label"] in labels]


def choose_passes(profile: Profile, passes: str | None) -> str:
    """The passes of each run: those asked for, or what the profile allows."""
    if two_hosts(profile.settings["path"]):
        # They make one pass, and a sweep compares times.
        if passes == BOTH:
            raise Unusable("--pass both: two hosts make one pass; give timed or counted")
        return passes or TIMED
    if profile.settings.get("probes", True):
        return passes or BOTH
    if passes not in (None, TIMED):
        raise Unusable(f"--pass {passes}: {profile.name} runs without probes, so a pass is timed")
    return TIMED


def choose_counters(profile: Profile, counters: str | None, kernel: str) -> str:
    """The counters besides those of the processor: those asked for, or the profile's, or ""."""
    chosen = counters or profile.counters
    if not chosen:
        return ""
    if kernel == HOST:
        raise Unusable(f"--counters {chosen}: an emulator counts: give --kernel 6.12, too")
    caches.load(chosen.partition(":")[2])
    return chosen


def with_counters(found: dict[str, Any], counters: str) -> dict[str, Any]:
    """A point with the words for the emulator's counters. Its times mean nothing, so that it sends
    a number of messages."""
    if not counters:
        return found
    size = int(found["arguments"][1])
    messages = max(MODEL_LEAST, min(MODEL_MOST, MODEL_BYTES // size))
    words = [*found["arguments"], "--counters", counters, "--messages", str(messages)]
    return {**found, "arguments": words}


def check_range(option: str, values: list[int], low: int, high: int) -> None:
    """Refuse numbers that trace_run would refuse, before anything runs."""
    for value in values:
        if not low <= value <= high:
            raise Unusable(f"{option}: {value} is not {low} to {high}")
    if len(set(values)) < len(values):
        raise Unusable(f"{option}: a number appears twice")


def make(profile: Profile, sizes: list[int] | None, threads: list[int] | None,
         labels: list[str] | None, seconds: float | None, repeats: int,
         kernel: str, passes: str | None = None,
         most_others: float | None = None, counters: str | None = None) -> dict[str, Any]:
    """Return the plan: everything that decides what a sweep's folder must hold."""
    chosen = choose_passes(profile, passes)
    counters = choose_counters(profile, counters, kernel)
    sizes, threads = sizes or profile.sizes, threads or profile.threads
    check_range("--sizes", sizes, LEAST_BYTES, MOST_BYTES)
    check_range("--threads", threads, 1, MOST_THREADS)
    variants = choose_variants(profile, labels)
    count = len(variants) * len(sizes) * len(threads) * repeats
    if count > MOST_RUNS:
        raise Unusable(f"{count} runs are more than {MOST_RUNS}: take fewer --sizes, --threads or "
                       "--repeats")
    key = f"{profile.name} {profile.mode}"
    return {
        "schema": SCHEMA, "profile": profile.name, "mode": profile.mode, "title": profile.title,
        "report": profile.report, "settings": profile.settings, "kernel": kernel,
        "seconds": seconds or profile.seconds, "pass": chosen, "repeats": repeats,
        "shuffled_by": key,
        "order": "each repeat visits the sizes and threads in an order shuffled by Python's "
                 "random.Random(\"SHUFFLED_BY REPEAT\"); at each it runs all variants in turn, "
                 "starting with the next one each time",
        "points": [with_counters(point(profile, variant, size, count), counters)
                   for variant in variants for size in sizes for count in threads],
        "tables": profile.tables,
        # Times of guests mean nothing, nor do those of a pass with probes.
        **({"most_others": MOST_OTHERS if most_others is None else most_others}
           if kernel == HOST and chosen != COUNTED else {}),
        # A run in modelled caches has messages, no seconds.
        **({"report_seconds": profile.seconds} if profile.report and not counters else {}),
        **({"summaries": profile.summaries} if profile.summaries else {}),
        **({"counters": counters} if counters else {}),
    }


def run_name(name: str, repeat: int) -> str:
    """Name of a run's files."""
    return f"{name}.r{repeat}"


def runs(plan: dict[str, Any]) -> list[Run]:
    """All runs of a plan in the order they are made."""
    ordered = []
    for repeat in range(1, plan["repeats"] + 1):
        cells: dict[tuple[int, int], list[dict[str, Any]]] = {}
        for each in plan["points"]:
            cells.setdefault((each["size"], each["threads"]), []).append(each)
        keys = list(cells)
        random.Random(f"{plan['shuffled_by']} {repeat}").shuffle(keys)
        for turn, key in enumerate(keys, repeat):
            cell = cells[key]
            for each in cell[turn % len(cell):] + cell[:turn % len(cell)]:
                ordered.append(Run(run_name(each["name"], repeat), tuple(each["arguments"])))
    return ordered


def duration_s(plan: dict[str, Any]) -> float:
    """About how long all runs take."""
    count = len(plan["points"]) * plan["repeats"]
    if plan["kernel"] == HOST:
        second = SECOND_PASS_S if plan["pass"] == BOTH else 0.0
        return count * (plan["seconds"] + OVERHEAD_S + second)
    guests = side_by_side(count)
    # They do not boot at once.
    return guests * BOOT_S + plan["repeats"] / guests * sum(
        guest_run_s(each["arguments"], plan) for each in plan["points"])


def guest_run_s(arguments: list[str], plan: dict[str, Any]) -> float:
    """About how long a run takes in a guest that is up."""
    passes = 2 if plan["pass"] == BOTH else 1
    overhead = passes * GUEST_PASS_S + (0.0 if plan["pass"] == TIMED else PROBES_S)
    if not plan.get("counters"):
        return overhead + plan["seconds"]
    size, connected = map(int, arguments[1:3])
    messages = int(arguments[arguments.index("--messages") + 1])
    return overhead + passes * (connected * MODEL_CONNECTION_S +
                                messages * (MODEL_MESSAGE_S + MODEL_BYTE_S * size))


def differs(old: dict[str, Any], new: dict[str, Any]) -> str:
    """The first key in which two plans differ, "" if none."""
    return next((key for key in [*new, *old] if old.get(key) != new.get(key)), "")
