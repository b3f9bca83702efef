# SPDX-License-Identifier: GPL-2.0
"""Runs attacks batch by batch until their goals are reached or the time is up."""
from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from attacks import places
from attacks.attack import Attack, Result, from_root, try_case
from attacks.book import Book
from helpers import processes
from helpers.machine import Machine

# So many cases that this machine could not run, and none that it could, end an attack.
SKIPS_MOST = 40
# What a worker tries: inherited when it is forked, as functions do not go through a pipe.
INHERITED: dict = {}


def begin_worker(attack: Attack, seed: int, seconds: float) -> None:
    """A worker ends with the campaign, and lets signals do what they do.

    A Ctrl-C goes to all processes of a group: the campaign is to see it first, so workers have theirs.
    """
    processes.die_with_parent()
    os.setpgid(0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    INHERITED.update(attack=attack, seed=seed, seconds=seconds)


def try_inherited(number: int) -> Result:
    """Try one case, in a worker."""
    return try_case(INHERITED["attack"], INHERITED["seed"], number, INHERITED["seconds"])


def try_batch(attack: Attack, seed: int, numbers: Iterable[int], seconds: float,
              jobs: int) -> list[Result]:
    """Try some cases, a few at a time, each worker a process of its own."""
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), begin_worker,
                             (attack, seed, seconds)) as pool:
        try:
            # Not map(): it cancels what the pool, broken by the kill below, then sets an error on.
            return [each.result() for each in [pool.submit(try_inherited, number)
                                               for number in numbers]]
        except BrokenProcessPool:
            raise SystemExit(f"campaign: a process that tried {attack.name} was killed; nothing of "
                             "this batch counts") from None
        except BaseException:
            # A signal ends the campaign now: what its workers started dies with them.
            for worker in multiprocessing.active_children():
                worker.kill()
            raise


def prepare(attack: Attack) -> None:
    """Make once what the cases share; what orphans are left must come home to be seen."""
    if attack.prepare:
        attack.prepare()
    processes.become_subreaper(True)


def attempt(attack: Attack, seed: int, numbers: Iterable[int], seconds: float,
            jobs: int) -> tuple[list[Result], str | None]:
    """Try a batch, then look for what it left on the machine."""
    # Before workers are forked: they share one folder and its lock.
    places.hold_once()
    before = Machine() if os.geteuid() == 0 else None
    results = try_batch(attack, seed, numbers, seconds, jobs)
    left = before.wait_until_as_before() if before else None
    return results, from_root(left) if left else None


def tell(attack: Attack, results: list[Result], left: str | None, command: str) -> None:
    """One line for each failure, with the words that repeat it."""
    for each in results:
        if each.broken:
            print(f"FAILED {attack.name}: {each.broken}\n"
                  f"  repeat: {command} --case {each.number}", flush=True)
    if left:
        print(f"FAILED {attack.name}: left on the machine: {left}\n  repeat: {command} "
              f"--case {results[0].number}..{results[-1].number}", flush=True)


def command_of(attack: Attack, seed: int) -> str:
    """What to type to see one case of an attack again."""
    return f"tests/campaign --only {attack.name} --seed {seed}"


def campaign(attacks: list[Attack], book: Book, ends_at: float | None, jobs: int) -> int:
    """Take turns until all goals are reached or the time is up; how many cases failed."""
    failed, prepared = 0, set()
    while True:
        due = [each for each in attacks if not book.is_done(each)]
        if not due:
            return failed
        for attack in due:
            if ends_at is not None and time.monotonic() >= ends_at:
                return failed
            if attack.name not in prepared:
                prepare(attack)
                prepared.add(attack.name)
            first = book.of(attack)["cases"]
            command, began = command_of(attack, book.seed), time.monotonic()
            results, left = attempt(attack, book.seed, range(first, first + attack.batch),
                                    attack.seconds, attack.jobs * jobs // 2 or 1)
            book.add(attack, results, time.monotonic() - began, left, command)
            tell(attack, results, left, command)
            failed += sum(each.broken is not None for each in results) + bool(left)
            entry = book.of(attack)
            print(f"{attack.name:<18} {entry['counted']:>13,} of {attack.goal:,} {attack.unit}, "
                  f"{entry['failed']} failed, {entry['seconds']:.0f} s", flush=True)
            if entry["cases"] >= SKIPS_MOST and entry["skipped"] == entry["cases"]:
                # Nothing here can run it: saying so is enough.
                attacks = [each for each in attacks if each is not attack]
