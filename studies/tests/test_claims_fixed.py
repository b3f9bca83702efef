# SPDX-License-Identifier: GPL-2.0
"""The ledger says of each predicate when it was fixed, and whether results had been judged by then."""
from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from copyscope.common.errors import Unusable
from copyscope_studies.claims import command, document, files, judge, ledger, sources
from copyscope_studies.claims.ledger import History
from copyscope_studies.claims.world import World
from helpers.pictures import made

ROOT = Path(__file__).resolve().parents[2]
CLAIM = "[[claims]]\nid = 'a'\nstatement = 's'\npredicate = '''{}'''\n"
NAMES = {"A3": "run(label=A3)", "Sent": "A3(size=64).messages"}


def own_claims() -> list[files.Claim]:
    """The claims of the tree."""
    return files.read_all(command.claim_files(None), World())


def test_every_predicate_is_the_one_that_the_ledger_has():
    lost = [each.id for each in own_claims() if each.predicate and not each.fixed]
    assert not lost, f"commit the predicates of {', '.join(lost)}, then run tools/claims fix"
    assert set(ledger.read()) == {each.id for each in own_claims() if each.predicate}


def test_the_ledger_is_that_of_the_history():
    history = History(ROOT)
    if not history.whole():
        pytest.skip("git's whole history is not here")
    assert history.entries() == ledger.read(), "run tools/claims fix"


@pytest.mark.parametrize("other, same", [
    ({"predicate": "Sent  >\n 1 # more than one"}, True), ({"statement": "other"}, True),
    ({"predicate": "A3(size=64).messages > 1"}, False), ({"predicate": "Sent > 2"}, False),
    ({"given": "A3.cpus > 1"}, False), ({"here": "Sent"}, False), ({"there": "3"}, False)])
def test_a_changed_predicate_has_another_hash(other, same):
    claim = {"predicate": "Sent > 1"}
    assert (ledger.hash_of({**claim, **other}, NAMES) == ledger.hash_of(claim, NAMES)) == same


def test_what_names_stand_for_is_part_of_a_predicate():
    assert ledger.put_in("Sent > 1 and run(label=A3|Sent, size='Sent').x == Sent", NAMES) == \
        "((run(label=A3))(size=64).messages) > 1 and run(label=A3|Sent, size='Sent').x == " \
        "((run(label=A3))(size=64).messages)"
    changed = {**NAMES, "A3": "run(label=A2)"}
    assert ledger.hash_of({"predicate": "Sent > 1"}, NAMES) != ledger.hash_of({"predicate": "Sent > 1"}, changed)
    assert ledger.hash_of({"beyond": "b"}, NAMES) == ""


def commit(root: Path, **texts: str) -> str:
    """Commit files, and return the commit's name as the ledger has it."""
    for name, text in texts.items():
        path = root / {"claims": "studies/claims/mine.toml", "before": "claims/mine.toml",
                       "judged": "results/claims/verdicts.json"}[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["add", "-A"], ["commit", "-qm", "a", "--date", "2026-01-02T00:00:00"]):
        subprocess.run([*git, *words], check=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout[:12]


def verdicts(word: str, evidence: list) -> str:
    """A record of one verdict."""
    return json.dumps({"verdicts": [{"id": "a", "verdict": word, "evidence": evidence}]})


@pytest.fixture(name="root")
def fixture_root(tmp_path):
    """A repository whose first commit has a predicate."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    commit(tmp_path, claims=CLAIM.format("1 == 1"))
    return tmp_path


def test_a_predicate_that_was_there_first_was_fixed_without_numbers(root):
    first = History(root).git("rev-parse", "HEAD")[:12]
    commit(root, judged=verdicts("CONFIRMED", []))
    commit(root, claims="# a comment\n" + CLAIM.format("1  == 1"))
    found = History(root).entries()["a"]
    assert (found.commit, found.date, found.after_numbers) == (first, "2026-01-02", False)


@pytest.mark.parametrize("judged, after", [
    (verdicts("CONFIRMED", []), True), (verdicts("UNDECIDED", []), False), (verdicts("UNDECIDED", [1]), True),
    (json.dumps({"verdicts": []}), True)])
def test_a_predicate_that_is_changed_after_a_verdict_says_so(root, judged, after):
    commit(root, judged=judged)
    last = commit(root, claims=CLAIM.format("2 == 2"))
    found = History(root).entries()["a"]
    assert (found.commit, found.after_numbers) == (last, after)


def test_a_predicate_that_was_moved_was_fixed_where_it_was_first(root):
    (root / "studies/claims/mine.toml").unlink()
    first = commit(root, before=CLAIM.format("2 == 2"))
    (root / "claims/mine.toml").rename(root / "studies/claims/mine.toml")
    last = commit(root, judged=verdicts("CONFIRMED", []))
    found = History(root).entries()["a"]
    assert (found.commit, found.after_numbers) == (first, False) and first != last


def test_what_is_judged_in_the_same_commit_was_not_known_before(root):
    commit(root, claims=CLAIM.format("2 == 2"), judged=verdicts("CONFIRMED", []))
    assert not History(root).entries()["a"].after_numbers


def test_a_verdict_says_that_its_predicate_is_younger_than_results(tmp_path, monkeypatch):
    source = tmp_path / "mine.toml"
    source.write_text(CLAIM.format("run().messages > 0 messages"))
    text = files.read_all([source], World())[0].hash
    known = {"a": ledger.Fixed(text, "abcdef012345", "2026-01-02", True)}
    written = tmp_path / "fixed.toml"
    written.write_text(ledger.text(known.items()))
    assert ledger.read(written) == known
    monkeypatch.setattr(ledger, "read", lambda: known)
    world = World(items=sources.of_document(Path("run.json"), made(), print))
    found = judge.judge(files.read_all([source], world)[0], world)
    assert found.word == judge.CONFIRMED and f"{judge.LATER} (abcdef012345, 2026-01-02)" in found.why
    assert document.verdict(found)["fixed"] == {"commit": "abcdef012345", "date": "2026-01-02", "after_numbers": True}
    source.write_text(CLAIM.format("run().messages > 1 message"))
    found = judge.judge(files.read_all([source], world)[0], world)
    assert not found.why and document.verdict(found)["fixed"] is None


@pytest.mark.parametrize("text", ["a = 1", "a = { text = 'x' }", "a = {"])
def test_a_damaged_ledger_is_refused_in_one_line(tmp_path, text):
    (tmp_path / "fixed.toml").write_text(text)
    with pytest.raises(Unusable, match="fixed.toml"):
        ledger.read(tmp_path / "fixed.toml")
