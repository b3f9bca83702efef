# SPDX-License-Identifier: GPL-2.0
"""Turns what the evaluation of a predicate came to into a verdict with its evidence."""
from __future__ import annotations

from dataclasses import dataclass, field

from .files import Claim
from .language.evaluate import Step, evaluate
from .readings import Evidence
from .world import World, evidence_line

CONFIRMED, REFUTED, UNDECIDED, OUT_OF_SCOPE = "CONFIRMED", "REFUTED", "UNDECIDED", "OUT OF SCOPE"
# Said beside a verdict that rests on it.
BY_MODEL = "by modelled caches, which prefetch nothing: no PMU of a processor has confirmed it"
WORDS = (CONFIRMED, REFUTED, UNDECIDED, OUT_OF_SCOPE)


@dataclass(frozen=True)
class Verdict:
    """What became of one claim, and by which numbers."""

    claim: Claim
    word: str
    why: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    evidence: tuple[Evidence, ...] = field(default=(), repr=False)


def judge(claim: Claim, world: World) -> Verdict:
    """Judge one claim. Nothing but its predicate and the records decide."""
    if claim.unmeasured:
        return Verdict(claim, UNDECIDED, (f"missing: {claim.unmeasured}",))
    if claim.beyond:
        return Verdict(claim, OUT_OF_SCOPE, (claim.beyond,))
    assert claim.tree is not None
    world.evidence = []
    if claim.condition is not None:
        given = evaluate(claim.condition, world)
        if not given.truth:
            why = given.missing or [f"a machine where {' '.join(claim.given.split())}"]
            return Verdict(claim, UNDECIDED, tuple(f"missing: {each}" for each in why),
                           tuple(given.steps), tuple(world.evidence))
    found = evaluate(claim.tree, world)
    # A quantity that several steps ask for is shown once.
    evidence = tuple({each.said: each for each in world.evidence}.values())
    steps = tuple(found.steps)
    if not claim.measured:
        agrees = "agree with" if found.truth else "contradict"
        return Verdict(claim, OUT_OF_SCOPE, (f"calculated: the report's own numbers {agrees} it",),
                       steps, evidence)
    if found.truth is None:
        why = [f"missing: {each}" for each in found.missing] or \
            [f"the interval is too wide: {each}" for each in found.overlapping]
        return Verdict(claim, UNDECIDED, tuple(why), steps, evidence)
    caveat = (BY_MODEL,) if any(how.startswith("modelled") for each in evidence
                                for how in each.hows) else ()
    return Verdict(claim, CONFIRMED if found.truth else REFUTED, caveat, steps, evidence)


def truth_text(step: Step) -> str:
    """A comparison in words."""
    word = {True: "true", False: "false", None: "undecided"}[step.truth]
    return f"{word}: {step.said}: {step.left} against {step.right}"


def lines(verdict: Verdict, most: int = 12) -> list[str]:
    """What a verdict rests on, a line each."""
    claim = verdict.claim
    steps = [truth_text(each) for each in verdict.steps]
    proof = [evidence_line(each) for each in verdict.evidence]
    found = [f"why: {each}" for each in verdict.why[:most]]
    if claim.predicate:
        found.append(f"predicate: {' '.join(claim.predicate.split())}")
    for name, each in (("step", steps), ("evidence", proof)):
        found += [f"{name}: {line}" for line in each[:most]]
        if len(each) > most:
            found.append(f"{name}: and {len(each) - most} more")
    return found
