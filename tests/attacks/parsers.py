# SPDX-License-Identifier: GPL-2.0
"""The parsers of foreign bytes in one process under sanitizers, thousands of inputs a second."""
from __future__ import annotations

from attacks import judge, started
from attacks.attack import Attack, Broken, Case

# A case of the campaign is a run of the driver over so many inputs; the driver names the one.
INPUTS = 1000


def try_inputs(case: Case) -> int:
    """One run of the driver, from a seed of its own."""
    program = started.SANITIZED / "build/tests/attacks/parsers"
    seed = case.dice.randrange(1 << 32)
    done = started.run([program, seed, 0, INPUTS], case.place, timeout_s=300)
    lines = done.out.decode(errors="replace").splitlines()
    if done.status or not lines or not lines[-1].startswith(f"{INPUTS} inputs"):
        raise Broken(f"parsers {seed} stopped at {lines[-1:]}: {done}")
    judge.said_soundly(done)
    if int(lines[-1].split()[2]) < INPUTS // 50:
        raise Broken(f"almost no input was taken, so almost nothing was tried: {lines[-1]}")
    return INPUTS


ATTACKS = [Attack(
    "parsers", "No line of another host, hello, request, half of a record or totals of a workload makes its parser, "
    "the laws or the record's writer read or write out of bounds or overflow a signed number (ASan, "
    "UBSan).", "inputs", 100_000, 1, try_inputs, batch=4, needs_root=False,
    prepare=started.build_sanitized)]
