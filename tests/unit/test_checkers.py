# SPDX-License-Identifier: GPL-2.0
"""What make compiled of a schema checks documents, unless the schema is another one by now."""
from __future__ import annotations

import json

import fastjsonschema
import pytest

from copyscope.records import checkers
from helpers.pictures import DATA

KIND = ("baseline", ())


@pytest.fixture(name="made")
def fixture_made(monkeypatch, tmp_path):
    """The files that make leaves, and then a module that compiles nothing more."""
    monkeypatch.setattr(checkers, "BUILD", tmp_path)
    monkeypatch.setattr(checkers, "COMPILED", (KIND,))
    (tmp_path / "checkers").mkdir()
    (tmp_path / "checkers/baseline-0").write_bytes(b"of another schema")
    assert checkers.main([]) == 0
    monkeypatch.setattr(fastjsonschema, "compile_to_code", lambda _: pytest.fail("compiled"))
    checkers.checker.cache_clear()
    yield tmp_path / "checkers"
    checkers.checker.cache_clear()


def test_what_was_compiled_is_used_and_replaces_what_was_there(made):
    file, = made.iterdir()
    assert file.name != "baseline-0"
    data = json.loads((DATA / "baseline-host.json").read_text())
    check = checkers.checker(*KIND)
    check(data)
    with pytest.raises(fastjsonschema.JsonSchemaValueException):
        check({**data, "rows": 7})


@pytest.mark.parametrize("how", ["another schema", "cut", "gone"])
def test_what_does_not_fit_is_compiled_anew(made, monkeypatch, how):
    file, = made.iterdir()
    if how == "cut":
        file.write_bytes(file.read_bytes()[:1000])
    elif how == "gone":
        file.unlink()
    else:
        schema = checkers.schema_of("baseline")
        monkeypatch.setattr(checkers, "schema_of", lambda _: schema + b"\n")
    with pytest.raises(pytest.fail.Exception, match="compiled"):
        checkers.checker(*KIND)
