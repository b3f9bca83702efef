# SPDX-License-Identifier: GPL-2.0
"""Checks the known mistakes of the published report against what a record measured."""
from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from .records import PUBLISHED, Baseline

ROWS, PRINTED = PUBLISHED["rows"], PUBLISHED["printed"]
COLUMNS, INDENT = 98, " " * 31
SHOWN, NOT_SHOWN, NOT_TESTABLE = "shown", "not shown", "not testable"


@dataclass(frozen=True)
class Finding:
    """One mistake: the report's claim, and what this record shows."""

    name: str
    claim: str
    verdict: str
    evidence: str


class Untestable(Exception):
    """The record lacks a row that the test needs."""


def need(record: Baseline, *names: str) -> list[float]:
    """Medians of rows in nanoseconds or their own unit; all of them or none."""
    found = []
    for name in names:
        row = record.rows.get(name)
        timed = row and row["unit"] in ("ns", "us", "ms")
        value = record.nanoseconds(name) if timed else record.value(name)
        if value is None:
            raise Untestable(f"the record has no number for {name}")
        found.append(value)
    return found


def need_count(record: Baseline, name: str, counter: str) -> float:
    """What was counted for a call of a row."""
    found = record.counted(name, counter)
    if found is None:
        raise Untestable(f"nothing counted {counter} of {name}")
    return found


def units(record: Baseline) -> tuple[bool, str]:
    """193 ns cannot be a fork where a system call takes longer: fork is one."""
    fork, call = need(record, "process", "syscall")
    as_printed = ROWS["process"][2]
    return (fork > call and as_printed < ROWS["syscall"][2],
            f"a fork takes {fork / 1e3:.1f} us here, {fork / call:.0f} system calls; as printed "
            f"it takes {as_printed} ns, less than the report's own system call "
            f"({ROWS['syscall'][2]} ns)")


def swapped_columns(record: Baseline) -> tuple[bool, str]:
    """Printed, thread creation deviates by 8 times its average."""
    need(record, "thread")
    measured = record.rows["thread"]["measured"]
    ratio, printed = measured["sd"] / measured["mean"], PRINTED["thread-sd"] / PRINTED[
        "thread-average"]
    return (ratio < 1 < printed,
            f"here the deviation is {ratio:.2f} of the average, as printed {printed:.1f} times "
            "it; exchanged, the cells agree with the text")


def hole_reads_no_disk(record: Baseline) -> tuple[bool, str]:
    """The fault that was timed touches a hole; a page of the disk costs a read."""
    hole, major = need(record, "fault-hole", "fault-major")
    reads = need_count(record, "fault-hole", "block reads queued")
    real = need_count(record, "fault-major", "block reads queued")
    return (reads == 0 and real == 1 and hole < major,
            f"{reads:g} reads of the disk a fault of the hole ({hole / 1e3:.1f} us), {real:g} a "
            f"fault of a page that lies on it ({major / 1e3:.1f} us)")


def timer_dominates(record: Baseline) -> tuple[bool, str]:
    """A call between two readings of the clock is mostly clock."""
    alone, singly, timer = need(record, "call-0", "call-0-timed-singly", "timing")
    share = 1 - alone / singly
    return (share > 0.5,
            f"a call takes {alone:.2f} ns in a batch and {singly:.2f} ns with the clock read "
            f"around it: {share * 100:.0f} % is the clock (one reading takes {timer:.2f} ns; the "
            f"report: {ROWS['timing'][2]} of {ROWS['call-0'][2]} ns)")


def arguments_cost(record: Baseline) -> tuple[bool, str]:
    """A nanosecond an argument, says the report; its own values do not."""
    none, seven = need(record, "call-0", "call-7")
    slope = (seven - none) / 7
    published = (ROWS["call-7"][2] - ROWS["call-0"][2]) / 7
    return (slope < 0.5,
            f"{slope:.3f} ns an argument here; {published:.3f} by the report's own values")


def switch_ratio(record: Baseline) -> tuple[bool, str]:
    """Like for like, what differs between processes and threads is the address space alone."""
    process, thread = need(record, "switch-process", "switch-thread")
    published = ROWS["switch-process"][2] / ROWS["switch-thread"][2]
    return (process / thread < 0.75 * published,
            f"{process / thread:.2f} times a thread's where both do the same; the report, whose "
            f"threads did other work, says {published:.2f}")


def loopback_limit(record: Baseline) -> tuple[bool, str]:
    """Loopback never meets the network card, so that the card cannot limit it."""
    rate, = need(record, "tcp-stream")
    strays = need_count(record, "tcp-stream", "packets of other devices")
    return (strays == 0 and rate > 5 * ROWS["tcp-stream"][2],
            f"{rate:,.0f} Mbit/s with sends of 64 KiB, {strays:g} packets on any other device; "
            f"the report's {ROWS['tcp-stream'][2]} Mbit/s are no limit of a card")


