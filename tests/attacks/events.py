# SPDX-License-Identifier: GPL-2.0
"""Counts events by the hundred million: sends of 64 bytes for as long as it takes.

An event is one run of a probe program inside the window of a run, as the kernel's run statistics count
it; a record holds the sum as overhead.events.
"""
from __future__ import annotations

from attacks import runs
from attacks.attack import Attack, Broken, Case, Skipped
from helpers import records
from helpers.names import KERNELS

# The laws that a native run cannot test are tested in the guest's share.
ALWAYS_TESTED = {"send", "reference", "receive", "end to end", "witness sent", "witness received",
                 "probes", "content"}
BOOT_S = 240


def count(case: Case, *words) -> int:
    """One run of 64-byte messages; how many events its balanced books hold."""
    dice = case.dice
    variant = dice.choice(["A1-plain", "A1-plain", "A1-plain", "A2", "A1", "A1-8send"])
    done, record = runs.run(case, variant, 64, dice.choice([1, 1, 2]), "--path",
                            dice.choice(["lo", "veth"]), "--seconds", case.seconds, "--cost",
                            "--pass", "counted", *words,
                            timeout_s=5 * case.seconds + BOOT_S)
    if record is None:
        raise Broken(f"no record: {done}")
    if runs.outcome(record) == runs.BLIND:
        raise Skipped(f"a run in which {record['experiment']['outcome']['reason']} counts nothing")
    tested = records.laws_with(record, "balanced")
    if done.status or runs.outcome(record) != runs.COMPLETE or not tested >= ALWAYS_TESTED:
        raise Broken(f"{record['experiment']['outcome']}, not balanced {sorted(ALWAYS_TESTED - tested)}: {done}")
    return record["overhead"]["events"]


def try_host(case: Case) -> int:
    """On this kernel."""
    return count(case)


def try_guest(case: Case) -> int:
    """In a guest, emulated where there is no KVM, with all laws."""
    return count(case, "--kernel", case.dice.choice(KERNELS))


CLAIM = "Messages of 64 bytes, run after run: every law that can be tested balances to the byte. An " \
        "event is one run of a probe program, as the kernel counts them. {}"
ATTACKS = [
    Attack("events-host", CLAIM.format("On this kernel."), "events", 980_000_000, 1, try_host,
           batch=4, jobs=1, seconds=4, slice_seconds=1.5),
    Attack("events-guest", CLAIM.format("In guests of four kernels, all laws."), "events",
           20_000_000, 0, try_guest, batch=2, seconds=40),
]
