# SPDX-License-Identifier: GPL-2.0
"""Turns what the evaluation of a predicate came to into a verdict with its evidence."""
from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from .files import VALUE, Claim
from .language import units, values
from .language.evaluate import Findings, Step, evaluate, interval, value_of
from .language.values import Missing
from .readings import Evidence
from .world import World, evidence_line

CONFIRMED, REFUTED, DIFFERS = "CONFIRMED", "REFUTED", "DIFFERS HERE"
CONTRADICTED = "CONTRADICTED BY ITS OWN NUMBERS"
UNDECIDED, OUT_OF_SCOPE = "UNDECIDED", "OUT OF SCOPE"
# Said beside a verdict that rests on it.
BY_MODEL = "by modelled caches, which prefetch nothing: no PMU of a processor has confirmed it"
# Each word, and when it is the verdict; docs/CLAIMS.md has the same table.
WORDS = {
    CONFIRMED: "the predicate is true by records",
    REFUTED: "a relation, a mechanism or a count is false where it was claimed to hold",
    DIFFERS: "a value or a threshold of the authors' machine is another one here",
    CONTRADICTED: "the report's own numbers make the predicate false",
    UNDECIDED: "something is missing, or an interval is too wide; it says what would decide",
    OUT_OF_SCOPE: "about the report itself, or arithmetic on its own numbers that holds",
}
LATER = "its predicate was fixed after results had been judged"
OWN = "calculated: the report's own numbers"


@dataclass(frozen=True)
class Verdict:
    """What became of one claim, and by which numbers."""

    claim: Claim
    word: str
    why: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    evidence: tuple[Evidence, ...] = field(default=(), repr=False)
    # Of a value: what it is here, what it is there, and here over there.
    here: str | None = None
    there: str | None = None
    ratio: str | None = None

    @property
    def comparisons(self) -> int:
        """How many of its steps compared intervals: each is right with 95 % only."""
        return sum(not each.exact for each in self.steps)


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
    pair = both_values(claim, world)
    # A quantity that several steps ask for is shown once.
    evidence = tuple({each.said: each for each in world.evidence}.values())
    word, why = worded(claim, found)
    if word in (CONFIRMED, REFUTED, DIFFERS) and any(
            how.startswith("modelled") for each in evidence for how in each.hows):
        why = (*why, BY_MODEL)
    if word != UNDECIDED and claim.fixed and claim.fixed.after_numbers:
        why = (*why, f"{LATER} ({claim.fixed.commit}, {claim.fixed.date})")
    return replace(Verdict(claim, word, why, tuple(found.steps), evidence), **pair)


def worded(claim: Claim, found: Findings) -> tuple[str, tuple[str, ...]]:
    """The word that what was found comes to, and why."""
    if not claim.measured:
        return (OUT_OF_SCOPE, (f"{OWN} agree with it",)) if found.truth else \
            (CONTRADICTED, (f"{OWN} contradict it",))
    if found.truth is None:
        return UNDECIDED, tuple([f"missing: {each}" for each in found.missing] or
                                [f"the interval is too wide: {each}" for each in found.overlapping])
    if found.truth:
        return CONFIRMED, ()
    return DIFFERS if claim.kind == VALUE else REFUTED, ()


def both_values(claim: Claim, world: World) -> dict[str, Any]:
    """Of a value what it is here and there, and the ratio of both, as far as they are known."""
    if claim.values is None:
        return {}
    here, there = (value_of(each, world)[0] for each in claim.values)
    found = {name: interval(each) for name, each in (("here", here), ("there", there))
             if each is not None}
    if here is not None and there is not None:
        with suppress(Missing):
            found["ratio"] = interval(values.arithmetic("/", here, there, units.NONE))
    return found


def truth_text(step: Step) -> str:
    """A comparison in words."""
    word = {True: "true", False: "false", None: "undecided"}[step.truth]
    return f"{word}: {step.said}: {step.left} against {step.right}"


def reason(verdict: Verdict) -> list[str]:
    """Of what is not decided, the first thing that is missing, without the part that asks for it:
    that is of the evidence."""
    return [each.partition(" (")[0] if each.endswith(")") else each for each in verdict.why[:1]] \
        if verdict.word == UNDECIDED else []


def lines(verdict: Verdict, most: int = 12) -> list[str]:
    """What a verdict rests on, a line each."""
    claim = verdict.claim
    steps = [truth_text(each) for each in verdict.steps]
    proof = [evidence_line(each) for each in verdict.evidence]
    found = [f"why: {each}" for each in verdict.why[:most]]
    if claim.predicate:
        found.append(f"predicate: {' '.join(claim.predicate.split())}")
    if verdict.here or verdict.there:
        found.append(f"here {verdict.here or 'not known'}, there {verdict.there or 'not known'}" +
                     (f": {verdict.ratio} times" if verdict.ratio else ""))
    if verdict.comparisons:
        found.append(f"comparisons of intervals, each with 95 %: {verdict.comparisons}")
    if claim.program:
        found.append(f"program: {claim.program}")
    for name, each in (("step", steps), ("evidence", proof)):
        found += [f"{name}: {line}" for line in each[:most]]
        if len(each) > most:
            found.append(f"{name}: and {len(each) - most} more")
    return found