def connect_waits_a_trip(record: Baseline) -> tuple[bool, str]:
    """connect() is not asynchronous, and returns after one round trip, not one and a half."""
    connect, trip = need(record, "connect-remote", "tcp-rtt-remote")
    up = need_count(record, "connect-remote", "connections up when connect() returned")
    return (up == 1 and 0.8 < connect / trip < 1.25,
            f"connect() takes {connect / trip:.2f} round trips, and {up * 100:.0f} % of the "
            "connections were established when it returned")


def close_does_not_wait(record: Baseline) -> tuple[bool, str]:
    """A FIN is sent and answered; close() does not wait for that."""
    close, trip = need(record, "close-remote", "tcp-rtt-remote")
    fins = need_count(record, "close-remote", "sockets that began to close")
    return (fins == 1 and close < trip / 4,
            f"close() takes {close / 1e3:.1f} us of a round trip of {trip / 1e6:.2f} ms and sends "
            f"{fins:g} FIN, and does not wait for its answer")


def switches_in_a_trip(record: Baseline) -> tuple[bool, str]:
    """A loopback round trip on one CPU holds two switches, so each is shorter than its half."""
    trip, switch = need(record, "tcp-rtt", "switch-process")
    count = need_count(record, "tcp-rtt", "context switches")
    published = 2 * ROWS["switch-process"][2]
    return (count * switch < trip and published > ROWS["tcp-rtt"][2],
            f"{count:.2f} switches of {switch / 1e3:.2f} us in a round trip of {trip / 1e3:.2f} "
            f"us; the report's two would take {published:.1f} us of its {ROWS['tcp-rtt'][2]} us")


def readahead_off(record: Baseline) -> tuple[bool, str]:
    """Reading in order is only faster than at random if something reads ahead."""
    order, ahead = need(record, "read-sequential", "read-ahead")
    return (ahead < order / 3,
            f"a block in order takes {order / 1e3:.1f} us without readahead and {ahead / 1e3:.2f} "
            "us with it: the report's 63 us suggest that it was off, and are not what a disk gives")


def cache_unit(record: Baseline) -> tuple[bool, str]:
    """2.677 ns of what? Not of a block: memory is not that fast."""
    rate, = need(record, "memory-read")
    implied = PRINTED["block-bytes"] / PRINTED["reread-ns"]
    return (implied > 5 * rate,
            f"a block in {PRINTED['reread-ns']} ns would be {implied:,.0f} GB/s, and memory is "
            f"read at {rate:.1f} GB/s here")


CHECKS: tuple[tuple[str, str, Callable[[Baseline], tuple[bool, str]]], ...] = (
    ("units", "the summary gives creation and switches in ns", units),
    ("swapped-columns", "average and deviation of thread rows stand in each other's cells",
     swapped_columns),
    ("hole", "a page fault of a hole is said to fetch a page of the disk", hole_reads_no_disk),
    ("timer", "the cost of a call is mostly the cost of the clock", timer_dominates),
    ("arguments", "each argument costs a nanosecond", arguments_cost),
    ("switch-ratio", "a process switch costs 2.8 thread switches", switch_ratio),
    ("switch-in-trip", "a switch takes 24 us, a round trip of two 14.6 us", switches_in_a_trip),
    ("loopback-limit", "the network card limits loopback to 170 Mbit/s", loopback_limit),
    ("connect", "connect() is asynchronous and takes one and a half round trips",
     connect_waits_a_trip),
    ("close", "teardown is one packet without an answer", close_does_not_wait),
    ("readahead", "reading in order takes 63 us a block", readahead_off),
    ("cache-unit", "rereading takes 2.677 ns of an unnamed amount", cache_unit),
)


def check(record: Baseline) -> list[Finding]:
    """Check every mistake."""
    found = []
    for name, claim, test in CHECKS:
        try:
            shown, evidence = test(record)
            verdict = SHOWN if shown else NOT_SHOWN
        except Untestable as error:
            verdict, evidence = NOT_TESTABLE, str(error)
        found.append(Finding(name, claim, verdict, evidence))
    return found


def lines(found: list[Finding]) -> list[str]:
    """Print every mistake with its verdict and the evidence below."""
    told = []
    for each in found:
        told.append(f"{each.name:<16} {each.verdict:<13} {each.claim}")
        told += textwrap.wrap(each.evidence, COLUMNS, initial_indent=INDENT,
                              subsequent_indent=INDENT)
    return told
