# SPDX-License-Identifier: GPL-2.0
"""Judges a claim in the form that it had before, and in the one that it has, by the same records."""
from __future__ import annotations

import functools
import json
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from copyscope.common.errors import Unusable
from copyscope_studies.claims import command, files, judge, sources
from copyscope_studies.claims.language import values
from copyscope_studies.claims.readings import Item
from copyscope_studies.claims.world import World

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "claims-before"


@dataclass(frozen=True)
class Before:
    """One claim as it was. Either the checker refuses it with words such as `refused`, or by the
    records it gives another verdict than the claims that stand in its place (`now`)."""
    id: str
    why: str
    claim: dict
    names: dict
    now: tuple[str, ...]
    # Folders and files below results/, or the name of records that the test makes.
    records: tuple[str, ...] = ()
    made: str = ""
    refused: str = ""


def read(report: str) -> list[Before]:
    """All claims of a report that had another form before. [names] of the file are those of that time; each
    [[before]] has id, why, claim, and now (ids, itself if not given), and refused, records or made."""
    data = tomllib.loads((DATA / f"{report.lower()}.toml").read_text())
    found = []
    for each in data["before"]:
        assert sum(key in each for key in ("refused", "records", "made")) == 1, each["id"]
        claim = {"id": each["id"], "statement": "as it was", **each["claim"]}
        found.append(Before(**{**each, "claim": claim, "names": data.get("names", {}),
                               "now": tuple(each.get("now", [each["id"]])),
                               "records": tuple(each.get("records", ()))}))
    return found


def written(before: Before) -> str:
    """The file of claims that it stood in: TOML takes the strings and lists that JSON has."""
    def lines(table: dict) -> list[str]:
        return [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items()]
    return "\n".join(["[names]", *lines(before.names), "[[claims]]", *lines(before.claim), ""])


def refusal(before: Before, folder: Path) -> str:
    """Why the checker refuses the old form; empty if it accepts it."""
    try:
        old(before, folder)
    except Unusable as error:
        return str(error)
    return ""


def old(before: Before, folder: Path) -> tuple[World, files.Claim]:
    """The claim as it was, read by the checker of today, and the world that it was read into."""
    source, world = folder / "before.toml", World()
    source.write_text(written(before))
    return world, files.read_all(command.claim_files([source]), world)[-1]


@functools.cache
def committed(name: str) -> tuple[Item, ...]:
    """What a folder or a file below results/ holds; read once."""
    return tuple(sources.items([ROOT / "results" / name], print))


def repeated(*names: str) -> list[Item]:
    """One committed modelled run of each point, as if repeats had come to the same."""
    first = {tuple(sorted((each.words | {"repeat": "", "id": ""}).items())): each for name in names
             for each in reversed(committed(name))}
    return [replace(each, name=f"{each.name}-{number}") for each in first.values()
            for number in range(values.LEAST_REPEATS)]


@functools.cache
def report(name: str) -> tuple[World, dict[str, files.Claim]]:
    """The claims of a report by id, and a world that has its published numbers."""
    world = World()
    claims = files.read_all(command.claim_files([ROOT / "studies/claims" / f"{name}.toml"]), world)
    return world, {each.id: each for each in claims}


def new(identity: str) -> tuple[World, files.Claim]:
    """A claim as it stands, and the world that it was read into."""
    world, claims = report(identity.split("-")[0].lower())
    return world, claims[identity]


def by(found: tuple[World, files.Claim], items: list[Item]) -> judge.Verdict:
    """The verdict on a claim by these records, and the published numbers of the world it was read into."""
    world, claim = found
    return judge.judge(claim, World(world.tables.values(), items))


def verdicts(before: Before, folder: Path, made: list[Item] | None = None) -> tuple[str, list[str]]:
    """The verdict on the old form and those on the claims in its place, by the same records."""
    items = made if made is not None else [each for name in before.records for each in committed(name)]
    return by(old(before, folder), items).word, [by(new(each), items).word for each in before.now]


def check(before: Before, folder: Path, made: list[Item] | None = None) -> None:
    """The old form is refused, or says something else than what stands in its place."""
    if before.refused:
        assert before.refused in refusal(before, folder), before.id
        return
    was, now = verdicts(before, folder, made)
    assert any(word != was for word in now), f"{before.id} was {was} and is {', '.join(now)}"
