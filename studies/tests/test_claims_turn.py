# SPDX-License-Identifier: GPL-2.0
"""Every claim that is judged by measurement can be confirmed and refuted, and lacks what is missing."""
from __future__ import annotations

import functools
import random
from fractions import Fraction
from pathlib import Path

import pytest

from copyscope_studies.claims import command, files, judge
from copyscope_studies.claims.language import check, expand, tree, values
from copyscope_studies.claims.language.parse import FITS
from copyscope_studies.claims.language.values import Missing
from copyscope_studies.claims.world import World

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[2]
SOURCES = command.claim_files(None)
WORLD = World()
CLAIMS = files.read_all(SOURCES, WORLD)
MEASURED = [each for each in CLAIMS if each.measured]
RECORDS = tuple(f"record {each}" for each in range(values.LEAST_REPEATS))
# How many alterations of one record are tried before a verdict counts as one that cannot turn.
MOST_TRIES = 6000
FACTORS = tuple(map(Fraction, ("0", "1/2", "99/100", "1", "101/100", "3/2", "2", "3", "4", "10")))


class Altered(World):
    """Records that say whatever a test wants, each quantity by its text. One record suffices to search by,
    as all say the same."""

    def __init__(self, said: dict[str, Fraction] | None = None, records: tuple[str, ...] = RECORDS) -> None:
        super().__init__(WORLD.tables.values())
        self.said, self.records = dict(said or {}), records
        self.lost: str | None = None
        self.dice = random.Random(1)

    def read(self, kind, filters, name):
        """A quantity: the same in all repeats."""
        if kind == "published":
            return super().read(kind, filters, name)
        said = expand.text(tree.Quantity(0, tree.Select(0, kind, filters), name))
        if said == self.lost:
            raise Missing("it was taken away")
        start = 64 if name == "cpus" else self.dice.randint(1, 4)
        meaning = self.meaning(kind, filters, name)
        number = self.said.setdefault(said, Fraction(start))
        return values.sample(meaning.unit, meaning.exact or len(self.records) == 1, self.records,
                             (number,) * len(self.records))


def constants(claim) -> list[Fraction]:
    """The numbers that a predicate compares with, and those that its keys run through."""
    found = {Fraction(1), Fraction(64), Fraction(65536)}
    for each in check.parts(claim.tree):
        if isinstance(each, tree.Number):
            found.add(each.value)
        if isinstance(each, tree.Aggregate):
            found |= {Fraction(word) for _, words in each.keys for word in words if word.isdigit()}
        if isinstance(each, tree.Quantity) and each.of.kind == "published":
            for _, row in WORLD.tables[dict(each.of.filters)["table"][0]].rows:
                found.add(row[each.name] or Fraction(1))
    return sorted(found)


def turned(claim, word: str) -> Altered | None:
    """Records by which the verdict is this word; None if no alteration brings it about."""
    said = sought(claim.id, word)
    return None if said is None else Altered(said)


@functools.cache
def sought(name: str, word: str) -> dict[str, Fraction] | None:
    """What each quantity of such records is: found by climbing from any records to them."""
    claim = next(each for each in CLAIMS if each.id == name)
    # A fit needs repeats.
    fits = any(isinstance(each, tree.Aggregate) and each.function in FITS for each in check.parts(claim.tree))
    world, known = Altered(records=RECORDS if fits else RECORDS[:1]), constants(claim)
    wanted = word == judge.CONFIRMED
    best = -1.0
    for _ in range(MOST_TRIES):
        before = dict(world.said)
        if before:
            said = world.dice.choice(sorted(before))
            world.said[said] = world.dice.choice([*known, *before.values()]) * \
                world.dice.choice(FACTORS)
        found = judge.judge(claim, world)
        if found.word == word and judge.judge(claim, Altered(world.said)).word == word:
            return world.said
        score = sum(each.truth is wanted for each in found.steps) - \
            len(found.why) * (found.word == judge.UNDECIDED)
        if score >= best:
            best = score
        else:
            world.said = before
    return None


def test_all_claims_of_the_reports_are_there():
    counts = {"MT25023": 66, "MT25029": 27, "MT25064": 66, "MT25018": 13, "CSE221": 65}
    wanted = {f"{report}-C{number}" for report, most in counts.items()
              for number in range(1, most + 1)}
    assert {each.id for each in CLAIMS} >= wanted


def test_each_claim_is_whole():
    for claim in CLAIMS:
        assert claim.category and claim.where and claim.statement and claim.words, claim.id
        assert not claim.measured or claim.runs and claim.undecidable, claim.id
        assert not (claim.beyond or claim.unmeasured) or not claim.predicate, claim.id


def test_what_no_record_decides_is_never_confirmed():
    for claim in CLAIMS:
        if not claim.measured:
            found = judge.judge(claim, Altered())
            words = (judge.UNDECIDED,) if claim.unmeasured else (judge.OUT_OF_SCOPE, judge.CONTRADICTED)
            assert found.word in words and found.why, claim.id


def test_an_altered_record_turns_each_verdict():
    for claim in MEASURED:
        other = judge.DIFFERS if claim.kind == files.VALUE else judge.REFUTED
        confirmed, refuted = turned(claim, judge.CONFIRMED), turned(claim, other)
        assert confirmed and refuted, claim.id
        # From one to the other.
        confirmed.said.update(refuted.said)
        assert judge.judge(claim, confirmed).word == other, claim.id


def test_each_quantity_that_is_missing_leaves_its_claim_undecided():
    for claim in MEASURED:
        world = turned(claim, judge.CONFIRMED)
        for said in list(world.said):
            world.lost = said
            found = judge.judge(claim, world)
            assert found.word == judge.UNDECIDED and "taken away" in found.why[0], (claim.id, said)


def test_without_records_each_is_undecided():
    nothing = World(WORLD.tables.values())
    for claim in MEASURED:
        found = judge.judge(claim, nothing)
        assert found.word == judge.UNDECIDED and found.why, claim.id


def test_nothing_that_judges_reads_what_was_expected():
    text = "\n".join(each.read_text() for each in (*SOURCES, *(ROOT / "studies/lib/copyscope_studies/claims").rglob("*.py")))
    assert "expect" not in text.lower()
