# SPDX-License-Identifier: GPL-2.0
"""No verdict is CONFIRMED by the baseline of one processor and REFUTED by that of another."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from copyscope.records import documents
from copyscope_studies.claims import command, files, judge, sources
from copyscope_studies.claims.language import check, tree, values
from copyscope_studies.claims.world import World

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"
ELSEWHERE = RESULTS / "baseline-elsewhere" / "records.tar.xz"
TOLD = {judge.CONFIRMED, judge.REFUTED}


def asks_for_a_baseline(claim: files.Claim) -> bool:
    """Tell whether anything that judges a claim is of a baseline."""
    trees = [claim.tree, claim.condition, *(claim.values or ())]
    return any(isinstance(part, tree.Select) and part.kind == "baseline"
               for each in trees if each for part in check.parts(each))


def folders(claims: list[files.Claim]) -> list[Path]:
    """The folders of results that these claims need, but for modelled caches."""
    found = {RESULTS / "single", *RESULTS.glob("repeats/*")}
    for each in (need.split() for claim in claims for need in claim.runs):
        found.add(RESULTS / {"sweep": "-".join(each[1:3]), "crossover": "crossovers"}.get(each[0], each[0]))
    return sorted(each for each in found if each.is_dir() and each.name != "baseline")


def elsewhere():
    """The rows of the other processor's baselines."""
    for name, data in sources.archived(ELSEWHERE):
        yield from sources.of_document(Path(name), json.loads(data), print)


@pytest.fixture(name="verdicts", scope="module")
def fixture_verdicts():
    """Each claim that asks for a baseline, judged by that of this machine and by the other one."""
    known = World()
    claims = [each for each in files.read_all(command.claim_files(None), known)
              if each.measured and asks_for_a_baseline(each)]
    others, here = [], list(sources.of_folder(RESULTS / "baseline", print))
    for each in sources.items(folders(claims), print):
        (here if each.kind == "baseline" else others).append(each)
    # There are three records of the other processor. A verdict needs six: by the range of three more is
    # told than a verdict may say, so that what would flip is found.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(values, "LEAST_REPEATS", 3)
        worlds = [World(known.tables.values(), [*others, *rows]) for rows in (here, elsewhere())]
        return [(each, *(judge.judge(each, world) for world in worlds)) for each in claims]


def test_the_baselines_are_of_two_processors():
    models = [{each.data["machine"]["cpu_model"] for each in rows}
              for rows in (sources.of_folder(RESULTS / "baseline", print), elsewhere())]
    assert all(len(each) == 1 for each in models) and models[0] != models[1]
    assert documents.read_bytes(ELSEWHERE)


def test_no_claim_is_confirmed_on_one_processor_and_refuted_on_the_other(verdicts):
    flipped = [claim.id for claim, one, other in verdicts if {one.word, other.word} == TOLD]
    print(*(f"{claim.id}: {one.word} here, {other.word} on the other processor"
            for claim, one, other in verdicts if one.word != other.word), sep="\n")
    assert not flipped
    # The other one decides something, too.
    assert sum(other.word != judge.UNDECIDED for _, _, other in verdicts) > len(verdicts) / 4
