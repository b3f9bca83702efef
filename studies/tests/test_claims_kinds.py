# SPDX-License-Identifier: GPL-2.0
"""Values of another machine, and claims that stand as published and as described, are judged as such."""
from __future__ import annotations

import json
import re

import pytest

from copyscope.common.errors import Unusable
from copyscope.common.tree import DOCS
from copyscope.records import documents
from copyscope_studies.claims import document, files, judge, sources
from copyscope_studies.claims.world import World
from helpers.pictures import made

TABLE = """[[tables]]
name = "T"
where = "1"
keys = ["size"]
columns = { rate = "Gbps" }
rows = [[64, 1.5]]
"""
RATE, THERE = "run(variant=A3).throughput", "published(table=T, size=64).rate"
BOTH = f"kind = 'value'\nhere = '''{RATE}'''\nthere = '''{THERE}'''\n"


def claim(name: str, predicate: str, more: str = "") -> str:
    """A claim in a file."""
    return f"[[claims]]\nid = '{name}'\nstatement = 's'\npredicate = '''{predicate}'''\n{more}"


def timed(number: int, gbps: float) -> dict:
    """A record without probes."""
    data = made(number=number, backend__name="none")
    data["experiment"]["timing"]["throughput_gbps"] = gbps
    return data


def verdicts(tmp_path, text: str, records: list[dict]) -> tuple[list[judge.Verdict], World]:
    """The verdicts on the claims of a text."""
    source, world = tmp_path / "mine.toml", World()
    source.write_text(text)
    claims = files.read_all([source], world)
    for number, each in enumerate(records):
        (tmp_path / f"{number}.json").write_text(json.dumps(each))
    for each in sources.items(sorted(tmp_path.glob("*.json")), print):
        world.add(each)
    return [judge.judge(each, world) for each in claims], world


def test_a_value_that_is_another_one_here_is_not_refuted(tmp_path):
    text = TABLE + claim("a", f"{RATE} in [1 Gbps, 2 Gbps]", BOTH) + claim("b", f"{RATE} in [1 Gbps, 2 Gbps]") + \
        claim("c", f"{RATE} > 1 Gbps", BOTH)
    records = [timed(each, gbps) for each, gbps in enumerate((2.5, 3, 3, 3, 3, 4))]
    found, world = verdicts(tmp_path, text, records)
    assert [each.word for each in found] == [judge.DIFFERS, judge.REFUTED, judge.CONFIRMED]
    assert (found[0].here, found[0].there, found[0].ratio) == ("3 Gbps [2.5 Gbps, 4 Gbps]", "1.5 Gbps", "2 [1.66667, 2.66667]")
    assert found[1].here is None and "there 1.5 Gbps: 2" in "\n".join(judge.lines(found[0]))
    made_of = document.whole(found, world)
    documents.check(json.loads(document.text(made_of)), "verdicts", tmp_path, "")
    assert made_of["verdicts"][0]["kind"] == "value" and made_of["verdicts"][0]["comparisons"] == 2


def test_a_value_that_is_not_known_here_is_undecided(tmp_path):
    found, _ = verdicts(tmp_path, TABLE + claim("a", f"{RATE} > 1 Gbps", BOTH), [timed(1, 2.0)])
    assert found[0].word == judge.UNDECIDED and found[0].here is None and found[0].there == "1.5 Gbps"


TWICE = claim("a", f"{RATE} > 1 Gbps", "as = 'published'\nprogram = 'a.c:7 never asks for it'\n")
LATER = claim("a-described", f"{RATE} > 0 Gbps", "as = 'described'\nof = 'a'\n")


def test_a_claim_stands_as_published_and_as_described(tmp_path):
    found, world = verdicts(tmp_path, LATER + TWICE, [timed(each, 2.0) for each in range(6)])
    rows = document.whole(found, world)["verdicts"]
    assert [(each["as"], each["of"], each["program"]) for each in rows] == [
        ("described", "a", None), ("published", None, "a.c:7 never asks for it")]
    assert "program: a.c:7" in "\n".join(judge.lines(found[1]))


@pytest.mark.parametrize("text, reason", [
    (claim("a", "1 == 1", "kind = 'other'\n"), "kind must be value"),
    (claim("a", f"{RATE} > 1 Gbps", "kind = 'value'\n"), "go together"),
    (claim("a", f"{RATE} > 1 Gbps", BOTH.replace("kind", "category")), "go together"),
    (claim("a", f"{RATE} > 1 Gbps", BOTH.replace(".rate", ".rate / 1 Gbps")), "units differ"),
    (claim("a", f"{RATE} > 1 Gbps", BOTH.replace(THERE, RATE)), "published numbers"),
    (claim("a", f"{RATE} > 1 Gbps", BOTH.replace(THERE, "1 ==")), "there: "),
    (claim("a", "1 == 1", "as = 'meant'\n"), "as must be"),
    (TWICE.replace("variant=A3", "mode=corrected"), "not judged by mode=corrected"),
    (LATER.replace("variant=A3", "mode=as-published"), "not judged by mode=as-published"),
    (claim("a", "1 == 1", "as = 'published'\n"), "program go together"),
    (claim("a", "1 == 1", "program = 'a.c:1'\n"), "program go together"),
    (claim("a", "1 == 1", "as = 'described'\n"), "of go together"),
    (TWICE + LATER.replace("a-described", "b"), "the id must be a-described"),
    (LATER, "no claim with as"), (claim("a", "1 == 1") + LATER, "no claim with as")])
def test_what_does_not_belong_together_is_refused(tmp_path, text, reason):
    source = tmp_path / "mine.toml"
    source.write_text(TABLE + text)
    with pytest.raises(Unusable, match=reason) as caught:
        files.read_all([source], World())
    assert str(caught.value).startswith(f"{source}:")


def test_the_document_has_the_table_of_verdicts():
    text = (DOCS / "CLAIMS.md").read_text().split("## Verdicts\n")[1].split("\n#")[0]
    assert re.findall(r"^\| ([A-Z ]+) \|", text, re.MULTILINE) == list(judge.WORDS)
    enum = json.loads((DOCS / "verdicts.schema.json").read_text())["properties"]["verdicts"]["items"]["properties"]["verdict"]["enum"]
    assert enum == list(judge.WORDS)
