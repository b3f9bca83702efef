# SPDX-License-Identifier: GPL-2.0
"""Random programs of socket calls under a watch with random options, from the first call and in mid-life."""
from __future__ import annotations

from attacks.attack import Attack, Broken, Case
from fuzz.compare import compare
from fuzz.draw import PROTOCOLS, draw
from fuzz.suite import run_one

SEEDS = 1 << 40


def try_program(case: Case) -> None:
    """One program, held against its own calls."""
    drawn = draw([case.dice.randrange(1, SEEDS)], protocol=case.dice.choice(PROTOCOLS))
    run_one(case.place, drawn)
    compared, = compare(case.place, drawn)
    if compared.faults:
        raise Broken(f"tests/random_programs {drawn}: {[each.said for each in compared.faults[:5]]}")


ATTACKS = [Attack(
    "random-programs", "Whatever calls a program makes of its TCP or UDP sockets, each number of a watch is what the "
    "calls said, or not measured, and no law is called broken.", "programs", 5_000, 100, try_program)]
