# SPDX-License-Identifier: GPL-2.0
"""What make compiled of a schema checks documents, unless the schema is another one by now."""
from __future__ import annotations

import json

import fastjsonschema
import pytest

from copyscope.records import checkers, fitting
from helpers import damage
from helpers.pictures import DATA, REAL, ROOT

from .test_mutated_records import watch

KIND = ("baseline", ())
SEED, COUNT = 11, 40


@pytest.fixture(name="made")
def fixture_made(monkeypatch, tmp_path):
    """The files that make leaves, and then a module that compiles nothing more."""
    monkeypatch.setattr(checkers, "BUILD", tmp_path)
    monkeypatch.setattr(checkers, "COMPILED", (KIND,))
    (tmp_path / "checkers").mkdir()
    (tmp_path / "checkers/baseline-0").write_bytes(b"of another schema")
    assert checkers.main([]) == 0
    monkeypatch.setattr(fastjsonschema, "compile_to_code", lambda _: pytest.fail("compiled"))
    monkeypatch.setattr(fitting, "source", lambda _: pytest.fail("compiled"))
    checkers.checker.cache_clear()
    yield tmp_path / "checkers"
    checkers.checker.cache_clear()


def test_what_was_compiled_is_used_and_replaces_what_was_there(made):
    assert len([*made.iterdir()]) == 2 and not (made / "baseline-0").exists()
    data = json.loads((DATA / "baseline-host.json").read_text())
    check = checkers.checker(*KIND)
    check(data)
    assert checkers.checker(*KIND, "fits")(data) and not checkers.checker(*KIND, "fits")({**data, "rows": 7})
    with pytest.raises(fastjsonschema.JsonSchemaValueException):
        check({**data, "rows": 7})


@pytest.mark.parametrize("what", ["fits", "validate"])
@pytest.mark.parametrize("how", ["another schema", "cut", "gone"])
def test_what_does_not_fit_is_compiled_anew(made, monkeypatch, how, what):
    for file in made.iterdir():
        if how == "cut":
            file.write_bytes(file.read_bytes()[:1000])
        elif how == "gone":
            file.unlink()
    if how == "another schema":
        schema = checkers.schema_of("baseline")
        monkeypatch.setattr(checkers, "schema_of", lambda _: schema + b"\n")
    with pytest.raises(pytest.fail.Exception, match="compiled"):
        checkers.checker(*KIND, what)


def accepts(kind: str, dropped: tuple[str, ...], data: object) -> bool:
    """Whether fastjsonschema has nothing against it."""
    try:
        checkers.checker(kind, dropped)(data)
    except fastjsonschema.JsonSchemaValueException:
        return False
    return True


WHOLE = {"record": [*REAL.values(), watch()], "baseline": [json.loads((DATA / "baseline-host.json").read_text())]}


@pytest.mark.parametrize("kind, number, dropped", [
    (kind, number, dropped) for kind, found in WHOLE.items() for number in range(len(found))
    for dropped in (checkers.MORE_KEYS, checkers.OF_ONE_VERSION, ())])
def test_the_fast_check_accepts_what_the_one_that_tells_faults_accepts(kind, number, dropped):
    """Whichever value stands at any place: what is no part of a schema cannot be wrong."""
    whole = WHOLE[kind][number]
    fits = checkers.checker(kind, dropped, "fits")
    # Records of 0.1 lack keys that later ones have.
    assert fits(whole) == accepts(kind, dropped, whole) and (fits(whole) or dropped != checkers.OF_ONE_VERSION)
    refused = 0
    for each in damage.damages(whole, SEED + number, COUNT):
        try:
            data = json.loads(each.data)
        except (ValueError, RecursionError):
            continue
        assert fits(data) == accepts(kind, dropped, data), each.what
        refused += not fits(data)
    assert refused > COUNT / 4


def test_each_schema_has_a_fast_check():
    for file in (ROOT / "docs").glob("*.schema.json"):
        assert callable(checkers.checker(file.name.removesuffix(".schema.json"), (), "fits"))
